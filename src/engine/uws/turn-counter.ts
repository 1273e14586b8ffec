/** Counts requests within a turn of the event loop. @module */

/** Detects turns that begin too many requests: a parser hands over all pipelined requests at once. */
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
