/** A gRPC call while it is open: its context, what it holds, and its end. @module */
import { withDeadline } from '../api/stages.ts'
import { ClientClosed, InternalError, type ServingError } from '../core/errors.ts'
import { isPromise, type MaybePromise } from '../core/promise.ts'
import { admitCall, refusalNow, timeoutWithin } from '../engine/admission.ts'
import type { ServerState } from '../engine/engine.ts'
import { clientAddress, clientScheme } from '../engine/incoming-request.ts'
import { logFailure } from '../engine/log.ts'
import { OutcomeRecorder } from '../engine/outcome-recorder.ts'
import type { HookedEndpoint } from '../engine/request-hooks.ts'
import { Context, type ContextInit, type Scheme } from '../http/context.ts'
import type { HeaderLine, RequestHeaders } from '../http/message.ts'
import { encodeStatusDetails, grpcStatusNumbers, rpcErrorOf } from '../messages/rpc-error.ts'
import { GrpcAnswer } from './grpc-answer.ts'
import { metadataOf } from './grpc-metadata.ts'
import type { Answerer, GrpcStream, Status } from './grpc-stream.ts'

/** What a context reads of its call: a class, for one hidden class. */
class CallPeer implements ContextInit {
  readonly headers: RequestHeaders
  readonly timeoutMs: number | undefined
  readonly method = 'POST'
  readonly path: string
  /** Of the memory budget. **Units**: bytes. */
  reserved = 0
  readonly #server: ServerState
  readonly #call: GrpcStream

  constructor(server: ServerState, call: GrpcStream, path: string) {
    this.headers = call.headers
    this.timeoutMs = timeoutWithin(server, call.deadline)
    this.path = path
    this.#server = server
    this.#call = call
  }

  get reservation(): this {
    return this
  }

  reserve(bytes: number): boolean {
    if (!this.#server.memory.reserve(bytes)) return false
    this.reserved += bytes
    return true
  }

  get remoteAddress(): string | undefined {
    return clientAddress(this.#server, this.headers, () => this.#call.remoteAddress)
  }

  get scheme(): Scheme {
    return clientScheme(this.#server, this.headers)
  }
}

/** Writes to `open.call`, and leaves. */
export type RunCall = (open: OpenCall, message: Uint8Array) => MaybePromise<void>

/** One call, or one message of a stream, from its first bytes to the end of its answer. */
export class OpenCall implements Answerer {
  readonly call: GrpcStream
  readonly ctx: Context
  readonly recorder: OutcomeRecorder | undefined
  readonly answer: GrpcAnswer
  readonly refusal: MaybePromise<Status | undefined>
  readonly #server: ServerState
  readonly #peer: CallPeer
  readonly #run: RunCall
  #size = 0
  #isAdmitted = false
  #isOver = false

  constructor(server: ServerState, call: GrpcStream, endpoint: HookedEndpoint, run: RunCall) {
    this.#server = server
    this.call = call
    this.#run = run
    this.#peer = new CallPeer(server, call, endpoint.path)
    this.ctx = new Context(this.#peer)
    this.answer = new GrpcAnswer(call.stream, server.limits.sendTimeoutMs, () => {
      this.#log(new ClientClosed('expected the client to read the answer in time, it did not'))
    })
    const { observer } = server
    const recorded = { name: endpoint.path.slice(1), protocol: 'grpc' } as const
    this.recorder = observer && new OutcomeRecorder(observer, this.ctx, recorded)
    const refused = (error: ServingError | undefined) => (error === undefined ? undefined : this.fail(error))
    const refusal = refusalNow(server) ?? server.before?.(endpoint, this.ctx)
    this.refusal = isPromise(refusal)
      ? withDeadline(this.ctx, refusal, { fail: (error) => error }).then(refused)
      : refused(refusal)
  }

  /** Admits the message, or refuses it; it must leave when it was answered. */
  run(message: Uint8Array): MaybePromise<void> {
    this.#size = message.length
    this.recorder?.bodyComplete()
    const error = admitCall(this.#server, message.length)
    if (error !== undefined) {
      this.call.refuse(this.fail(error))
      return undefined
    }
    this.#isAdmitted = true
    this.#peer.reserved += message.length
    return this.#run(this, message)
  }

  fail(error: ServingError): Status {
    this.#log(error)
    this.recorder?.failed(error)
    this.recorder?.answered(error.status)
    const { ctx } = this
    const status = rpcErrorOf(error, ctx.id)
    // HTTP/2 limits what fits into trailers.
    const details = status.message.slice(0, 1000).toWellFormed()
    const bin = Buffer.from(encodeStatusDetails({ ...status, message: details }))
    const metadata = metadataOf(ctx.withHeaders(noLines).headers)
    metadata['x-request-id'] = ctx.id
    metadata['grpc-status-details-bin'] = bin.toString('base64')
    if (error.retryAfterSeconds !== undefined) metadata['retry-after'] = String(error.retryAfterSeconds)
    if (error.challenge !== undefined) metadata['www-authenticate'] = error.challenge
    this.leave()
    return { code: grpcStatusNumbers[status.status], details, metadata }
  }

  /** Sends the response headers of the function and the client's request id as metadata. */
  setOwnMetadata(): void {
    const { ctx } = this
    const id = ctx.clientId
    const own = ctx.ownResponse?.merge([]) ?? []
    const { headers } = ctx.withHeaders({ headers: own })
    if (headers.length === 0 && id === undefined) return
    const metadata = metadataOf(headers)
    if (id !== undefined) metadata['x-request-id'] = id
    this.call.setMetadata(metadata)
  }

  /** Returns what the call holds. Only the first call counts. */
  leave(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.ctx.end((cause) => this.#log(new InternalError('the clean-up of a request failed', { cause })))
    this.#server.memory.release(this.#peer.reserved)
    if (this.#isAdmitted) {
      this.#server.limiter.release()
      this.#server.limiter.leave()
    }
    this.recorder?.end(this.#size)
  }

  cancel(): void {
    if (this.answer.isSending || this.#isOver) return
    this.recorder?.left()
    this.ctx.abort(new ClientClosed())
    this.leave()
  }

  #log(error: Error): void {
    logFailure(this.#server.log, error, this.ctx.id)
  }
}

const noLines = Object.freeze({ headers: [] as readonly HeaderLine[] })
