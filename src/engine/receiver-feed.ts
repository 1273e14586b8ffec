/** Pieces of a body that have to wait, and those that go to an endpoint's receiver. @module */

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { EndpointReceiver } from '../api/endpoint.ts'
import { decodeFailureOf } from '../api/stages.ts'
import type { ServingError } from '../core/errors.ts'
import { isPromise, type MaybePromise } from '../core/promise.ts'

// More than this pauses the socket: a paused one does not notice that its client leaves. **Units**: bytes.
const heldBytes = 64 * 1024
// A receiver that has worked for longer lets others have a turn: uWebSockets.js reads megabytes in one, even if paused.
const turnMs = 2

/** The body that pieces are of. */
export interface PausedBody {
  /** Returns false if the request was refused for it. **Units**: bytes in all. */
  reserve(bytes: number): boolean
  pause(): void
  resume(): void
}

/** The exchange of a body that goes to a receiver. */
export interface FeedHost {
  refuse(error: ServingError): void
  fault(cause: unknown): void
  /** Called when the receiver has all of the body. */
  runReceived(receiver: EndpointReceiver, isCorked: boolean): void
}

/** Copies of pieces that come while nobody takes them. */
export class HeldPieces {
  readonly pieces: Uint8Array[] = []
  /** Whether the last piece has come. */
  isComplete: boolean
  readonly #body: PausedBody
  #bytes = 0
  #isPaused = false

  constructor(body: PausedBody, isComplete = false) {
    this.#body = body
    this.isComplete = isComplete
  }

  /** The socket may reuse the piece afterwards. */
  add(piece: Uint8Array, last: boolean): void {
    this.isComplete = last
    this.pieces.push(new Uint8Array(piece))
    this.#bytes += piece.length
    if (this.#body.reserve(this.#bytes) && this.#bytes > heldBytes) this.pause()
  }

  next(): Uint8Array | undefined {
    const piece = this.pieces.shift()
    this.#bytes -= piece?.length ?? 0
    return piece
  }

  pause(): void {
    if (!this.#isPaused) this.#body.pause()
    this.#isPaused = true
  }

  resume(): void {
    if (this.#isPaused) this.#body.resume()
    this.#isPaused = false
  }
}

/** Passes a body to a receiver, piece by piece. */
export class ReceiverFeed {
  readonly #host: FeedHost
  readonly #body: PausedBody
  readonly #receiver: EndpointReceiver
  /** What comes while the receiver is busy. */
  #held: HeldPieces | undefined
  #spentMs = 0
  #isOver = false

  constructor(host: FeedHost, body: PausedBody, receiver: EndpointReceiver) {
    this.#host = host
    this.#body = body
    this.#receiver = receiver
  }

  /** The socket may reuse the piece afterwards. */
  take(piece: Uint8Array, last: boolean): void {
    if (this.#held !== undefined) {
      this.#held.add(piece, last)
      return
    }
    let busy: MaybePromise<void>
    try {
      busy = this.#pass(piece)
    } catch (error) {
      this.#host.refuse(decodeFailureOf(error))
      return
    }
    if (isPromise(busy) || (!last && this.#spentMs > turnMs))
      this.#passLater(busy, last).catch((error) => this.#host.fault(error))
    else if (last) this.#finish(true)
  }

  #pass(piece: Uint8Array): MaybePromise<void> {
    const beganMs = performance.now()
    const busy = piece.length === 0 ? undefined : this.#receiver.write(piece)
    this.#spentMs += performance.now() - beganMs
    return busy
  }

  /** Holds what comes until the receiver has taken all of it. */
  async #passLater(busy: MaybePromise<void>, last: boolean): Promise<void> {
    const held = new HeldPieces(this.#body, last)
    this.#held = held
    held.pause()
    try {
      await busy
      for (;;) {
        if (this.#spentMs > turnMs) {
          this.#spentMs = 0
          await nextTurn()
        }
        const next = this.#isOver ? undefined : held.next()
        if (next === undefined) break
        await this.#pass(next)
      }
    } catch (error) {
      if (!this.#isOver) this.#host.refuse(decodeFailureOf(error))
    }
    if (this.#isOver) return
    this.#held = undefined
    held.resume()
    if (held.isComplete) this.#finish(false)
  }

  #finish(isCorked: boolean): void {
    this.#isOver = true
    this.#host.runReceived(this.#receiver, isCorked)
  }

  /** Ends a receiver that will not get the rest. */
  abort(reason: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#held?.resume()
    try {
      this.#receiver.abort(reason)
    } catch (error) {
      this.#host.fault(error)
    }
  }
}
