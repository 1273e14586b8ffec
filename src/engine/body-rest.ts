/**
 * The rest of a request's body when its answer is complete before.
 * @module
 */

/**
 * How long the rest of a refused upload is read after its answer. Closing a socket with unread bytes makes the kernel
 * send a reset, which can destroy the answer before the client has read it. **Source**: RFC 9112 section 9.6.
 */
export const uploadDrain = Object.freeze({
  /** **Units**: milliseconds. */
  timeMs: 5_000,
  /** **Units**: bytes. */
  bytes: 32 * 1024 * 1024,
  /** After a request whose end is in doubt: the bytes that follow are not parsed. **Units**: milliseconds. */
  faultTimeMs: 250,
})

/**
 * Counts the rest of a body that is read and dropped, within bounds, before its connection is closed: closed over
 * unread bytes, it would be reset, and the reset could overtake the end of the answer.
 */
export class BodyRest {
  #end: (() => void) | undefined
  readonly #timer: NodeJS.Timeout
  #bytes = 0

  /** `end` is called at most once: when all has come, or when it is too much or takes longer than `timeMs`. */
  constructor(end: () => void, timeMs: number = uploadDrain.timeMs) {
    this.#end = end
    this.#timer = setTimeout(() => this.#finish(), timeMs)
  }

  /** Counts a piece. */
  drop(bytes: number, last: boolean): void {
    this.#bytes += bytes
    if (last || this.#bytes > uploadDrain.bytes) this.#finish()
  }

  /** Lets `end` not be called any more. */
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
