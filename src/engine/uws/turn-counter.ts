/** Counts requests within a turn of the event loop. @module */

/**
 * Detects turns of the event loop that begin too many requests: a parser hands over all pipelined requests of one
 * read at once, thousands of them. The count is reset after the turn in which it reaches a quarter of the limit.
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

  add(): boolean {
    if (++this.#count === this.#resetAt) setImmediate(this.#reset)
    return this.#count <= this.#max
  }
}
