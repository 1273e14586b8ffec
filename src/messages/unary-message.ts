/**
 * A message of one side of a gRPC call, from its frames.
 *
 * **Source**: gRPC over HTTP/2 (PROTOCOL-HTTP2.md): a message is a byte that is 1 where it is compressed, its length in
 * 32 bits, and its bytes.
 * @module
 */
import { grpcStatusNumbers } from './rpc-error.ts'

/** A status for what is not one message of the right size. */
export interface MessageFault {
  readonly code: number
  readonly details: string
}

const prefixBytes = 5
// Memory for an announced length before that much has come, and once this much has. **Units**: bytes.
const firstBytes = 1024 * 1024
const nextBytes = 64 * 1024 * 1024
// Shorter messages come from Node's shared pool; their tensors are copied. **Units**: bytes.
const minAlignedBytes = 4096
const maxAlignment = 8

/**
 * Copies the pieces of a message to where it ends at a multiple of 8 bytes: the elements of a
 * tensor are its end, and can be views.
 *
 * **Cost**: one copy up to 1 MiB, from memory that the socket has just written. Above, the first MiB is copied again,
 * so that a false length costs no more.
 */
export class UnaryMessage {
  /** Whether the message says that it is compressed. */
  isPacked = false
  readonly #limit: number
  #prefix = 0
  #length = 0
  #memory: Buffer | undefined
  #filled = 0

  /** `limit`: the longest message. **Units**: bytes. */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** The message, once all of it has come; the bytes are the caller's. */
  get bytes(): Buffer | undefined {
    return this.#filled === this.#length ? this.#memory : undefined
  }

  /** Memory that it takes so far. **Units**: bytes. */
  get memoryBytes(): number {
    return this.#memory?.length ?? 0
  }

  /** How much of it has come. **Units**: bytes. */
  get received(): number {
    return this.#filled
  }

  /** How much it still needs to be complete, or until its length is known. **Units**: bytes. */
  get missing(): number {
    return this.#prefix < prefixBytes ? prefixBytes - this.#prefix : this.#length - this.#filled
  }

  /** Takes a piece; returns the status of what cannot be right any more. */
  take(piece: Buffer): MessageFault | undefined {
    let at = 0
    while (this.#prefix < prefixBytes) {
      if (at === piece.length) return undefined
      const byte = piece[at++]
      if (this.#prefix === 0) this.isPacked = byte === 1
      else this.#length = this.#length * 256 + byte
      this.#prefix++
    }
    const end = this.#filled + piece.length - at
    if (end > this.#length) {
      return { code: grpcStatusNumbers.UNIMPLEMENTED, details: 'expected one message, received more' }
    }
    if (this.#memory === undefined && this.#length > this.#limit) {
      const details = `expected a message of at most ${this.#limit} bytes, received ${this.#length}`
      return { code: grpcStatusNumbers.RESOURCE_EXHAUSTED, details }
    }
    const memory = this.#reserve(end)
    piece.copy(memory, this.#filled, at)
    this.#filled = end
    return undefined
  }

  /** Frees its memory, where the bytes were taken or nobody wants them; it must get no more pieces. */
  drop(): void {
    this.#memory = undefined
  }

  #reserve(size: number): Buffer {
    const had = this.#memory
    if (had !== undefined && size <= had.length) return had
    const memory = allocate(
      Math.min(this.#length, had === undefined ? Math.max(firstBytes, size) : Math.max(nextBytes, 4 * size)),
      this.#length,
    )
    had?.copy(memory, 0, 0, this.#filled)
    this.#memory = memory
    return memory
  }
}

/** Returns memory for the first `size` bytes of a message of that length. */
function allocate(size: number, length: number): Buffer {
  if (length < minAlignedBytes) return Buffer.allocUnsafe(size)
  const start = -length & (maxAlignment - 1)
  return Buffer.allocUnsafeSlow(start + size).subarray(start)
}
