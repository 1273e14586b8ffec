/** Memory for bytes that are read before the next ones are written. @module */

/**
 * A buffer that one caller after another writes to: nobody may read it when a call of the next one has begun. Memory of
 * its own for each small text costs more than writing it, and brings on the garbage collector.
 *
 * **Cost**: keeps at most `maxBytes`; larger ones are new each time.
 */
export class ScratchBuffer {
  /** **Units**: bytes. */
  readonly maxBytes: number
  #buffer = Buffer.alloc(0)

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  /** Returns `size` bytes or more, which hold what was written to them last. */
  take(size: number): Buffer {
    if (size > this.maxBytes) return Buffer.allocUnsafeSlow(size)
    if (size > this.#buffer.length) {
      this.#buffer = Buffer.allocUnsafeSlow(Math.min(this.maxBytes, Math.max(size, this.#buffer.length * 2)))
    }
    return this.#buffer
  }
}
