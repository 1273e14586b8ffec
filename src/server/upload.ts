/**
 * A body on its way from a socket to an endpoint's receiver.
 * @module
 */

import { PayloadTooLarge, type ServingError } from '../errors.ts'
import { isPromise } from '../promise.ts'
import { decodeFailureOf } from '../service/stages.ts'
import type { EndpointReceiver } from './endpoint.ts'

/** What an upload asks of its exchange. */
export interface UploadEvents {
  readonly pause: () => void
  readonly resume: () => void
  /** Answer now, while the body still comes. */
  readonly refuse: (error: ServingError) => void
  /** The body is complete, and all of it was taken. */
  readonly run: (isCorked: boolean) => void
  /** A failure of the events above in a later tick. */
  readonly fault: (error: unknown) => void
}

/**
 * Counts a body against its limit, hands it on, and lets the socket rest while the receiver is busy: what is in memory is
 * what the receiver holds and what the socket had read before it was paused.
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

  /** Takes a piece, which is the socket's again when this returns. Runs within the socket's own callback. */
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

  /** Gives the body up; nothing more is taken. Does nothing once it was complete. */
  abort(reason: Error): void {
    if (this.#over) return
    this.#over = true
    if (this.#busy > 0) this.#events.resume()
    try {
      this.#receiver.abort(reason)
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
