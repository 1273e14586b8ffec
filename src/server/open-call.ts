/**
 * A gRPC call while it is open: the values of its context, what it holds, and its end.
 * @module
 */
import type { EventEmitter } from 'node:events'
import { ClientClosed, InternalError } from '../errors.ts'
import { Context, type ContextInit, lifecycle, type Scheme } from '../http/context.ts'
import type { RequestHeaders } from '../http/message.ts'
import { timeoutWithin } from './admission.ts'
import type { ServerState } from './engine.ts'
import { GrpcAnswer } from './grpc-answer.ts'
import { MetadataHeaders, peerOf, type TextMetadata } from './grpc-metadata.ts'
import { clientAddress, clientScheme } from './incoming-request.ts'
import { logFailure } from './log.ts'
import { OutcomeRecorder } from './outcome-recorder.ts'

/** What calls of every kind have. */
export interface AnyCall extends EventEmitter {
  readonly metadata: TextMetadata
  readonly cancelled: boolean
  getDeadline(): Date | number
  getPeer(): string
  sendMetadata(metadata: never): void
}

/** What a context reads of its call. A class, since an object literal with getters has a hidden class of its own. */
class CallPeer implements ContextInit {
  readonly headers: RequestHeaders
  readonly timeoutMs: number | undefined
  readonly method = 'POST'
  readonly path: string
  /** Of the memory budget. **Units**: bytes. */
  reserved: number
  readonly #server: ServerState
  readonly #call: AnyCall

  constructor(server: ServerState, call: AnyCall, name: string, size: number) {
    this.headers = new MetadataHeaders(call.metadata)
    this.timeoutMs = timeoutWithin(server, call.getDeadline())
    this.path = `/${name}`
    this.reserved = size
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
    return clientAddress(this.#server, this.headers, () => peerOf(this.#call))
  }

  get scheme(): Scheme {
    return clientScheme(this.#server, this.headers)
  }
}

/** One call, or one message of a stream, from its admission to the end of its answer. */
export class OpenCall {
  readonly ctx: Context
  readonly recorder: OutcomeRecorder | undefined
  /** Set by `begin`. */
  answer!: GrpcAnswer
  readonly #server: ServerState
  readonly #call: AnyCall
  readonly #peer: CallPeer
  readonly #size: number
  #isOver = false

  /** Of a message of `size` bytes. */
  constructor(server: ServerState, call: AnyCall, name: string, size: number) {
    this.#server = server
    this.#call = call
    this.#size = size
    this.#peer = new CallPeer(server, call, name, size)
    this.ctx = new Context(this.#peer)
    const { observer } = server
    this.recorder = observer && new OutcomeRecorder(observer, this.ctx, { name, protocol: 'grpc' })
    this.recorder?.bodyComplete()
  }

  /** Called when the call was admitted. It must leave then. */
  begin(): void {
    this.answer = new GrpcAnswer(this.#call, this.#server.limits.sendTimeoutMs, () => {
      this.#log(new ClientClosed('expected the client to read the answer in time, it did not'))
    })
    this.#call.on('cancelled', this.#cancelled)
  }

  /** Reports the outcome of a call that was refused. */
  refused(): void {
    this.recorder?.end(this.#size)
  }

  /** Ends the call and returns what it holds. Only the first call counts. */
  leave(): void {
    if (this.#isOver) return
    this.#isOver = true
    lifecycle.end(this.ctx, (cause) => this.#log(new InternalError('the clean-up of a request failed', { cause })))
    this.#call.off('cancelled', this.#cancelled)
    this.#server.memory.release(this.#peer.reserved)
    this.#server.limiter.release()
    this.#server.limiter.leave()
    this.recorder?.end(this.#size)
  }

  /** Called also when the client's deadline has passed, and after every answer. */
  readonly #cancelled = (): void => {
    if (this.answer.isSending || this.#isOver) return
    this.recorder?.left()
    lifecycle.abort(this.ctx, new ClientClosed())
    this.leave()
  }

  #log(error: Error): void {
    logFailure(this.#server.log, error, this.ctx.id)
  }
}
