/**
 * Values of Thrift's compact protocol, read one after another. **Source**: Thrift compact protocol specification.
 * @module
 */

/** Types by their number in the compact protocol. */
export const thriftTypes = {
  true: 1,
  false: 2,
  byte: 3,
  i16: 4,
  i32: 5,
  i64: 6,
  double: 7,
  binary: 8,
  list: 9,
  set: 10,
  map: 11,
  struct: 12,
} as const

/** Thrown for bytes that are not Thrift, or end too soon. */
export class Unreadable extends Error {}

const maxThriftDepth = 16

/** Reads values between two places. **Errors**: {@link Unreadable}. */
export class ThriftReader {
  readonly #bytes: Uint8Array
  readonly #end: number
  #pos: number

  constructor(bytes: Uint8Array, start: number, end: number) {
    this.#bytes = bytes
    this.#pos = start
    this.#end = end
  }

  /** Where the next byte is. */
  get position(): number {
    return this.#pos
  }

  /** Reads the next byte. */
  byte(): number {
    if (this.#pos >= this.#end) throw new Unreadable()
    return this.#bytes[this.#pos++]
  }

  /** Reads an unsigned integer; digits beyond 2^53 are lost. */
  varint(): number {
    let value = 0
    let scale = 1
    for (let i = 0; i < 10; i++) {
      const byte = this.byte()
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
      scale *= 128
    }
    throw new Unreadable()
  }

  /** Reads a signed integer of any width. */
  signed(): number {
    const value = this.varint()
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }

  /** Calls `field` with the id and the type of each field; it must read or skip the value. */
  struct(field: (id: number, type: number) => void, depth: number): void {
    if (depth > maxThriftDepth) throw new Unreadable()
    let id = 0
    for (;;) {
      const head = this.byte()
      if (head === 0) return
      id = head >> 4 === 0 ? this.signed() : id + (head >> 4)
      field(id, head & 0x0f)
    }
  }

  /** Calls `element` for each element of a list of a type; it must read or skip the value. */
  list(element: () => void, type: number = thriftTypes.struct): void {
    const head = this.byte()
    if ((head & 0x0f) !== type) throw new Unreadable()
    const count = head >> 4 === 15 ? this.varint() : head >> 4
    // Each element takes a byte at least, so a false count ends at the footer's end.
    for (let i = 0; i < count; i++) element()
  }

  /** Skips a value. */
  skip(type: number, depth: number, isElement = false): void {
    if (depth > maxThriftDepth) throw new Unreadable()
    switch (type) {
      case thriftTypes.true:
      case thriftTypes.false:
        // In a field the type is the value; in a list each value is a byte.
        if (isElement) this.byte()
        return
      case thriftTypes.byte:
        this.byte()
        return
      case thriftTypes.i16:
      case thriftTypes.i32:
      case thriftTypes.i64:
        this.varint()
        return
      case thriftTypes.double:
        this.#advance(8)
        return
      case thriftTypes.binary:
        this.#advance(this.varint())
        return
      case thriftTypes.list:
      case thriftTypes.set: {
        const head = this.byte()
        const count = head >> 4 === 15 ? this.varint() : head >> 4
        for (let i = 0; i < count; i++) this.skip(head & 0x0f, depth + 1, true)
        return
      }
      case thriftTypes.map: {
        const count = this.varint()
        if (count === 0) return
        const kinds = this.byte()
        for (let i = 0; i < count; i++) {
          this.skip(kinds >> 4, depth + 1, true)
          this.skip(kinds & 0x0f, depth + 1, true)
        }
        return
      }
      case thriftTypes.struct:
        this.struct((_, kind) => this.skip(kind, depth + 1), depth + 1)
        return
      default:
        throw new Unreadable()
    }
  }

  /** Reads UTF-8 text. */
  text(): string {
    const size = this.varint()
    this.#advance(size)
    return Buffer.from(this.#bytes.subarray(this.#pos - size, this.#pos)).toString()
  }

  #advance(count: number): void {
    this.#pos += count
    if (this.#pos > this.#end) throw new Unreadable()
  }
}
