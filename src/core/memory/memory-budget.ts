/** Limits the memory that bodies and answers in flight may take together. @module */

/** Smaller bodies and answers are not counted; their number is bounded. **Units**: bytes. */
export const countedBytes = 256 * 1024

/** Somebody who waits for memory. **Units**: bytes. */
interface Waiting {
  readonly bytes: number
  readonly held: number
  readonly go: () => void
}

/** Counts bytes of bodies and answers against one limit. */
export class MemoryBudget {
  readonly #max: number
  readonly #waiting: Waiting[] = []
  #used = 0

  constructor(max: number) {
    this.#max = max || Number.POSITIVE_INFINITY
  }

  get used(): number {
    return this.#used
  }

  /**
   * `isSpare`: at most a quarter.
   *
   * @returns false if it does not fit; anything fits if nothing is reserved.
   */
  reserve(bytes: number, isSpare = false): boolean {
    const after = this.#used + bytes
    if (isSpare ? after > this.#max / 4 : this.#used > 0 && after > this.#max) return false
    this.#used += bytes
    return true
  }

  release(bytes: number): void {
    this.#used -= bytes
    if (this.#waiting.length > 0) this.#letGo()
  }

  /**
   * Reserves memory when there is enough, in the order in which it is asked for. If those who wait hold all of it, the
   * first of them gets more than there is: else they would wait for each other.
   *
   * @param held - What who asks has reserved before. **Units**: bytes.
   * @returns whether it is reserved: not if `signal` is aborted before.
   */
  async wait(bytes: number, held: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false
    if (this.#waiting.length === 0 && this.reserve(bytes)) return true
    return new Promise((resolve) => {
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
        resolve(false)
        this.#letGo()
      }
      const go = () => {
        signal.removeEventListener('abort', leave)
        resolve(true)
      }
      const waiting: Waiting = { bytes, held, go }
      signal.addEventListener('abort', leave, { once: true })
      this.#waiting.push(waiting)
      this.#letGo()
    })
  }

  #letGo(): void {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const heldByAll = this.#waiting.reduce((sum, { held }) => sum + held, 0)
      if (this.#used <= heldByAll) this.#used += first.bytes
      else if (!this.reserve(first.bytes)) return
      this.#waiting.shift()
      first.go()
    }
  }
}
