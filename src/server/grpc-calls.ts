/**
 * The calls of the gRPC server: admission, hooks, deadlines, answers. It knows grpc-js by what its calls have.
 * @module
 */
import type { OutgoingHttpHeaders } from 'node:http2'
import { callRpcStream } from '../api/call-rpc.ts'
import { encodeServiceMetadata, type MetadataSource } from '../api/service-metadata.ts'
import { decodeFailureOf, withDeadline } from '../api/stages.ts'
import { InternalError, type ServingError } from '../errors.ts'
import { type Context, lifecycle } from '../http/context.ts'
import type { HeaderLine } from '../http/message.ts'
import { bufferPool } from '../memory/buffer-pool.ts'
import type { GrpcMethods } from '../oip/grpc-methods.ts'
import { type MaybePromise, whenReady } from '../promise.ts'
import type { EncodedMessage } from '../proto/encoded-message.ts'
import { decodeRequest, encodeResponse } from '../proto/envelope.ts'
import { encodeStatusDetails, grpcStatusNumbers, rpcErrorOf } from '../proto/rpc-error.ts'
import { admitCall, noMemory } from './admission.ts'
import type { ServerState } from './engine.ts'
import { drained } from './grpc-answer.ts'
import { addLines } from './grpc-metadata.ts'
import { logFailure } from './log.ts'
import { type AnyCall, OpenCall } from './open-call.ts'
import type { OutcomeRecorder } from './outcome-recorder.ts'
import type { HookedEndpoint } from './request-hooks.ts'
import { type Apis, type BytesAnswer, callBytes } from './rpc.ts'

/** Metadata that are sent. */
export interface CallMetadata {
  add(name: string, value: string): void
  set(name: string, value: string | Buffer): void
  toHttp2Headers(): OutgoingHttpHeaders
}

/** A call of one message. */
export interface UnaryCall extends AnyCall {
  readonly request: Uint8Array
}

/** A call that is answered by any number of messages. */
export interface StreamCall extends UnaryCall {
  write(bytes: Uint8Array): boolean
  end(): void
}

/** A call of any number of messages, answered by any number. */
export interface DuplexCall extends AnyCall {
  iterator(options: { readonly destroyOnReturn: boolean }): AsyncIterable<Buffer>
  write(bytes: Uint8Array): boolean
  end(): void
}

/** Answers a call of one message. */
export type Reply = (error: Status | null, answer?: EncodedMessage) => void

/** Answers the calls of one server. */
export class GrpcCalls {
  readonly #server: ServerState
  readonly #apis: Apis
  readonly #newMetadata: () => CallMetadata

  constructor(server: ServerState, { apis }: MetadataSource, newMetadata: () => CallMetadata) {
    this.#server = server
    this.#apis = apis
    this.#newMetadata = newMetadata
  }

