/**
 * Limits the time in which a client sends a body or reads a response.
 * @module
 */

/** Rate that a client must keep once a transfer takes longer than its time. **Units**: bytes a second. */
export const minRate = 16 * 1024

/**
 * Gives a transfer a time to end, and as much again while it keeps a rate of 16 KiB a second. Runs only while the
 * server waits for the client: a body that is being processed, or a response whose next piece is not there yet, costs
 * the client no time.
 */
export class TransferClock {
  readonly #timeMs: number
  readonly #transferred: () => number
  readonly #onLate: () => void
  // Bytes transferred when the period began. **Units**: bytes.
  #before = 0
  #leftMs: number
  #startedAt = 0
  #timer: NodeJS.Timeout | undefined

  /**
   * `transferred` returns the bytes so far, and is called only when a period is over. `onLate` is called at most once.
   * **Units**: `timeMs` in milliseconds.
   */
  constructor(timeMs: number, transferred: () => number, onLate: () => void) {
    this.#timeMs = Math.min(timeMs, 0x7fffffff)
    this.#leftMs = this.#timeMs
    this.#transferred = transferred
    this.#onLate = onLate
  }

  /** Starts or resumes; does nothing while it runs. */
  start(): void {
    if (this.#timer !== undefined) return
    this.#startedAt = performance.now()
    this.#timer = setTimeout(() => this.#endPeriod(), Math.max(1, this.#leftMs))
  }

  /** Stops until the next `start`. */
  pause(): void {
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#leftMs -= performance.now() - this.#startedAt
  }

  #endPeriod(): void {
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
