/** Limits the memory that bodies and answers in flight may take together. @module */

/** Smaller bodies and answers are not counted; their number is bounded. **Units**: bytes. */
export const countedBytes = 256 * 1024

/** Counts bytes of bodies and answers against one limit. */
export class MemoryBudget {
  readonly #max: number
  #used = 0

  constructor(max: number) {
    this.#max = max === 0 ? Number.POSITIVE_INFINITY : max
  }

  get used(): number {
    return this.#used
  }

  /** Returns false if it does not fit; anything fits if nothing is reserved. `isSpare`: at most a quarter. */
  reserve(bytes: number, isSpare = false): boolean {
    const after = this.#used + bytes
    if (isSpare ? after > this.#max / 4 : this.#used > 0 && after > this.#max) return false
    this.#used += bytes
    return true
  }

  release(bytes: number): void {
    this.#used -= bytes
  }
}
