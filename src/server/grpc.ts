/**
 * The gRPC server. The only file that imports @grpc/grpc-js and its companions, and itself imported only when there is
 * a port for it: loading them takes 60 ms.
 * @module
 */
import type { Http2Server, ServerHttp2Stream } from 'node:http2'
import {
  type handleUnaryCall,
  Metadata,
  type MethodDefinition,
  Server,
  ServerCredentials,
  type ServerInterceptor,
  type ServiceDefinition,
  type ServiceError,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'
import { ReflectionService } from '@grpc/reflection'
import { HealthImplementation } from 'grpc-health-check'
import type { MetadataSource } from '../api/service-metadata.ts'
import { SetupError } from '../errors.ts'
import { fileDescriptors } from '../gen/descriptors.ts'
import { type GrpcMethods, grpcMethods, grpcServiceName } from '../oip/grpc-methods.ts'
import type { Address, ServerState } from './engine.ts'
import { type DuplexCall, GrpcCalls, type StreamCall, type UnaryCall } from './grpc-calls.ts'
import { boundedDecompression, messageUnpacker } from './grpc-compression.ts'
import { takeUnaryCalls, type UnaryHandler } from './grpc-unary.ts'
import type { GrpcTls } from './options.ts'
import { metadataFor, rpcServices } from './rpc.ts'
import { contextOf, type TlsFiles } from './tls-files.ts'

/** A listening gRPC server. */
export interface GrpcEngine {
  readonly port: number
  /** Makes health checks answer NOT_SERVING from now on. */
  drain(): void
  /** Stops listening and asks clients to connect anew for their next calls; open calls go on. */
  leave(): void
  /** Stops listening and ends every call that still runs. */
  close(): Promise<void>
}

// A client that pings more often, or not at all, is closed by HTTP/2 itself; these hold the connections that proxies
// would forget. **Units**: milliseconds.
const keepaliveTimeMs = 60_000
const keepaliveTimeoutMs = 20_000
// A connection without calls, or one that never sends anything, is closed after this. **Units**: milliseconds.
const idleMs = 300_000
// For the tail of answers and the pings of clients that hold an idle connection.
const closeMs = 500
// What a client may send ahead, per connection and call. By default 64 KiB: a message of 600 KB would wait ten
// times for this process. **Units**: bytes.
const windowBytes = 4 * 1024 * 1024
// Of a frame; by default 16 KiB. Clients on gRPC core send 600 KB in one frame then, and not in 38, each of which is an
// event of its own here. node:http2 passes the bytes on as they come, and holds no frame. **Units**: bytes.
const frameBytes = 1024 * 1024

/** Serves RPC over gRPC at an address. **Errors**: SetupError when the address cannot be listened on. */
export async function listenGrpc(
  state: ServerState,
  service: MetadataSource,
  address: Address,
  introspection: boolean,
  tls?: GrpcTls,
): Promise<GrpcEngine> {
  const unpack = messageUnpacker(state.limits)
  const server = new Server({
    'grpc.max_receive_message_length': state.limits.maxBodyBytes,
    // Responses are bounded by the functions alone, as over HTTP.
    'grpc.max_send_message_length': -1,
    // For each connection: further calls wait in the client. The limiter counts over all connections and refuses.
    'grpc.max_concurrent_streams': Math.max(128, Math.min(state.limits.maxInFlight, 1024)),
    'grpc.keepalive_time_ms': keepaliveTimeMs,
    'grpc.keepalive_timeout_ms': keepaliveTimeoutMs,
    'grpc.keepalive_permit_without_calls': 1,
    'grpc.max_connection_idle_ms': idleMs,
    // Counts calls for a service that is not added here.
    'grpc.enable_channelz': 0,
    interceptors: [boundedDecompression(unpack) as unknown as ServerInterceptor],
  })
  const isTls = tls !== undefined || address.tls !== undefined
  const calls = new GrpcCalls({ ...state, isTls }, service, () => new Metadata())
  const handlers = new Map<string, UnaryHandler>()
  for (const name of rpcServices) addRpc(server, calls, handlers, name, introspection ? service : undefined)
  addOip(server, calls, handlers, grpcMethods(state.oip))
  const health = new HealthImplementation({ '': 'SERVING' })
  for (const name of servedNames) health.setStatus(name, 'SERVING')
  health.addToServer(server)
  if (introspection) reflection().addToServer(server)
  const port = await bind(server, address, tls)
  for (const http2 of http2ServersOf(server)) {
    widen(http2)
    takeUnaryCalls(http2, { handlers, state, unpack, onOpened: openedOf(server) })
  }
  return {
    port,
    drain() {
      for (const name of ['', ...servedNames]) health.setStatus(name, 'NOT_SERVING')
    },
    leave: () => server.tryShutdown(() => {}),
    close: () => stop(server),
  }
}

function bind(server: Server, { host, port, tls: files }: Address, tls: GrpcTls | undefined): Promise<number> {
  const credentials =
    tls !== undefined
      ? ServerCredentials.createSsl(
          tls.clientCa === undefined ? null : Buffer.from(tls.clientCa),
          [{ private_key: Buffer.from(tls.key), cert_chain: Buffer.from(tls.cert) }],
          tls.clientCa !== undefined,
        )
      : files === undefined
        ? ServerCredentials.createInsecure()
        : new FileCredentials(files)
  const name = host === undefined ? '[::]' : host.includes(':') ? `[${host}]` : host
  return new Promise((resolve, reject) => {
    server.bindAsync(`${name}:${port}`, credentials, (cause, bound) => {
      if (cause === null) resolve(bound)
      else
        reject(
          new SetupError('invalid_argument', `cannot listen on port ${port} for gRPC: ${cause.message}`, { cause }),
        )
    })
  })
}

/** What is used of the private members of grpc-js's server (1.14); without them calls are slower. */
interface ServerInternals {
  readonly http2Servers?: ReadonlyMap<Http2Server, unknown>
  onStreamOpened?(stream: ServerHttp2Stream): void
}

function http2ServersOf(server: Server): Iterable<Http2Server> {
  return (server as unknown as ServerInternals).http2Servers?.keys() ?? []
}

/** Returns what counts the open streams of a connection, which is closed when it has none for long. */
function openedOf(server: Server): (stream: ServerHttp2Stream) => void {
  const internals = server as unknown as ServerInternals
  return (stream) => internals.onStreamOpened?.(stream)
}

/** Lets clients send more at once: of grpc-js's options, that for windows is read by its clients alone. */
function widen(http2: Http2Server): void {
  http2.on('session', (session) => {
    session.settings({ initialWindowSize: windowBytes, maxFrameSize: frameBytes })
    session.setLocalWindowSize(windowBytes)
  })
}

/** Credentials of files; new content of the files applies to new connections. */
class FileCredentials extends ServerCredentials {
  constructor(files: TlsFiles) {
    super({ requestCert: files.pem.clientCa !== undefined }, contextOf(files.pem))
    files.onChange((pem) => this.updateSecureContextOptions(contextOf(pem)))
  }

  _equals(other: ServerCredentials): boolean {
    return this === other
  }
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    // Waits for clients to close their connections, which idle ones do not do by themselves.
    const force = setTimeout(() => server.forceShutdown(), closeMs)
    server.tryShutdown(() => {
      clearTimeout(force)
      resolve()
    })
  })
}