  unary(call: UnaryCall, reply: Reply, name: string): void {
    this.reply(call, reply, name, (ctx) => callBytes(this.#apis, call.request, ctx))
  }

  metadata(call: UnaryCall, reply: Reply, name: string, message: Parameters<typeof encodeServiceMetadata>[0]): void {
    this.reply(call, reply, name, () => ({ bytes: encodeServiceMetadata(message) }))
  }

  /** Answers a call with what `run` returns. */
  reply(call: UnaryCall, reply: Reply, name: string, run: (ctx: Context) => MaybePromise<BytesAnswer>): void {
    const open = this.#open(call, name, call.request.length)
    if ('refusal' in open) {
      reply(open.refusal)
      return
    }
    const { ctx, answer: sending, recorder } = open
    const finish = (answer: BytesAnswer) => {
      // Nobody reads the answer to a cancelled call.
      if (call.cancelled) open.leave()
      else if ('error' in answer) {
        reply(this.#failure(answer.error, ctx, recorder))
        open.leave()
      } else if (!this.#server.memory.reserve(answer.bytes.length)) {
        reply(this.#failure(noMemory(), ctx, recorder))
        open.leave()
      } else {
        recorder?.answered(200)
        recorder?.sent(answer.bytes)
        this.#sendOwnMetadata(call, ctx)
        // Before the reply: grpc-js reports an answered call as cancelled at once.
        sending.whenSent(answer.bytes.length, (isWritten) => {
          this.#server.memory.release(answer.bytes.length)
          if (isWritten && answer.isPooled) bufferPool.give(answer.bytes.buffer as ArrayBuffer)
          open.leave()
        })
        reply(null, answer)
      }
    }
    const refusal = this.#refused(ctx, name)
    const answer: MaybePromise<BytesAnswer> =
      refusal === undefined ? run(ctx) : whenReady(refusal, (error) => (error === undefined ? run(ctx) : { error }))
    if (!(answer instanceof Promise)) finish(answer)
    else {
      answer.then(finish).catch((cause) => {
        reply(this.#failure(new InternalError('the server failed', { cause }), ctx, recorder))
        open.leave()
      })
    }
  }

  async stream(call: StreamCall, name: string): Promise<void> {
    // Without a listener an error of a dying connection would be thrown.
    call.on('error', () => {})
    const open = this.#open(call, name, call.request.length)
    if ('refusal' in open) {
      fail(call, open.refusal)
      return
    }
    const { ctx, answer: sending, recorder } = open
    try {
      const refusal = await this.#refused(ctx, name)
      if (refusal !== undefined) throw refusal
      const answer = await callRpcStream(this.#apis, decodeRequest(call.request), ctx)
      if ('error' in answer) throw answer.error
      recorder?.answered(200)
      this.#sendOwnMetadata(call, ctx)
      for await (const content of answer.contents) {
        if (call.cancelled) return open.leave()
        const bytes = encodeResponse(content)
        sending.count(bytes.length)
        recorder?.sent(bytes)
        if (!call.write(bytes)) await sending.caughtUp(drained(call, ctx.signal))
      }
      sending.whenSent(0, () => open.leave())
      call.end()
    } catch (error) {
      if (!call.cancelled) fail(call, this.#failure(decodeFailureOf(error), ctx, recorder))
      open.leave()
    }
  }

  /** Answers the messages of a stream in their order; each is admitted, and has its deadline, as a call of its own. */
  async duplex(call: DuplexCall, name: string, method: GrpcMethods['stream']): Promise<void> {
    call.on('error', () => {})
    try {
      const failure = await this.#answerAll(call, name, method)
      // After the iteration, which would destroy the call with its error before the status was sent.
      if (failure !== undefined) fail(call, failure)
      else if (!call.cancelled) call.end()
    } catch {
      // The connection is gone, and with it the call.
    }
  }

  async #answerAll(call: DuplexCall, name: string, method: GrpcMethods['stream']): Promise<Status | undefined> {
    // Iterating over the call itself would destroy it, its writing side too, at the end of the requests.
    for await (const message of call.iterator({ destroyOnReturn: false })) {
      const open = this.#open(call, name, message.length)
      if ('refusal' in open) return open.refusal
      const { ctx, answer: sending, recorder } = open
      try {
        const refusal = await this.#refused(ctx, name)
        if (refusal !== undefined) throw refusal
        recorder?.answered(200)
        for await (const bytes of method(message, ctx)) {
          if (call.cancelled) return undefined
          sending.count(bytes.length)
          recorder?.sent(bytes)
          if (!call.write(bytes)) await sending.caughtUp(drained(call, ctx.signal))
        }
      } catch (error) {
        return call.cancelled ? undefined : this.#failure(decodeFailureOf(error), ctx, recorder)
      } finally {
        open.leave()
      }
    }
    return undefined
  }

  /** Runs the hooks of the service, within the deadline. */
  #refused(ctx: Context, name: string): MaybePromise<ServingError | undefined> {
    const refusal = this.#server.before?.(endpointOf(name), ctx)
    return refusal instanceof Promise ? withDeadline(ctx, refusal, { fail: (error) => error }) : refusal
  }

  /** Admits a call of a message of that many bytes, or returns the answer to a refused one. */
  #open(call: AnyCall, name: string, size: number): OpenCall | { readonly refusal: Status } {
    const open = new OpenCall(this.#server, call, name, size)
    const error = admitCall(this.#server, size)
    if (error !== undefined) {
      const refusal = this.#failure(error, open.ctx, open.recorder)
      open.refused()
      return { refusal }
    }
    open.begin()
    return open
  }

  #failure(error: ServingError, ctx: Context, recorder: OutcomeRecorder | undefined): Status {
    this.#log(error, ctx)
    recorder?.failed(error)
    recorder?.answered(error.status)
    const status = rpcErrorOf(error, ctx.id)
    // HTTP/2 limits what fits into trailers; grpc-js cannot encode half a surrogate pair.
    const details = Buffer.from(status.message.slice(0, 1000)).toString()
    const metadata = this.#newMetadata()
    addLines(metadata, lifecycle.withHeaders(ctx, noLines).headers)
    metadata.set('x-request-id', ctx.id)
    metadata.set('grpc-status-details-bin', Buffer.from(encodeStatusDetails({ ...status, message: details })))
    if (error.retryAfterSeconds !== undefined) metadata.set('retry-after', String(error.retryAfterSeconds))
    if (error.challenge !== undefined) metadata.set('www-authenticate', error.challenge)
    return { code: grpcStatusNumbers[status.status], details, metadata }
  }

  /** Sends what the function set on its response, and the client's own request id, as initial metadata. */
  #sendOwnMetadata(call: AnyCall, ctx: Context): void {
    const id = lifecycle.clientId(ctx)
    const own = lifecycle.ownResponse(ctx)?.merge([]) ?? []
    const { headers } = lifecycle.withHeaders(ctx, { headers: own })
    if (headers.length === 0 && id === undefined) return
    const metadata = this.#newMetadata()
    addLines(metadata, headers)
    if (id !== undefined) metadata.set('x-request-id', id)
    call.sendMetadata(metadata as never)
  }

  #log(error: Error, ctx: Context): void {
    logFailure(this.#server.log, error, ctx.id)
  }
}

const endpoints = new Map<string, HookedEndpoint>()

/** Returns what auth and hooks need to know of a method. */
function endpointOf(name: string): HookedEndpoint {
  let endpoint = endpoints.get(name)
  if (endpoint === undefined) {
    const path = `/${name}`
    endpoint = { path, namesApi: /\/Call(Stream)?$/.test(path), isOpen: /\/Server(Live|Ready)$/.test(path) }
    endpoints.set(name, endpoint)
  }
  return endpoint
}

const noLines = Object.freeze({ headers: [] as readonly HeaderLine[] })

/** How a call failed. */
export interface Status {
  readonly code: number
  readonly details: string
  readonly metadata: CallMetadata
}

/** Ends a stream with a status. Not by `destroy`, with which grpc-js would send none. */
function fail(call: StreamCall | DuplexCall, status: Status): void {
  call.emit('error', Object.assign(new Error(status.details), status))
}
