/** The rest of a request's body after its answer. @module */

/** How long it is read: an earlier close resets the connection, which may destroy the answer (RFC 9112 section 9.6). */
export const uploadDrain = Object.freeze({
  timeMs: 5_000,
  bytes: 32 * 1024 * 1024,
  /** After a request whose end is in doubt. **Units**: milliseconds. */
  faultTimeMs: 250,
})

/** Counts the rest of a body, which is read and dropped within bounds before the connection closes. */
export class BodyRest {
  #end: (() => void) | undefined
  readonly #timer: NodeJS.Timeout
  #bytes = 0

  constructor(end: () => void, timeMs: number = uploadDrain.timeMs) {
    this.#end = end
    this.#timer = setTimeout(() => this.#finish(), timeMs)
  }

  drop(bytes: number, last: boolean): void {
    this.#bytes += bytes
    if (last || this.#bytes > uploadDrain.bytes) this.#finish()
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#end = undefined
  }

  #finish(): void {
    const end = this.#end
    this.stop()
    end?.()
  }
}
