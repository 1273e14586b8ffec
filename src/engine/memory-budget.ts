/**
 * Limits the memory that bodies and answers in flight may take together.
 * @module
 */
import { totalmem } from 'node:os'

/** Bodies and answers of at least this size are counted; the number of smaller ones is bounded. **Units**: bytes. */
export const countedBytes = 256 * 1024

/**
 * Returns half of the memory that this process may use: of its cgroup's limit if there is one, else of the machine's.
 * **Units**: bytes.
 */
export function defaultMemoryBytes(): number {
  const limit = process.constrainedMemory?.() ?? 0
  const total = totalmem()
  return Math.floor((limit > 0 && limit < total ? limit : total) / 2)
}

/** Counts bytes of bodies and answers against one limit. */
export class MemoryBudget {
  readonly #max: number
  #used = 0

  /** `max` 0: no limit. **Units**: bytes. */
  constructor(max: number) {
    this.#max = max === 0 ? Number.POSITIVE_INFINITY : max
  }

  /** **Units**: bytes. */
  get used(): number {
    return this.#used
  }

  /**
   * Reserves `bytes`; returns false, and reserves none, when they do not fit. More than the limit fits when nothing
   * else is reserved. `isSpare`: the request can do without; they fit while no more than a quarter is reserved then.
   */
  reserve(bytes: number, isSpare = false): boolean {
    const after = this.#used + bytes
    if (isSpare ? after > this.#max / 4 : this.#used > 0 && after > this.#max) return false
    this.#used += bytes
    return true
  }

  /** Releases reserved bytes. */
  release(bytes: number): void {
    this.#used -= bytes
  }
}