/** Returns a handler for calls of grpc-js. `Status` has the part of its metadata that is needed. */
function unaryHandler(answer: UnaryHandler): handleUnaryCall<Buffer, Uint8Array> {
  return (call, callback) =>
    answer(call as unknown as UnaryCall, (error, message) => callback(error as ServiceError | null, message?.bytes))
}

/** Adds one name of the RPC service. `described`: what its ServiceMetadata tell; undefined for none. */
function addRpc(
  server: Server,
  calls: GrpcCalls,
  unary: Map<string, UnaryHandler>,
  name: (typeof rpcServices)[number],
  described: MetadataSource | undefined,
): void {
  const call: UnaryHandler = (call, reply) => calls.unary(call, reply, `${name}/Call`)
  const handlers: UntypedServiceImplementation = {
    Call: unaryHandler(call),
    CallStream: (call: StreamCall) => calls.stream(call, `${name}/CallStream`),
  }
  unary.set(`/${name}/Call`, call)
  // A method without an implementation answers UNIMPLEMENTED.
  if (described !== undefined) {
    const path = `${name}/ServiceMetadata`
    const tell: UnaryHandler = (call, reply) => calls.metadata(call, reply, path, metadataFor(name, described))
    handlers.ServiceMetadata = unaryHandler(tell)
    unary.set(`/${path}`, tell)
  }
  server.addService(definition(name), handlers)
}

const servedNames = [...rpcServices, grpcServiceName]

/** Adds the Open Inference Protocol. */
function addOip(
  server: Server,
  calls: GrpcCalls,
  handlersByPath: Map<string, UnaryHandler>,
  { unary, stream }: GrpcMethods,
): void {
  const methods: Record<string, MethodDefinition<Buffer, Uint8Array>> = {
    ModelStreamInfer: methodOf(grpcServiceName, 'ModelStreamInfer', true, true),
  }
  const handlers: UntypedServiceImplementation = {
    ModelStreamInfer: (call: DuplexCall) => calls.duplex(call, `${grpcServiceName}/ModelStreamInfer`, stream),
  }
  for (const [name, answer] of Object.entries(unary)) {
    const path = `${grpcServiceName}/${name}`
    methods[name] = methodOf(grpcServiceName, name, false)
    const handler: UnaryHandler = (call, reply) => calls.reply(call, reply, path, (ctx) => answer(call.request, ctx))
    handlers[name] = unaryHandler(handler)
    handlersByPath.set(`/${path}`, handler)
  }
  server.addService(methods as ServiceDefinition, handlers)
}

const asIs = (bytes: Buffer) => bytes

/** Messages stay bytes here: grpc-js would answer INTERNAL for a malformed one, which is the client's fault. */
function definition(service: string): ServiceDefinition {
  return {
    Call: methodOf(service, 'Call', false),
    CallStream: methodOf(service, 'CallStream', true),
    ServiceMetadata: methodOf(service, 'ServiceMetadata', false),
  }
}

function methodOf(service: string, name: string, responseStream: boolean, requestStream = false) {
  return {
    path: `/${service}/${name}`,
    requestStream,
    responseStream,
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs as (bytes: Uint8Array) => Buffer,
    responseDeserialize: asIs,
  }
}

function reflection(): ReflectionService {
  const fileDescriptorProtos = fileDescriptors.map(({ base64 }) => Buffer.from(base64, 'base64'))
  // It reads only the descriptors of a package's definitions.
  return new ReflectionService({ messages: { fileDescriptorProtos } } as never)
}
