/** A buffer that callers share: each reads it before the next one calls. Keeps at most `maxBytes`. */
export class ScratchBuffer {
  readonly maxBytes: number
  #buffer = Buffer.alloc(0)

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  /** Returns `size` bytes or more, not zeroed. */
  take(size: number): Buffer {
    if (size > this.maxBytes) return Buffer.allocUnsafeSlow(size)
    if (size > this.#buffer.length) {
      this.#buffer = Buffer.allocUnsafeSlow(Math.min(this.maxBytes, Math.max(size, this.#buffer.length * 2)))
    }
    return this.#buffer
  }
}
