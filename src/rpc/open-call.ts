/** A gRPC call while it is open: its context, what it holds, and its end. @module */
import { withDeadline } from '../api/stages.ts'
import { ClientClosed, grpcStatuses, InternalError, type ServingError } from '../core/errors.ts'
import { isPromise, type MaybePromise } from '../core/promise.ts'
import { admitCall, refusalNow, timeoutWithin } from '../engine/admission.ts'
import type { ServerState } from '../engine/engine.ts'
import { clientAddress, clientScheme } from '../engine/incoming-request.ts'
import { logFailure } from '../engine/log.ts'
import type { HookedEndpoint } from '../engine/service-hooks.ts'
import { TransferClock } from '../engine/transfer-clock.ts'
import { Context, type ContextInit, type Scheme } from '../http/context.ts'
import type { HeaderLine, RequestHeaders } from '../http/message.ts'
import { OutcomeRecorder } from '../http/outcome.ts'
import { encodeStatusDetails, rpcErrorOf } from '../messages/rpc-error.ts'
import { metadataOf } from './grpc-metadata.ts'
import { type Answerer, drained, type GrpcStream, type Status } from './grpc-stream.ts'

/** Writes to `open.call`, and leaves. */
export type RunCall = (open: OpenCall, message: Uint8Array) => MaybePromise<void>

/** RFC 9113 section 7: CANCEL. */
const cancelCode = 8

/** One call, or one message of a stream, from its first bytes to the end of its answer. */
export class OpenCall implements Answerer, ContextInit {
  readonly call: GrpcStream
  readonly method = 'POST'
  readonly path: string
  readonly headers: RequestHeaders
  readonly timeoutMs: number | undefined
  readonly ctx: Context
  readonly recorder: OutcomeRecorder | undefined
  readonly refusal: MaybePromise<Status | undefined>
  readonly #server: ServerState
  readonly #run: RunCall
  // Ends an answer whose client does not read: it would hold its slot and memory.
  readonly #clock: TransferClock | undefined
  #handed = 0
  #isSending = false
  /** Of the memory budget. **Units**: bytes. */
  #reserved = 0
  /** **Units**: bytes. */
  bytesIn = 0
  #isAdmitted = false
  #isOver = false

  /** `refuse`: tells early why the call would be refused. */
  constructor(server: ServerState, call: GrpcStream, endpoint: HookedEndpoint, run: RunCall, refuse = refusalNow) {
    this.#server = server
    this.call = call
    this.#run = run
    this.path = endpoint.path
    this.headers = call.headers
    this.timeoutMs = timeoutWithin(server, call.deadline)
    this.ctx = new Context(this)
    const { observer, limits } = server
    if (limits.sendTimeoutMs > 0) {
      const taken = () => Math.max(0, this.#handed - call.stream.writableLength)
      this.#clock = new TransferClock(limits.sendTimeoutMs, taken, () => this.#late())
    }
    const recorded = { name: endpoint.path.slice(1), protocol: 'grpc' } as const
    this.recorder = observer && new OutcomeRecorder(observer, this.ctx, recorded)
    const refused = (error: ServingError | undefined) => (error === undefined ? undefined : this.fail(error))
    const refusal = refuse(server) ?? server.before?.(endpoint, this.ctx)
    this.refusal = isPromise(refusal)
      ? withDeadline(this.ctx, refusal, { fail: (error) => error }).then(refused)
      : refused(refusal)
  }

  get reservation(): this {
    return this
  }

  reserve(bytes: number): boolean {
    if (!this.#server.memory.reserve(bytes)) return false
    this.#reserved += bytes
    return true
  }

  get remoteAddress(): string | undefined {
    return clientAddress(this.#server, this.headers, () => this.call.remoteAddress)
  }

  get scheme(): Scheme {
    return clientScheme(this.#server, this.headers)
  }

  /** Admits the message, or refuses it; it must leave when it was answered. */
  run(message: Uint8Array): MaybePromise<void> {
    this.bytesIn = message.length
    this.recorder?.bodyComplete()
    const error = admitCall(this.#server, message.length)
    if (error !== undefined) {
      this.call.refuse(this.fail(error))
      return undefined
    }
    this.#isAdmitted = true
    this.#reserved += message.length
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
    return { code: grpcStatuses[status.status].number, details, metadata }
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

  /** Sends a message; resolves when the client should get the next. */
  async send(bytes: Uint8Array): Promise<void> {
    this.#handed += bytes.length
    this.recorder?.sent(bytes)
    if (this.call.write({ bytes })) return
    this.#clock?.start()
    await drained(this.call.stream, this.ctx.signal)
    this.#clock?.pause()
  }

  /** Calls `done` once. `isWritten`: the kernel has all bytes; else they may still be read. */
  whenSent(bytes: number, done: (isWritten: boolean) => void): void {
    const { stream } = this.call
    if (stream.closed || stream.destroyed) {
      done(false)
      return
    }
    this.#isSending = true
    this.#handed += bytes
    this.#clock?.start()
    stream.once('close', () => {
      this.#clock?.pause()
      // A stream that was reset may leave frames in its session.
      done(stream.writableFinished)
    })
  }

  #late(): void {
    this.#log(new ClientClosed('expected the client to read the answer in time, it did not'))
    this.call.stream.close(cancelCode)
    this.call.stream.destroy()
  }

  /** Returns what the call holds. Only the first call counts. */
  leave(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.ctx.end((cause) => this.#log(new InternalError('the clean-up of a request failed', { cause })))
    this.#server.memory.release(this.#reserved)
    if (this.#isAdmitted) {
      this.#server.limiter.release()
      this.#server.limiter.leave()
    }
    this.recorder?.end(this.bytesIn)
  }

  cancel(): void {
    if (this.#isSending || this.#isOver) return
    this.recorder?.left()
    this.ctx.abort(new ClientClosed())
    this.leave()
  }

  #log(error: Error): void {
    logFailure(this.#server.log, error, this.ctx.id)
  }
}

const noLines = Object.freeze({ headers: [] as readonly HeaderLine[] })
