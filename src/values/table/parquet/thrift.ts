/** Reads values of Thrift's compact protocol. **Source**: Thrift compact protocol specification. @module */

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

/** Reads values between two positions. **Errors**: {@link Unreadable}, after which the reader is of no use. */
export class ThriftReader {
  readonly #bytes: Uint8Array
  readonly #end: number
  #pos: number
  #depth = 0

  constructor(bytes: Uint8Array, start: number, end: number) {
    this.#bytes = bytes
    this.#pos = start
    this.#end = end
  }

  get position(): number {
    return this.#pos
  }

  byte(): number {
    if (this.#pos >= this.#end) throw new Unreadable()
    return this.#bytes[this.#pos++]
  }

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

  signed(): number {
    const value = this.varint()
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }

  /** Calls `field` with the id and the type of each field; it must read or skip the value. */
  struct(field: (id: number, type: number) => void): void {
    if (++this.#depth > maxThriftDepth) throw new Unreadable()
    let id = 0
    for (let start = this.byte(); start !== 0; start = this.byte()) {
      id = start >> 4 === 0 ? this.signed() : id + (start >> 4)
      field(id, start & 0x0f)
    }
    this.#depth--
  }

  /** Reads a struct's integers and booleans of some ids, -1 if absent. `other` reads a value, or returns false. */
  numbers(ids: readonly number[], other?: (id: number, type: number) => boolean): number[] {
    const numbers: number[] = new Array(ids.length).fill(-1)
    this.struct((id, type) => {
      const at = ids.indexOf(id)
      if (at !== -1 && type <= thriftTypes.false) numbers[at] = type === thriftTypes.true ? 1 : 0
      else if (at !== -1 && type >= thriftTypes.i16 && type <= thriftTypes.i64) numbers[at] = this.signed()
      else if (other?.(id, type) !== true) this.skip(type)
    })
    return numbers
  }

  /** Calls `element` for each element of a list of a type; it must read or skip the value. */
  list(element: () => void, type: number = thriftTypes.struct): void {
    const { count, type: own } = this.#listStart()
    if (own !== type) throw new Unreadable()
    // Each element takes a byte at least, so a false count ends at the footer's end.
    for (let i = 0; i < count; i++) element()
  }

  skip(type: number, isElement = false): void {
    switch (type) {
      case thriftTypes.true:
      case thriftTypes.false:
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
        const { count, type: own } = this.#listStart()
        this.#skipAll(count, own)
        return
      }
      case thriftTypes.map: {
        const count = this.varint()
        if (count === 0) return
        const kinds = this.byte()
        this.#skipAll(count, kinds >> 4, kinds & 0x0f)
        return
      }
      case thriftTypes.struct:
        this.struct((_, kind) => this.skip(kind))
        return
      default:
        throw new Unreadable()
    }
  }

  text(): string {
    const size = this.varint()
    this.#advance(size)
    return Buffer.from(this.#bytes.subarray(this.#pos - size, this.#pos)).toString()
  }

  #listStart(): { readonly count: number; readonly type: number } {
    const byte = this.byte()
    return { count: byte >> 4 === 15 ? this.varint() : byte >> 4, type: byte & 0x0f }
  }

  #skipAll(count: number, ...types: readonly number[]): void {
    if (++this.#depth > maxThriftDepth) throw new Unreadable()
    for (let i = 0; i < count; i++) for (const type of types) this.skip(type, true)
    this.#depth--
  }

  #advance(count: number): void {
    this.#pos += count
    if (this.#pos > this.#end) throw new Unreadable()
  }
}
