/**
 * The bound on memory that bodies and answers in flight may take together.
 * @module
 */
import { totalmem } from 'node:os'

/** From this size on a body or an answer is counted; smaller ones are bounded by their number. **Units**: bytes. */
export const countedBytes = 256 * 1024

/**
 * Half of the memory that this process may use: of its cgroup's limit where there is one, else of the machine's.
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
   * Counts `bytes`; returns false, and counts none, when they do not fit. What is larger than the limit fits when
   * nothing else is there.
   */
  reserve(bytes: number): boolean {
    if (this.#used > 0 && this.#used + bytes > this.#max) return false
    this.#used += bytes
    return true
  }

  /** Gives reserved bytes back. */
  release(bytes: number): void {
    this.#used -= bytes
  }
}
