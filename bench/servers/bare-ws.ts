/**
 * WebSockets by ws on node:http; each message is answered by BENCH_LIVE equal ones.
 * @module
 */
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import { listening } from './listening.ts'

const answers = Number(process.env.BENCH_LIVE)
const server = new WebSocketServer({ port: 0, host: '127.0.0.1' }, () => {
  listening((server.address() as AddressInfo).port)
})
server.on('connection', (socket) => {
  socket.on('message', (message, binary) => {
    for (let i = 0; i < answers; i++) socket.send(message, { binary })
  })
})
