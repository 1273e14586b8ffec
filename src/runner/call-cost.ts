/** The time that a call of a model takes, estimated from the calls so far. @module */

const decay = 0.9

/** A line through the measured times: a fixed part for each call and a part for each row. **Units**: milliseconds. */
export class CallCost {
  #weight = 0
  #rows = 0
  #time = 0
  #rowsRows = 0
  #rowsTime = 0

  learn(rows: number, ms: number): void {
    this.#weight = this.#weight * decay + 1
    this.#rows = this.#rows * decay + rows
    this.#time = this.#time * decay + ms
    this.#rowsRows = this.#rowsRows * decay + rows * rows
    this.#rowsTime = this.#rowsTime * decay + rows * ms
  }

  get meanMs(): number {
    return this.#weight === 0 ? 0 : this.#time / this.#weight
  }

  get meanRows(): number {
    return this.#weight === 0 ? 0 : this.#rows / this.#weight
  }

  /** The cost of a call before its first row; all of a call's time while all calls have had the same size. */
  get fixedMs(): number {
    const variance = this.#rowsRows * this.#weight - this.#rows * this.#rows
    if (variance <= 1e-9 * this.#rowsRows * this.#weight) return this.meanMs
    const slope = Math.max(0, (this.#rowsTime * this.#weight - this.#rows * this.#time) / variance)
    return Math.max(0, this.meanMs - slope * this.meanRows)
  }
}
