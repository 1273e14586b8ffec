/** The body of one request, as it comes in. @module */

import type { Endpoint } from '../api/endpoint.ts'
import { decodeFailureOf } from '../api/stages.ts'
import { ClientClosed } from '../core/errors.ts'
import { bufferPool } from '../core/memory/buffer-pool.ts'
import { countedBytes } from '../core/memory/memory-budget.ts'
import type { MaybePromise } from '../core/promise.ts'
import { BodyBuffer } from '../http/body-buffer.ts'
import { noMemory, tooLarge, tooMany } from '../http/limits.ts'
import { HttpRequest, type HttpResponse } from '../http/message.ts'
import { BodyRest, TransferClock, withinText } from '../http/transfer-clock.ts'
import type { ExchangeSocket, ServerState } from './engine.ts'
import { type FeedHost, HeldPieces, type PausedBody, ReceiverFeed } from './receiver-feed.ts'
import type { ServedVisit } from './served-visit.ts'
import { codingOf } from './whole-answer.ts'

/**
 * What happens to the pieces of a body.
 *
 * - `waiting`: no piece has come. Most bodies come at once, and need no other state.
 * - `held`: the hooks have not ended.
 * - `joining`: they are joined until all have come.
 * - `passing`: the endpoint's receiver gets them.
 * - `dropping`: the answer was complete before the body.
 * - `closed`: the body is complete, or refused, or the exchange is over. More is ignored.
 */
type InboundState =
  | { readonly at: 'waiting' }
  | { readonly at: 'held'; readonly held: HeldPieces }
  | { readonly at: 'joining'; readonly buffer: BodyBuffer }
  | { readonly at: 'passing'; readonly feed: ReceiverFeed }
  | { readonly at: 'dropping'; readonly rest: BodyRest | undefined }
  | { readonly at: 'closed' }

const waiting: InboundState = { at: 'waiting' }
const closed: InboundState = { at: 'closed' }

/** The exchange of a body. */
export interface InboundHost extends FeedHost {
  readonly server: ServerState
  readonly endpoint: Endpoint
  readonly socket: ExchangeSocket
  readonly visit: ServedVisit
  readonly isOver: boolean
  /** Called with a whole body. */
  run(request: HttpRequest): void
  /** Called with the answer of a receiver, if it has one before the body is complete. */
  answer(response: MaybePromise<HttpResponse> | undefined, isCorked: boolean): void
  /** Called if the body does not come in time. */
  late(message: string): void
}

/** A body that comes in, and the time that it has. No private methods: each request would pay for their mark. */
export class Inbound implements PausedBody {
  /** Content-Length; undefined if chunked. */
  readonly declared: number | undefined
  /** **Units**: bytes. */
  received = 0
  readonly #host: InboundHost
  #state = waiting
  #clock: TransferClock | undefined
  #deadline: NodeJS.Timeout | undefined

  constructor(host: InboundHost, declared: number | undefined) {
    this.#host = host
    this.declared = declared
  }

  /** Whether pieces of the body still come. */
  get isOpen(): boolean {
    return this.#state !== closed
  }

  /** Holds what comes until the hooks have ended. */
  hold(): void {
    this.#state = { at: 'held', held: new HeldPieces(this) }
    this.awaitDeadline('expected the hooks to end before the request deadline, they did not')
  }

