/**
 * A contender of bench/rpc.ts, by name in the first argument: `serving`, `bare-uws` or `bare-grpc`.
 * @module
 */
import { Server, ServerCredentials } from '@grpc/grpc-js'
import { io, Service, serve } from 'serving'

const asIs = (bytes: Buffer) => bytes

async function startServing(): Promise<{ port: number; grpcPort: number }> {
  const svc = new Service('bench')
  svc.api({ input: new io.NumpyNdarray({ dtype: 'float32' }), output: new io.NumpyNdarray() }, function ndarray(x) {
    return x
  })
  const options = { port: 0, grpcPort: 0, host: '127.0.0.1', engine: 'uws' as const }
  const { port, grpcPort } = await serve(svc, options)
  return { port, grpcPort: grpcPort as number }
}

async function startBareGrpc(): Promise<{ port: number; grpcPort: number }> {
  const server = new Server({ 'grpc.max_receive_message_length': -1 })
  const path = '/serving.v1.ServingService/Call'
  const serializers = {
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  }
  server.addService(
    { Call: { path, requestStream: false, responseStream: false, ...serializers } },
    { Call: (call: { request: Buffer }, reply: (error: null, bytes: Buffer) => void) => reply(null, call.request) },
  )
  const grpcPort = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
      error === null ? resolve(port) : reject(error),
    )
  })
  return { port: 0, grpcPort }
}

process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.({ cpuMicros: user + system })
})
process.on('disconnect', () => process.exit(0))
process.send?.(process.argv[2] === 'serving' ? await startServing() : await startBareGrpc())
