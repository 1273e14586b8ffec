/** Limits the time in which a client sends a body or reads a response. @module */

/** Rate that a longer transfer must keep. **Units**: bytes a second. */
export const minRate = 16 * 1024

/** Gives a transfer a time to end, and as much again while it keeps the rate. */
export class TransferClock {
  readonly #timeMs: number
  readonly #transferred: () => number
  readonly #onLate: () => void
  #before = 0
  #leftMs: number
  #startedAt = 0
  #timer: NodeJS.Timeout | undefined

  /** `transferred`: bytes so far. `onLate` is called at most once. **Units**: `timeMs` in milliseconds. */
  constructor(timeMs: number, transferred: () => number, onLate: () => void) {
    this.#timeMs = Math.min(timeMs, 0x7fffffff)
    this.#leftMs = this.#timeMs
    this.#transferred = transferred
    this.#onLate = onLate
  }

  start(): void {
    if (this.#timer !== undefined) return
    this.#startedAt = performance.now()
    this.#timer = setTimeout(() => this.endPeriod(), Math.max(1, this.#leftMs))
  }

  pause(): void {
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#leftMs -= performance.now() - this.#startedAt
  }

  private endPeriod(): void {
    this.#timer = undefined
    const now = this.#transferred()
    if (now - this.#before < (minRate * this.#timeMs) / 1000) {
      this.#onLate()
      return
    }
    this.#before = now
    this.#leftMs = this.#timeMs
    this.start()
  }
}

/** For messages: what a transfer must keep. */
export function withinText(timeMs: number): string {
  return `within ${timeMs} ms or at ${minRate} bytes a second`
}

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
