/**
 * Passes a body from a socket to an endpoint's receiver.
 * @module
 */

import { setImmediate as nextTurn } from 'node:timers/promises'
import { decodeFailureOf } from '../api/stages.ts'
import { PayloadTooLarge, type ServingError } from '../core/errors.ts'
import { isPromise } from '../core/promise.ts'
import type { EndpointReceiver } from '../http/endpoint.ts'

/** Work of a receiver in one turn of the event loop. **Units**: milliseconds. */
const turnMs = 2

/** Callbacks of an upload. */
export interface UploadEvents {
  readonly pause: () => void
  readonly resume: () => void
  /** Reserves memory up to `bytes` in all; returns false when there is too little, and the request was refused. */
  readonly reserve: (bytes: number) => boolean
  /** Answers now, while the body still comes. */
  readonly refuse: (error: ServingError) => void
  /** Called when the body is complete and the receiver has taken all of it. */
  readonly run: (isCorked: boolean) => void
  /** Called when a callback above throws in a later tick. */
  readonly fault: (error: unknown) => void
}

/** A piece that waits for the next turn. */
interface HeldPiece {
  readonly bytes: Uint8Array
  readonly last: boolean
}

/**
 * Counts a body against its limit, hands it to its receiver, and pauses the socket while the receiver is busy: only
 * what the receiver holds, and what the socket had read before it was paused, is in memory.
 *
 * After two milliseconds of work the pieces wait for a turn of the event loop. uWebSockets.js reads a socket, even a
 * paused one, as long as the client fills its buffer of 512 KiB, all within one turn: 60 MB of a form that is slow to
 * search were one stretch of 570 ms.
 */
export class Upload {
  readonly #receiver: EndpointReceiver
  readonly #events: UploadEvents
  readonly #limit: number
  // Undefined while pieces go to the receiver at once.
  #held: HeldPiece[] | undefined
  #heldBytes = 0
  // Work of the receiver since the last turn that this has waited for.
  #spentMs = 0
  #length = 0
  #busy = 0
  #complete = false
  #over = false

  constructor(receiver: EndpointReceiver, limit: number, events: UploadEvents) {
    this.#receiver = receiver
    this.#limit = limit
    this.#events = events
  }

  /** Takes a piece, which the socket may reuse when this returns. Runs within the socket's own callback. */
  take(piece: Uint8Array, last: boolean): void {
    if (this.#over) return
    this.#length += piece.length
    if (this.#length > this.#limit) {
      this.#refuse(new PayloadTooLarge(`expected at most ${this.#limit} bytes for the body, received more`))
      return
    }
    if (this.#held !== undefined) {
      this.#heldBytes += piece.length
      this.#held.push({ bytes: new Uint8Array(piece), last })
      this.#events.reserve(this.#heldBytes)
      return
    }
    this.#pass(piece, last)
    if (this.#over) return
    if (last && this.#busy === 0) this.#finish(true)
    else if (!last && this.#spentMs > turnMs) this.#wait(this.#passInTurns())
  }

  /** Hands a piece to the receiver. Returns its promise while it is busy. */
  #pass(piece: Uint8Array, last: boolean): Promise<void> | undefined {
    const beganMs = performance.now()
    this.#complete = last
    try {
      const busy = piece.length === 0 ? undefined : this.#receiver.write(piece)
      this.#spentMs += performance.now() - beganMs
      if (!isPromise(busy)) return undefined
      const settled = Promise.resolve(busy)
      this.#wait(settled)
      return settled
    } catch (error) {
      this.#refuse(decodeFailureOf(error))
      return undefined
    }
  }

  /** Hands over what comes from now on, two milliseconds in each turn, until nothing is held. */
  async #passInTurns(): Promise<void> {
    const held: HeldPiece[] = []
    this.#held = held
    do {
      await nextTurn()
      this.#spentMs = 0
      while (this.#spentMs <= turnMs && held.length > 0 && !this.#over) {
        const { bytes, last } = held.shift() as HeldPiece
        this.#heldBytes -= bytes.length
        await this.#pass(bytes, last)
      }
    } while (held.length > 0 && !this.#over)
    this.#held = undefined
  }

  /** Stops the upload; does nothing once it is complete. */
  abort(reason: () => Error): void {
    if (this.#over) return
    this.#over = true
    this.#held = undefined
    if (this.#busy > 0) this.#events.resume()
    try {
      this.#receiver.abort(reason())
    } catch (error) {
      this.#events.fault(error)
    }
  }

  #wait(busy: Promise<void>): void {
    if (this.#busy++ === 0) this.#events.pause()
    busy
      .then(
        () => {
          if (--this.#busy > 0 || this.#over) return
          this.#events.resume()
          if (this.#complete) this.#finish(false)
        },
        (error) => this.#refuse(decodeFailureOf(error)),
      )
      .catch((error) => this.#events.fault(error))
  }

  #finish(isCorked: boolean): void {
    this.#over = true
    this.#events.run(isCorked)
  }

  #refuse(error: ServingError): void {
    if (!this.#over) this.#events.refuse(error)
  }
}
