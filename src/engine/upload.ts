/** Passes a body from a socket to an endpoint's receiver. @module */

import { setImmediate as nextTurn } from 'node:timers/promises'
import { decodeFailureOf } from '../api/stages.ts'
import { PayloadTooLarge, type ServingError } from '../core/errors.ts'
import { isPromise } from '../core/promise.ts'
import type { EndpointReceiver } from '../http/endpoint.ts'

const turnMs = 2

/** Callbacks of an upload. */
export interface UploadEvents {
  readonly pause: () => void
  readonly resume: () => void
  readonly reserve: (bytes: number) => boolean
  readonly refuse: (error: ServingError) => void
  readonly run: (isCorked: boolean) => void
  readonly fault: (error: unknown) => void
}

interface HeldPiece {
  readonly bytes: Uint8Array
  readonly last: boolean
}

/** Counts a body, hands it to its receiver, and shares turns: uWebSockets.js reads even a paused socket. */
export class Upload {
  readonly #receiver: EndpointReceiver
  readonly #events: UploadEvents
  readonly #limit: number
  #held: HeldPiece[] | undefined
  #heldBytes = 0
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
