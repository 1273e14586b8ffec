/**
 * The gRPC server. The only file that imports @grpc/grpc-js and its companions, and itself imported only when there is
 * a port for it: loading them takes 60 ms.
 * @module
 */
import {
  Metadata,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  type sendUnaryData,
} from '@grpc/grpc-js'
import { ReflectionService } from '@grpc/reflection'
import { HealthImplementation } from 'grpc-health-check'
import { ClientClosed, InternalError, type ServingError, SetupError } from '../errors.ts'
import { fileDescriptors } from '../gen/descriptors.ts'
import { Context, lifecycle } from '../http/context.ts'
import type { HeaderLine } from '../http/message.ts'
import { type MaybePromise, whenReady } from '../promise.ts'
import { decodeRequest, encodeResponse } from '../proto/envelope.ts'
import { encodeStatusDetails, grpcStatusNumbers, rpcErrorOf } from '../proto/rpc-error.ts'
import { callRpcStream } from '../service/call-rpc.ts'
import { encodeServiceMetadata, type MetadataSource } from '../service/service-metadata.ts'
import { decodeFailureOf, withDeadline } from '../service/stages.ts'
import { admitCall, deadlineOf, noMemory } from './admission.ts'
import type { Address, ServerState } from './engine.ts'
import { GrpcAnswer } from './grpc-answer.ts'
import { addLines, headersOf, peerOf } from './grpc-metadata.ts'
import { clientAddress } from './incoming-request.ts'
import { logFailure } from './log.ts'
import type { GrpcTls } from './options.ts'
import { OutcomeRecorder } from './outcome-recorder.ts'
import { type Apis, type BytesAnswer, callBytes, metadataFor, rpcServices } from './rpc.ts'
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

