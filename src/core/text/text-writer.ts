/** Text that grows, of strings and of bytes that are text already. @module */

/** A string has at most half a gigabyte: a longer beginning is kept as bytes. **Units**: characters. */
const maxPending = 2 ** 22

/** Writes JSON and CSV. */
export class TextWriter {
  readonly #pieces: Uint8Array[] = []
  #pending = ''
  #bytes = 0

  /** Adds a text, or the bytes of one, which must not change until they are written. */
  add(text: string | Uint8Array): void {
    if (typeof text === 'string') {
      this.#pending += text
      if (this.#pending.length >= maxPending) this.#flush()
      return
    }
    this.#flush()
    this.#push(text)
  }

  /** @returns the text; undefined if a part of it is bytes. */
  get text(): string | undefined {
    if (this.#pieces.length === 0) return this.#pending
    return undefined
  }

  /** **Units**: bytes. */
  get byteLength(): number {
    return this.#bytes + Buffer.byteLength(this.#pending)
  }

  /** Writes the text at the start of memory. */
  writeTo(memory: Buffer): void {
    let at = 0
    for (const piece of this.#pieces) {
      memory.set(piece, at)
      at += piece.length
    }
    memory.write(this.#pending, at)
  }

  /** @returns the text in UTF-8. */
  bytes(): Uint8Array {
    if (this.#pieces.length === 0) return Buffer.from(this.#pending)
    const memory = Buffer.allocUnsafeSlow(this.byteLength)
    this.writeTo(memory)
    return memory
  }

  #flush(): void {
    if (this.#pending !== '') this.#push(Buffer.from(this.#pending))
    this.#pending = ''
  }

  #push(piece: Uint8Array): void {
    this.#pieces.push(piece)
    this.#bytes += piece.length
  }
}
