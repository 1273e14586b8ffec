/**
 * Counts requests within a turn of the event loop.
 * @module
 */

/**
 * Detects turns of the event loop that begin too many requests. A parser hands over all requests of one read at once:
 * 16,000 from a connection that pipelines, and until they are done nobody else is answered, not even a probe.
 *
 * **Cost**: the count is reset after the turn in which it reaches a quarter of the limit, so that most turns need no
 * `setImmediate`, which takes 5 µs; what earlier turns have left makes the limit of a turn lower by a quarter at most.
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
    this.#resetAt = Math.ceil(max / 4)
  }

  /** Counts a request; returns false when there were too many before it in this turn. */
  add(): boolean {
    if (++this.#count === this.#resetAt) setImmediate(this.#reset)
    return this.#count <= this.#max
  }
}
