/**
 * The little of FlatBuffers that Arrow's metadata needs. Source: flatbuffers.dev, "FlatBuffer Internals".
 * @module
 */

/** Builds a buffer from its end to its start, as the format asks for: what is pointed to is written first. */
export class FlatBuilder {
  // Of Node's pool: memory of its own costs as much as all that is written into it. Grown, it has its own.
  #bytes: Uint8Array = Buffer.allocUnsafe(512).fill(0)
  #view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.length)
  /** Bytes used, counted from the end; the position of everything written. */
  #used = 0
  #fields: number[] = []
  #tableEnd = 0

  /** Room for `size` bytes such that, `after` more bytes later, the position is a multiple of `align`. */
  #reserve(size: number, align: number, after = 0): number {
    const pad = (align - ((this.#used + size + after) % align)) % align
    const need = this.#used + size + pad
    if (need > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(this.#bytes.length * 2, need))
      grown.set(this.#bytes, grown.length - this.#bytes.length)
      this.#bytes = grown
      this.#view = new DataView(grown.buffer)
    }
    this.#used = need
    return this.#bytes.length - need
  }

  /** A string. Answers its position. */
  string(bytes: Uint8Array): number {
    // Length, bytes and a closing zero; the length is what must be aligned.
    const at = this.#reserve(4 + bytes.length + 1, 4)
    this.#view.setUint32(at, bytes.length, true)
    this.#bytes.set(bytes, at + 4)
    return this.#used
  }

  /** A vector of positions. */
  vector(positions: readonly number[]): number {
    const at = this.#reserve(4 + positions.length * 4, 4)
    this.#view.setUint32(at, positions.length, true)
    for (let i = 0; i < positions.length; i++) {
      const place = at + 4 + i * 4
      this.#view.setUint32(place, this.#bytes.length - place - positions[i], true)
    }
    return this.#used
  }

  /** A vector of structs that consist of 64-bit integers, flat; `width` integers each. */
  longs(values: readonly number[], width: number): number {
    const at = this.#reserve(4 + values.length * 8, 8, 4) + 4
    // #reserve aligned the place after the length, which is where the structs start.
    this.#view.setUint32(at - 4, values.length / width, true)
    for (let i = 0; i < values.length; i++) this.#setLong(at + i * 8, values[i])
    return this.#used
  }

  /** A 64-bit integer from 0 to 2^53, in halves: a bigint for each costs more than all the rest. */
  #setLong(at: number, value: number): void {
    this.#view.setUint32(at, value >>> 0, true)
    this.#view.setUint32(at + 4, Math.floor(value / 4294967296), true)
  }

  /** Starts a table; its fields follow, larger ones first. */
  startTable(): void {
    this.#fields = []
    this.#tableEnd = this.#used
  }

  /** Field `id` is the thing at a position. */
  offset(id: number, position: number): void {
    const at = this.#reserve(4, 4)
    this.#view.setUint32(at, this.#used - position, true)
    this.#fields[id] = this.#used
  }

  /** Field `id` is an integer of 1, 2, 4 or 8 bytes. */
  scalar(id: number, value: number, size: 1 | 2 | 4 | 8): void {
    const at = this.#reserve(size, size)
    if (size === 1) this.#view.setUint8(at, value)
    else if (size === 2) this.#view.setInt16(at, value, true)
    else if (size === 4) this.#view.setInt32(at, value, true)
    else this.#setLong(at, value)
    this.#fields[id] = this.#used
  }

  /** Ends the table. Answers its position. */
  endTable(): number {
    this.#reserve(4, 4)
    const position = this.#used
    const count = this.#fields.length
    const at = this.#reserve(4 + count * 2, 2)
    this.#view.setInt16(at, 4 + count * 2, true)
    this.#view.setInt16(at + 2, position - this.#tableEnd, true)
    for (let i = 0; i < count; i++) {
      const field = this.#fields[i]
      this.#view.setInt16(at + 4 + i * 2, field === undefined ? 0 : position - field, true)
    }
    // By its position, since the buffer may have grown in between.
    this.#view.setInt32(this.#bytes.length - position, this.#used - position, true)
    return position
  }

  /** The finished buffer, a multiple of 8 bytes long. */
  finish(root: number): Uint8Array {
    const at = this.#reserve(4, 8)
    this.#view.setUint32(at, this.#used - root, true)
    return this.#bytes.subarray(at)
  }
}

/** A table of a finished buffer, read in place. For buffers that we or Polars wrote, not for a client's. */
export class FlatTable {
  readonly #view: DataView
  readonly #at: number
  readonly #vtable: number
  readonly #vtableSize: number

  private constructor(view: DataView, at: number) {
    this.#view = view
    this.#at = at
    this.#vtable = at - view.getInt32(at, true)
    this.#vtableSize = view.getUint16(this.#vtable, true)
  }

  /** The root table of a buffer. */
  static root(bytes: Uint8Array): FlatTable {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    return new FlatTable(view, view.getUint32(0, true))
  }

  #field(id: number): number {
    const slot = 4 + id * 2
    const relative = slot < this.#vtableSize ? this.#view.getUint16(this.#vtable + slot, true) : 0
    return relative === 0 ? 0 : this.#at + relative
  }

  /** An integer field of 1, 2, 4 or 8 bytes; 0 when it is left out. */
  scalar(id: number, size: 1 | 2 | 4 | 8): number {
    const at = this.#field(id)
    if (at === 0) return 0
    if (size === 1) return this.#view.getUint8(at)
    if (size === 2) return this.#view.getInt16(at, true)
    return size === 4 ? this.#view.getInt32(at, true) : this.#long(at)
  }

  #long(at: number): number {
    return this.#view.getUint32(at, true) + this.#view.getInt32(at + 4, true) * 4294967296
  }

  #target(id: number): number {
    const at = this.#field(id)
    return at === 0 ? 0 : at + this.#view.getUint32(at, true)
  }

  /** A table field. */
  table(id: number): FlatTable | undefined {
    const at = this.#target(id)
    return at === 0 ? undefined : new FlatTable(this.#view, at)
  }

  /** A string field. */
  string(id: number): string {
    const at = this.#target(id)
    if (at === 0) return ''
    const length = this.#view.getUint32(at, true)
    return Buffer.from(this.#view.buffer, this.#view.byteOffset + at + 4, length).toString()
  }

  /** A vector of tables. */
  tables(id: number): FlatTable[] {
    const at = this.#target(id)
    const count = at === 0 ? 0 : this.#view.getUint32(at, true)
    return Array.from({ length: count }, (_, i) => {
      const place = at + 4 + i * 4
      return new FlatTable(this.#view, place + this.#view.getUint32(place, true))
    })
  }

  /** A vector of structs of 64-bit integers, flat. */
  longs(id: number, width: number): number[] {
    const at = this.#target(id)
    const count = at === 0 ? 0 : this.#view.getUint32(at, true) * width
    const values = new Array<number>(count)
    for (let i = 0; i < count; i++) values[i] = this.#long(at + 4 + i * 8)
    return values
  }
}
