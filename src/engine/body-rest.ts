/**
 * The rest of a request's body when its answer is complete before.
 * @module
 */
import { uploadDrain } from './admission.ts'

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