/** Serves RPC over gRPC at an address. **Errors**: SetupError when the address cannot be listened on. */
export async function listenGrpc(
  state: ServerState,
  service: MetadataSource,
  address: Address,
  introspection: boolean,
  tls?: GrpcTls,
): Promise<GrpcEngine> {
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
    'grpc-node.flow_control_window': 4 * 1024 * 1024,
  })
  const calls = new RpcCalls(state, service)
  for (const name of rpcServices) {
    server.addService(definition(name), {
      Call: (call: UnaryCall, reply: Reply) => calls.unary(call, reply, `${name}/Call`),
      CallStream: (call: StreamCall) => calls.stream(call, `${name}/CallStream`),
      // A method without an implementation answers UNIMPLEMENTED.
      ...(introspection && {
        ServiceMetadata: (call: UnaryCall, reply: Reply) =>
          calls.metadata(call, reply, `${name}/ServiceMetadata`, metadataFor(name, service)),
      }),
    })
  }
  const health = new HealthImplementation({ '': 'SERVING' })
  for (const name of rpcServices) health.setStatus(name, 'SERVING')
  health.addToServer(server)
  if (introspection) reflection().addToServer(server)
  const port = await bind(server, address, tls)
  return {
    port,
    drain() {
      for (const name of ['', ...rpcServices]) health.setStatus(name, 'NOT_SERVING')
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

const asIs = (bytes: Buffer) => bytes

/** Messages stay bytes here: grpc-js would answer INTERNAL for a malformed one, which is the client's fault. */
function definition(service: string): ServiceDefinition {
  const method = (name: string, responseStream: boolean) => ({
    path: `/${service}/${name}`,
    requestStream: false,
    responseStream,
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  })
  return {
    Call: method('Call', false),
    CallStream: method('CallStream', true),
    ServiceMetadata: method('ServiceMetadata', false),
  }
}

function reflection(): ReflectionService {
  const fileDescriptorProtos = fileDescriptors.map((text) => Buffer.from(text, 'base64'))
  // It reads only the descriptors of a package's definitions.
  return new ReflectionService({ messages: { fileDescriptorProtos } } as never)
}

type UnaryCall = ServerUnaryCall<Buffer, Uint8Array>
type StreamCall = ServerWritableStream<Buffer, Uint8Array>
type Reply = sendUnaryData<Uint8Array>

/** The calls of one server. */
class RpcCalls {
  readonly #server: ServerState
  readonly #apis: Apis

  constructor(server: ServerState, { apis }: MetadataSource) {
    this.#server = server
    this.#apis = apis
  }

  unary(call: UnaryCall, reply: Reply, name: string): void {
    this.#reply(call, reply, name, (ctx) => callBytes(this.#apis, call.request, ctx))
  }

  metadata(call: UnaryCall, reply: Reply, name: string, message: Parameters<typeof encodeServiceMetadata>[0]): void {
    this.#reply(call, reply, name, () => ({ bytes: encodeServiceMetadata(message) }))
  }

  #reply(call: UnaryCall, reply: Reply, name: string, run: (ctx: Context) => MaybePromise<BytesAnswer>): void {
    const open = this.#open(call, name)
    if ('refusal' in open) {
      reply(open.refusal)
      return
    }
    const { ctx, leave, answer: sending, recorder } = open
    const finish = (answer: BytesAnswer) => {
      // Nobody reads the answer to a cancelled call.
      if (call.cancelled) leave()
      else if ('error' in answer) {
        reply(this.#failure(answer.error, ctx, recorder))
        leave()
      } else if (!this.#server.memory.reserve(answer.bytes.length)) {
        reply(this.#failure(noMemory(), ctx, recorder))
        leave()
      } else {
        recorder?.answered(200)
        recorder?.sent(answer.bytes)
        sendOwnMetadata(call, ctx)
        // Before the reply: grpc-js reports an answered call as cancelled at once.
        sending.whenSent(answer.bytes.length, () => {
          this.#server.memory.release(answer.bytes.length)
          leave()
        })
        reply(null, answer.bytes)
      }
    }
    const refusal = this.#refused(ctx)
    const answer: MaybePromise<BytesAnswer> =
      refusal === undefined ? run(ctx) : whenReady(refusal, (error) => (error === undefined ? run(ctx) : { error }))
    if (!(answer instanceof Promise)) finish(answer)
    else {
      answer.then(finish).catch((cause) => {
        reply(this.#failure(new InternalError('the server failed', { cause }), ctx, recorder))
        leave()
      })
    }
  }

  async stream(call: StreamCall, name: string): Promise<void> {
    // Without a listener an error of a dying connection would be thrown.
    call.on('error', () => {})
    const open = this.#open(call, name)
    if ('refusal' in open) {
      fail(call, open.refusal)
      return
    }
    const { ctx, leave, answer: sending, recorder } = open
    try {
      const refusal = await this.#refused(ctx)
      if (refusal !== undefined) throw refusal
      const answer = await callRpcStream(this.#apis, decodeRequest(call.request), ctx)
      if ('error' in answer) throw answer.error
      recorder?.answered(200)
      sendOwnMetadata(call, ctx)
      for await (const content of answer.contents) {
        if (call.cancelled) return leave()
        const bytes = encodeResponse(content)
        sending.count(bytes.length)
        recorder?.sent(bytes)
        if (!call.write(bytes)) await sending.caughtUp(drained(call, ctx.signal))
      }
      sending.whenSent(0, leave)
      call.end()
    } catch (error) {
      if (!call.cancelled) fail(call, this.#failure(decodeFailureOf(error), ctx, recorder))
      leave()
    }
  }

  /** Runs the hooks of the service, within the deadline. */
  #refused(ctx: Context): MaybePromise<ServingError | undefined> {
    const refusal = this.#server.before?.(rpcEndpoint, ctx)
    return refusal instanceof Promise ? withDeadline(ctx, refusal, { fail: (error) => error }) : refusal
  }

  /** Admits a call, or returns the answer to a refused one. */
  #open(call: UnaryCall | StreamCall, name: string): OpenCall | { readonly refusal: Status } {
    const server = this.#server
    const headers = headersOf(call.metadata)
    const peer = () => peerOf(call)
    const ctx = new Context({
      headers,
      deadlineMs: deadlineOfCall(server, call),
      method: 'POST',
      path: `/${name}`,
      get remoteAddress() {
        return clientAddress(server, headers, peer)
      },
    })
    const { observer } = server
    const recorder = observer === undefined ? undefined : new OutcomeRecorder(observer, ctx, name, 'grpc')
    recorder?.bodyComplete()
    const error = admitCall(server, call.request.length)
    if (error !== undefined) {
      const refusal = this.#failure(error, ctx, recorder)
      recorder?.end(call.request.length)
      return { refusal }
    }
    let isOver = false
    const leave = () => {
      if (isOver) return
      isOver = true
      lifecycle.end(ctx, (cause) => this.#log(new InternalError('the clean-up of a request failed', { cause }), ctx))
      server.memory.release(call.request.length)
      server.limiter.release()
      server.limiter.leave()
      recorder?.end(call.request.length)
    }
    const answer = new GrpcAnswer(call, server.limits.sendTimeoutMs, () => {
      this.#log(new ClientClosed('expected the client to read the answer in time, it did not'), ctx)
    })
    // Also emitted when the client's deadline has passed, and after every answer.
    call.once('cancelled', () => {
      if (answer.isSending) return
      if (!isOver) {
        recorder?.left()
        lifecycle.abort(ctx, new ClientClosed())
      }
      leave()
    })
    return { ctx, leave, answer, recorder }
  }

  #failure(error: ServingError, ctx: Context, recorder: OutcomeRecorder | undefined): Status {
    this.#log(error, ctx)
    recorder?.failed(error)
    recorder?.answered(error.status)
    const status = rpcErrorOf(error, ctx.id)
    // HTTP/2 limits what fits into trailers; grpc-js cannot encode half a surrogate pair.
    const details = Buffer.from(status.message.slice(0, 1000)).toString()
    const metadata = new Metadata()
    addLines(metadata, lifecycle.withHeaders(ctx, noLines).headers)
    metadata.set('x-request-id', ctx.id)
    metadata.set('grpc-status-details-bin', Buffer.from(encodeStatusDetails({ ...status, message: details })))
    if (error.retryAfterSeconds !== undefined) metadata.set('retry-after', String(error.retryAfterSeconds))
    if (error.challenge !== undefined) metadata.set('www-authenticate', error.challenge)
    return { code: grpcStatusNumbers[status.status], details, metadata }
  }

  #log(error: Error, ctx: Context): void {
    logFailure(this.#server.log, error, ctx.id)
  }
}

/** A call that was admitted. */
interface OpenCall {
  readonly ctx: Context
  readonly leave: () => void
  readonly answer: GrpcAnswer
  readonly recorder: OutcomeRecorder | undefined
}

const rpcEndpoint = Object.freeze({})
const noLines = Object.freeze({ headers: [] as readonly HeaderLine[] })

interface Status {
  readonly code: number
  readonly details: string
  readonly metadata: Metadata
}

/** Ends a stream with a status. Not by `destroy`, with which grpc-js would send none. */
function fail(call: StreamCall, status: Status): void {
  call.emit('error', Object.assign(new Error(status.details), status))
}

function deadlineOfCall(server: ServerState, call: UnaryCall | StreamCall): number | undefined {
  const own = Number(call.getDeadline())
  const ours = deadlineOf(server)
  if (!Number.isFinite(own)) return ours
  return ours === undefined ? own : Math.min(own, ours)
}

/** Sends what the function set on its response, and the client's own request id, as initial metadata. */
function sendOwnMetadata(call: UnaryCall | StreamCall, ctx: Context): void {
  const id = lifecycle.clientId(ctx)
  const own = ctx.response.touched ? { headers: ctx.response.merge([]) } : noLines
  const { headers } = lifecycle.withHeaders(ctx, own)
  if (headers.length === 0 && id === undefined) return
  const metadata = new Metadata()
  addLines(metadata, headers)
  if (id !== undefined) metadata.set('x-request-id', id)
  call.sendMetadata(metadata)
}

function drained(call: StreamCall, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      call.off('drain', done)
      signal.removeEventListener('abort', done)
      resolve()
    }
    call.once('drain', done)
    signal.addEventListener('abort', done, { once: true })
  })
}
