/**
 * Counts requests within a turn of the event loop.
 * @module
 */

/**
 * Tells whether a turn of the event loop has begun more requests than it should. A parser hands over all requests of
 * one read at once: 16,000 of a connection that pipelines, and for as long as they take nobody else is answered, not
 * even a probe.
 *
 * **Cost**: the count is reset after the turn in which it reaches 1/16 of the limit, so that a server with few requests
 * pays for no timer.
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

  /** Counts a request; false when there were too many before it in this turn. */
  add(): boolean {
    if (++this.#count === this.#resetAt) setImmediate(this.#reset)
    return this.#count <= this.#max
  }
}
