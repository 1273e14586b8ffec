/**
 * Counts requests within a turn of the event loop.
 * @module
 */

/**
 * Detects turns of the event loop that begin too many requests. A parser hands over all requests of one read at once:
 * 16,000 from a connection that pipelines, and until they are done nobody else is answered, not even a probe.
 *
 * **Cost**: the count is reset after the turn in which it reaches 1/16 of the limit, so a server with few requests
 * needs no timer.
 */
export class TurnCounter {
  readonly #max: number
  readonly #resetAt: number
  #count = 0
  readonly #reset = () => {
    this.#count = 0
  }

  constructor(max: number) {
    this.#max = max
    this.#resetAt = Math.ceil(max / 16)
  }

  /** Counts a request; returns false when there were too many before it in this turn. */
  add(): boolean {
    if (++this.#count === this.#resetAt) setImmediate(this.#reset)
    return this.#count <= this.#max
  }
}
