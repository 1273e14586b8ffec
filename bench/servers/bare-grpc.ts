/**
 * The limit of gRPC: grpc-js sending the bytes of a call back as they came. BENCH_PATH is the method.
 * @module
 */
import { Server, ServerCredentials } from '@grpc/grpc-js'
import { listening } from './listening.ts'

const asIs = (bytes: Buffer) => bytes
const server = new Server({ 'grpc.max_receive_message_length': -1 })
const unary = {
  path: process.env.BENCH_PATH as string,
  requestStream: false,
  responseStream: false,
  requestSerialize: asIs,
  requestDeserialize: asIs,
  responseSerialize: asIs,
  responseDeserialize: asIs,
} as const
server.addService(
  { Call: unary },
  {
    Call: (call: { request: Buffer }, reply: (error: null, bytes: Buffer) => void) =>
      reply(null, call.request),
  },
)
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error !== null) throw error
  listening(port)
})
