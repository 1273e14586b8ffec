/**
 * The descriptors without the server: values of requests and answers in any framework, by `fetchHandler` and
 * `nodeHandler`.
 * @module serving/io
 */
export { type FetchHandlerOptions, fetchHandler } from './fetch-handler.ts'
export type { HandlerFunction, HandlerOptions } from './handler.ts'
export { type NodeHandlerOptions, nodeHandler } from './node-handler.ts'
export { Room, type RoomOptions } from './room.ts'
export * from './values.ts'
