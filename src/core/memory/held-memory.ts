/** The memory that all requests of a server share. **Units**: bytes. */
export interface SharedMemory {
  /** `isSpare`: for what can do without. Returns false if it does not fit. */
  reserve(bytes: number, isSpare?: boolean): boolean
  release(bytes: number): void
}

/** The bytes that one holder has of the shared memory, which go up and down. */
export class HeldMemory {
  readonly #memory: SharedMemory
  readonly #freeBytes: number
  #reserved = 0
  #isOver = false

  /** `freeBytes`: up to so many are not counted, where the number of holders is bounded. */
  constructor(memory: SharedMemory, freeBytes = 0) {
    this.#memory = memory
    this.#freeBytes = freeBytes
  }

  /** **Units**: bytes. */
  get bytes(): number {
    return this.#reserved
  }

  /** Sets how much it holds; returns false if it does not fit. **Units**: bytes. */
  hold(bytes: number, isSpare?: boolean): boolean {
    if (this.#isOver) return bytes === 0
    const wanted = bytes > this.#freeBytes ? bytes : 0
    if (wanted > this.#reserved && !this.#memory.reserve(wanted - this.#reserved, isSpare))
      return false
    if (wanted < this.#reserved) this.#memory.release(this.#reserved - wanted)
    this.#reserved = wanted
    return true
  }

  /** Gives all back, for good. */
  end(): void {
    this.hold(0)
    this.#isOver = true
  }
}
