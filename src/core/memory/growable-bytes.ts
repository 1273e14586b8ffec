/** Bytes that are appended to. @module */

/**
 * One buffer that doubles: many small pieces must not become many objects. Starts with the bytes of `buffer`, of which
 * `length` count, and writes to it while it has room.
 */
export class GrowableBytes {
  buffer: Buffer
  /** **Units**: bytes of `buffer` that count. */
  length: number

  constructor(buffer: Buffer, length = 0) {
    this.buffer = buffer
    this.length = length
  }

  /** Makes room for `size` more bytes in `buffer`. */
  reserve(size: number): void {
    const length = this.length + size
    if (length <= this.buffer.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(this.buffer.length * 2, length))
    grown.set(this.buffer.subarray(0, this.length))
    this.buffer = grown
  }

  /** Copies bytes to the end. */
  append(bytes: Uint8Array): void {
    this.reserve(bytes.length)
    this.buffer.set(bytes, this.length)
    this.length += bytes.length
  }

  /** The bytes so far, as a view of `buffer`. */
  get bytes(): Buffer {
    return this.buffer.subarray(0, this.length)
  }
}
