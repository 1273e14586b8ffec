/**
 * Passes a body from a socket to an endpoint's receiver.
 * @module
 */

import { decodeFailureOf } from '../api/stages.ts'
import { PayloadTooLarge, type ServingError } from '../errors.ts'
import type { EndpointReceiver } from '../http/endpoint.ts'
import { isPromise } from '../promise.ts'

/** Callbacks of an upload. */
export interface UploadEvents {
  readonly pause: () => void
  readonly resume: () => void
  /** Answers now, while the body still comes. */
  readonly refuse: (error: ServingError) => void
  /** Called when the body is complete and the receiver has taken all of it. */
  readonly run: (isCorked: boolean) => void
  /** Called when a callback above throws in a later tick. */
  readonly fault: (error: unknown) => void
}

/**
 * Counts a body against its limit, hands it to its receiver, and pauses the socket while the receiver is busy: only
 * what the receiver holds, and what the socket had read before it was paused, is in memory.
 */
export class Upload {
  readonly #receiver: EndpointReceiver
  readonly #events: UploadEvents
  readonly #limit: number
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
    this.#complete = last
    try {
      const busy = piece.length === 0 ? undefined : this.#receiver.write(piece)
      if (isPromise(busy)) this.#wait(Promise.resolve(busy))
    } catch (error) {
      this.#refuse(decodeFailureOf(error))
      return
    }
    if (last && this.#busy === 0) this.#finish(true)
  }

  /** Stops the upload; does nothing once it is complete. */
  abort(reason: () => Error): void {
    if (this.#over) return
    this.#over = true
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
