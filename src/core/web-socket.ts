/** WebSockets of servers and clients: only here is ws imported. @module */
export { WebSocket, WebSocketServer } from 'ws'
