/** The gRPC server on node:http2. Imported only when there is a port for it. @module */
import {
  createSecureServer,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import { grpcStatuses, SetupError } from '../core/errors.ts'
import type { Address, ServerState } from '../engine/engine.ts'
import type { GrpcTls } from '../engine/options.ts'
import { contextOf, type TlsFiles } from '../engine/tls-files.ts'
import { messageUnpacker } from './grpc-compression.ts'
import { followConnections, http2Settings } from './grpc-connections.ts'
import { grpcHealth } from './grpc-health.ts'
import { grpcLive } from './grpc-live.ts'
import { reflectionMethods } from './grpc-reflection.ts'
import { answerPlainly, type GrpcMethod, GrpcStream } from './grpc-stream.ts'
import { grpcMethod } from './open-call.ts'

/** A listening gRPC server. */
export interface GrpcEngine {
  readonly port: number
  /** Makes health checks answer NOT_SERVING. */
  drain(): void
  /** Stops listening; clients reconnect for their next calls, and open calls end normally. */
  leave(): void
  /** Stops listening and ends every running call. */
  close(): Promise<void>
}

/** @throws SetupError if the address cannot be listened on. */
export async function listenGrpc(
  state: ServerState,
  address: Address,
  introspection: boolean,
  tls?: GrpcTls,
): Promise<GrpcEngine> {
  const isTls = tls !== undefined || address.tls !== undefined
  const served = { ...state, isTls }
  const names = state.methods.map(({ path }) => path.split('/')[1])
  const health = grpcHealth(['', ...new Set(names)])
  const methods = new Map<string | undefined, GrpcMethod>([
    ...state.methods.map((method) => {
      const isLive = method.kind === 'live'
      return [method.path, isLive ? grpcLive(served, method) : grpcMethod(served, method)] as const
    }),
    ...health.methods,
    ...(introspection ? reflectionMethods(state.methods) : []),
  ])
  const http2 = await listen(() => create(state, address.tls, tls), address)
  const connections = followConnections(http2)
  const server = { state, unpack: messageUnpacker(state.limits) }
  http2.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    // Not gRPC-Web, whose clients look for the trailers in the body.
    if (!/^application\/grpc(?:$|[+;])/.test(headers['content-type'] ?? '')) {
      stream.on('error', () => {})
      stream.respond({ ':status': 415 }, { endStream: true })
      return
    }
    const path = headers[':path']
    const method = methods.get(path)
    const call = new GrpcStream(server, stream, headers, method ?? unknownMethod)
    if (method === undefined) {
      const details = `expected a method of this server, received ${path?.slice(0, 200)}`
      call.refuse({ code: grpcStatuses.UNIMPLEMENTED.number, details })
    }
  })
  return {
    port: (http2.address() as AddressInfo).port,
    drain: health.drain,
    leave: () => void connections.leave(),
    close: connections.close,
  }
}

const unknownMethod = answerPlainly(0, () => {})

/** @throws those of node:tls for invalid certificates. */
function create(
  { limits }: ServerState,
  files: TlsFiles | undefined,
  tls: GrpcTls | undefined,
): Http2Server {
  const options = {
    // For each connection: further calls wait in the client. The limiter counts over all and refuses.
    settings: {
      ...http2Settings,
      maxConcurrentStreams: Math.max(128, Math.min(limits.maxInFlight, 1024)),
    },
    // The server counts messages and answers; node:http2 would refuse calls of a connection above 10 MB.
    maxSessionMemory: Number.MAX_SAFE_INTEGER,
    maxSendHeaderBlockLength: Number.MAX_SAFE_INTEGER,
  }
  const clientCa = tls?.clientCa === undefined ? undefined : Buffer.from(tls.clientCa)
  const pem =
    tls === undefined
      ? files?.pem
      : { cert: Buffer.from(tls.cert), key: Buffer.from(tls.key), clientCa }
  if (pem === undefined) return createServer(options)
  const http2 = createSecureServer({
    ...options,
    ...contextOf(pem),
    requestCert: pem.clientCa !== undefined,
  })
  // Applies to new connections.
  if (tls === undefined) files?.onChange((next) => http2.setSecureContext(contextOf(next)))
  return http2
}

/** @throws SetupError. */
function listen(make: () => Http2Server, { host, port }: Address): Promise<Http2Server> {
  return new Promise((resolve, reject) => {
    const fail = (cause: Error) =>
      reject(
        new SetupError(
          'invalid_argument',
          `cannot listen on port ${port} for gRPC: ${cause.message}`,
          { cause },
        ),
      )
    try {
      const http2 = make()
      http2.once('error', fail)
      http2.listen({ host, port }, () => {
        // A failing accept (too many open files) must not end the process; Node tries again.
        http2.on('error', () => {})
        resolve(http2)
      })
    } catch (cause) {
      fail(cause as Error)
    }
  })
}
