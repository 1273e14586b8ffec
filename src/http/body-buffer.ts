import { bufferPool } from '../core/memory/buffer-pool.ts'

// First reservation, so that a false Content-Length costs little. **Units**: bytes.
const firstBytes = 1024 * 1024
const maxReservedBytes = 64 * 1024 * 1024
const chunkedFirstBytes = 16 * 1024
const maxAlignment = 8

/** Joins the pieces in one pooled buffer, which grows as bytes come. */
export class BodyBuffer {
  readonly #limit: number
  readonly #reserved: number
  readonly #start: number
  #bytes: Uint8Array
  #length = 0

  /** `alignedAt`: the offset in the body that must lie at a multiple of 8 bytes in memory. */
  constructor(declared: number | undefined, limit: number, alignedAt = 0) {
    this.#start = -alignedAt & (maxAlignment - 1)
    this.#limit = Math.min(declared ?? limit, limit)
    this.#reserved = Math.min(declared ?? 0, maxReservedBytes)
    const used = declared === undefined ? undefined : bufferPool.takeUsed(this.#start + this.#limit)
    const first = Math.min(this.#limit, declared === undefined ? chunkedFirstBytes : firstBytes)
    this.#bytes = new Uint8Array(used ?? bufferPool.take(this.#start + first), this.#start)
  }

  get capacity(): number {
    return this.#bytes.length
  }

  /** The caller has compared the length with the limit. */
  append(piece: Uint8Array): void {
    const length = this.#length + piece.length
    if (length > this.#bytes.length) this.#grow(length)
    this.#bytes.set(piece, this.#length)
    this.#length = length
  }

  take(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  drop(): void {
    bufferPool.give(this.#bytes.buffer as ArrayBuffer)
  }

  #grow(length: number): void {
    const size = Math.min(this.#limit, Math.max(length, this.#bytes.length * 4, this.#reserved))
    const grown = new Uint8Array(bufferPool.take(this.#start + size), this.#start)
    grown.set(this.#bytes.subarray(0, this.#length))
    this.drop()
    this.#bytes = grown
  }
}
