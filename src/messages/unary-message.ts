/**
 * A gRPC message from its frames: a flag, a length in 32 bits, bytes.
 *
 * @see PROTOCOL-HTTP2.md.
 * @module
 */
import { grpcStatuses } from '../core/errors.ts'

/** A status for anything but one message of the right size. */
export interface MessageFault {
  readonly code: number
  readonly details: string
}

const prefixBytes = 5
// Memory for an announced length before that much has come. **Units**: bytes.
const firstBytes = 1024 * 1024
const nextBytes = 64 * 1024 * 1024
// Shorter messages come from Node's pool; their tensors are copied. **Units**: bytes.
const minAlignedBytes = 4096
const maxAlignment = 8

/** Joins the pieces so that the end lies at a multiple of 8 bytes: the tensors there can be views. */
export class UnaryMessage {
  isPacked = false
  /** **Units**: bytes. */
  received = 0
  readonly #limit: number
  #prefix = 0
  #length = 0
  #memory: Buffer | undefined

  /** **Units**: bytes. */
  constructor(limit: number) {
    this.#limit = limit
  }

  get hasBegun(): boolean {
    return this.#prefix > 0
  }

  /** Undefined until all of it has come; the bytes are the caller's. */
  get bytes(): Buffer | undefined {
    if (this.received === this.#length) return this.#memory
    return undefined
  }

  /** **Units**: bytes. */
  get memoryBytes(): number {
    return this.#memory?.length ?? 0
  }

  /** Bytes until it is complete, or its length is known. */
  get missing(): number {
    if (this.#prefix < prefixBytes) return prefixBytes - this.#prefix
    return this.#length - this.received
  }

  take(piece: Buffer): MessageFault | undefined {
    let at = 0
    while (this.#prefix < prefixBytes) {
      if (at === piece.length) return undefined
      const byte = piece[at++]
      if (this.#prefix === 0) this.isPacked = byte === 1
      else this.#length = this.#length * 256 + byte
      this.#prefix++
    }
    const end = this.received + piece.length - at
    if (end > this.#length) {
      return {
        code: grpcStatuses.UNIMPLEMENTED.number,
        details: 'expected one message, received more',
      }
    }
    if (this.#memory === undefined && this.#length > this.#limit) {
      const details = `expected a message of at most ${this.#limit} bytes, received ${this.#length}`
      return { code: grpcStatuses.RESOURCE_EXHAUSTED.number, details }
    }
    const memory = this.reserve(end)
    piece.copy(memory, this.received, at)
    this.received = end
    return undefined
  }

  /** Frees its memory; it must get no more pieces. */
  drop(): void {
    this.#memory = undefined
  }

  private reserve(size: number): Buffer {
    const had = this.#memory
    if (had !== undefined && size <= had.length) return had
    const memory = allocate(
      Math.min(
        this.#length,
        had === undefined ? Math.max(firstBytes, size) : Math.max(nextBytes, 4 * size),
      ),
      this.#length,
    )
    had?.copy(memory, 0, 0, this.received)
    this.#memory = memory
    return memory
  }
}

function allocate(size: number, length: number): Buffer {
  if (length < minAlignedBytes) return Buffer.allocUnsafe(size)
  const start = -length & (maxAlignment - 1)
  return Buffer.allocUnsafeSlow(start + size).subarray(start)
}
