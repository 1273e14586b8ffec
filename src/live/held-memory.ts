/** The memory that all requests of a server share. **Units**: bytes. */
export interface SharedMemory {
  /** @returns false if it does not fit. */
  reserve(bytes: number): boolean
  release(bytes: number): void
}

// Less is not counted: the number of streams is bounded. **Units**: bytes.
const freeBytes = 64 * 1024

/** The bytes that one stream holds, as part of the shared memory. */
export class HeldMemory {
  readonly #memory: SharedMemory
  #reserved = 0

  constructor(memory: SharedMemory) {
    this.#memory = memory
  }

  /** Sets how much the stream holds; returns false if it does not fit. **Units**: bytes. */
  hold(bytes: number): boolean {
    const wanted = bytes > freeBytes ? bytes : 0
    if (wanted > this.#reserved && !this.#memory.reserve(wanted - this.#reserved)) return false
    if (wanted < this.#reserved) this.#memory.release(this.#reserved - wanted)
    this.#reserved = wanted
    return true
  }
}
