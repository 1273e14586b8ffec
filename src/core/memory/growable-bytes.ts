/** Appends to one buffer that doubles. Starts with the first `length` bytes of `buffer`. */
export class GrowableBytes {
  buffer: Buffer
  /** **Units**: bytes of `buffer` in use. */
  length: number

  constructor(buffer: Buffer, length = 0) {
    this.buffer = buffer
    this.length = length
  }

  reserve(size: number): void {
    const length = this.length + size
    if (length <= this.buffer.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(this.buffer.length * 2, length))
    grown.set(this.buffer.subarray(0, this.length))
    this.buffer = grown
  }

  append(bytes: Uint8Array): void {
    this.reserve(bytes.length)
    this.buffer.set(bytes, this.length)
    this.length += bytes.length
  }

  /** A view of `buffer`. */
  get bytes(): Buffer {
    return this.buffer.subarray(0, this.length)
  }
}