  /** Called once, when the hooks have ended. Returns what came before. */
  unhold(): HeldPieces | undefined {
    this.stopClocks()
    if (this.#state.at !== 'held') return undefined
    const { held } = this.#state
    this.#state = waiting
    this.received = 0
    held.resume()
    return held
  }

  /** `isBorrowed`: the socket may reuse the piece afterwards. */
  take(piece: Uint8Array, last: boolean, isBorrowed: boolean): void {
    if (this.#state === closed) return
    const host = this.#host
    this.received += piece.length
    if (this.#state.at === 'dropping') this.#state.rest?.drop(piece.length, last)
    else if (this.received > host.server.limits.maxBodyBytes)
      host.refuse(tooLarge(host.server.limits))
    else if (last && this.#state === waiting)
      host.run(HttpRequest.lend(host.visit.ctx.headers, piece, isBorrowed))
    else this.takePart(piece, last)
  }

  /** Takes a piece of a body that did not come at once. */
  takePart(piece: Uint8Array, last: boolean): void {
    this.open()
    const state = this.#state
    if (state.at === 'held') state.held.add(piece, last)
    else if (state.at === 'passing') state.feed.take(piece, last)
    else if (state.at === 'joining') {
      const { buffer } = state
      buffer.append(piece)
      if ((this.declared === undefined && !this.reserve(buffer.capacity)) || !last) return
      const { headers } = this.#host.visit.ctx
      this.#host.run(HttpRequest.lend(headers, buffer.take(), bufferPool))
    }
  }

  /** Asks the endpoint how it takes the body, unless it was asked before. */
  open(): void {
    if (this.#state !== waiting) return
    this.awaitRest()
    const host = this.#host
    const { endpoint, visit, server } = host
    const { declared } = this
    const isPlain = codingOf(endpoint, visit) === undefined
    try {
      const receiver = isPlain ? endpoint.receive?.(declared, visit) : undefined
      if (receiver === undefined) {
        if (!this.reserve(declared ?? 0)) return
        const alignedAt = isPlain ? endpoint.alignedAt?.(visit.ctx.headers) : undefined
        const buffer = new BodyBuffer(declared, server.limits.maxBodyBytes, alignedAt)
        this.#state = { at: 'joining', buffer }
        return
      }
      this.#state = { at: 'passing', feed: new ReceiverFeed(host, this, receiver) }
      const full = visit.takeSlot()
      if (full !== undefined) throw tooMany(full)
      host.answer(receiver.answer?.(), false)
    } catch (error) {
      host.refuse(decodeFailureOf(error))
    }
  }

  reserve(bytes: number): boolean {
    const { visit } = this.#host
    if (bytes < countedBytes || visit.reserveUpTo(bytes)) return true
    this.#host.refuse(noMemory())
    return false
  }

  pause(): void {
    this.#clock?.pause()
    if (!this.#host.isOver) this.#host.socket.pause()
  }

  resume(): void {
    if (this.#host.isOver) return
    this.#clock?.start()
    this.#host.socket.resume()
  }

  /** Called when the body is complete, and `run` has it. */
  complete(): void {
    this.#state = closed
    this.stopClocks()
    this.#host.visit.recorder?.bodyComplete()
  }

  /** Called when the answer begins before the body's end. */
  answered(): void {
    clearTimeout(this.#deadline)
  }

  /** Called with an answer that is complete before the body's end. `end`: called behind the rest, if that is needed. */
  drop(end: (() => void) | undefined): void {
    this.close(new ClientClosed('the answer was complete before the body'))
    if (this.#host.isOver) return
    this.#state = { at: 'dropping', rest: end === undefined ? undefined : new BodyRest(end) }
  }

  /** Ends what takes the body. Only the first call counts. */
  close(reason?: Error): void {
    const state = this.#state
    this.#state = closed
    this.stopClocks()
    if (state.at === 'held') state.held.resume()
    else if (state.at === 'joining') state.buffer.drop()
    else if (state.at === 'dropping') state.rest?.stop()
    else if (state.at === 'passing') state.feed.abort(reason ?? new ClientClosed())
  }

  /** Starts the time of the body, once. */
  awaitRest(): void {
    const { bodyTimeoutMs } = this.#host.server.limits
    if (this.#clock === undefined && bodyTimeoutMs > 0) {
      const message = `expected the whole body ${withinText(bodyTimeoutMs)}, it did not come`
      this.#clock = new TransferClock(
        bodyTimeoutMs,
        () => this.received,
        () => this.#host.late(message),
      )
      this.#clock.start()
    }
    this.awaitDeadline('expected the whole body before the request deadline, it did not come')
  }

  /** Refuses the request at its deadline with a message. */
  awaitDeadline(message: string): void {
    const { ctx } = this.#host.visit
    if (this.#deadline !== undefined || ctx.deadlineMs === undefined) return
    const ms = Math.min(ctx.remainingMs, 0x7fffffff)
    this.#deadline = setTimeout(() => this.#host.late(message), ms)
  }

  stopClocks(): void {
    if (this.#deadline !== undefined) clearTimeout(this.#deadline)
    this.#deadline = undefined
    this.#clock?.pause()
    this.#clock = undefined
  }
}
