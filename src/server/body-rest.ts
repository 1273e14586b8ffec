/**
 * The rest of a request's body when its answer is complete before.
 * @module
 */
import { uploadDrain } from './admission.ts'

/**
 * Drops the rest of a body before its connection is closed, within the bounds of refused uploads: closed over unread
 * bytes, it would be reset, and the reset could overtake the end of the answer.
 */
export class BodyRest {
  readonly #end: () => void
  readonly #timer: NodeJS.Timeout
  #bytes = 0

  /** `end` is called at most once: when all has come, or when it takes too long. */
  constructor(end: () => void) {
    this.#end = end
    this.#timer = setTimeout(end, uploadDrain.timeMs)
  }

  /** Counts a piece. */
  drop(bytes: number, last: boolean): void {
    this.#bytes += bytes
    if (!last && this.#bytes <= uploadDrain.bytes) return
    this.stop()
    this.#end()
  }

  /** Called when `end` is not wanted any more. */
  stop(): void {
    clearTimeout(this.#timer)
  }
}
