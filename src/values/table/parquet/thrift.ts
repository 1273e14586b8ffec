/**
 * Reads structs of Thrift's compact protocol by tables of their fields.
 *
 * @see its specification.
 * @module
 */

/** Types of values, by their number in the compact protocol. A boolean is its type. */
const wire = {
  true: 1,
  false: 2,
  byte: 3,
  i16: 4,
  i32: 5,
  i64: 6,
  double: 7,
  text: 8,
  list: 9,
  set: 10,
  map: 11,
} as const
const structWire = 12

/** A field's type. `union` is the id of the field that a union holds, `place` where an i32 starts. */
export type ThriftType =
  | 'i32'
  | 'i64'
  | 'text'
  | 'union'
  | 'place'
  | ThriftFields
  | readonly [ThriftType]

/** The fields of a struct that are read, by their id. */
export interface ThriftFields {
  readonly [id: number]: ThriftType
}

type Value<T> = T extends 'text'
  ? string
  : T extends string
    ? number
    : T extends readonly [infer Element]
      ? readonly Value<Element>[]
      : T extends ThriftFields
        ? ThriftStruct<T>
        : never

/** A struct by the ids of its fields: names would be looked up for each one that is read. */
export type ThriftStruct<F extends ThriftFields> = {
  readonly [Id in keyof F]?: Value<F[Id]> | undefined
}

/** Thrown for bytes that are not Thrift, or end too soon. */
export class Unreadable extends Error {}

const maxThriftDepth = 16

function isList(type: ThriftType): type is readonly [ThriftType] {
  return Array.isArray(type)
}

function wireOf(type: ThriftType): number {
  if (typeof type !== 'string') return isList(type) ? wire.list : structWire
  if (type === 'place') return wire.i32
  if (type === 'union') return structWire
  return wire[type as keyof typeof wire]
}

const isInteger = (own: number) => own >= wire.i16 && own <= wire.i64

function fits(type: ThriftType, own: number): boolean {
  if (type === 'i32' || type === 'i64') return isInteger(own)
  return own === wireOf(type) || (type === 'place' && isInteger(own))
}

/**
 * Reads structs.
 *
 * @throws {@link Unreadable}, after which the reader is of no use.
 */
export class ThriftReader {
  readonly #bytes: Buffer
  #position = 0
  #depth = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** Reads a struct; skips the fields that `fields` does not name, or that are of another type. */
  read<F extends ThriftFields>(fields: F): ThriftStruct<F> {
    if (++this.#depth > maxThriftDepth) throw new Unreadable()
    const found: unknown[] = []
    let id = 0
    for (let start = this.#byte(); start !== 0; start = this.#byte()) {
      id = this.#idAfter(id, start)
      const own = start & 0x0f
      const type = fields[id]
      if (type !== undefined && fits(type, own)) found[id] = this.#value(type, own)
      else this.#skip(own)
    }
    this.#depth--
    return found as ThriftStruct<F> & unknown[]
  }

  #value(type: ThriftType, own: number): unknown {
    if (isList(type)) {
      const [element] = type
      const { count, own: each } = this.#listStart()
      if (count > 0 && !fits(element, each)) throw new Unreadable()
      const values: unknown[] = []
      // Each element takes a byte at least, so a false count ends at the footer's end.
      for (let i = 0; i < count; i++) values.push(this.#value(element, each))
      return values
    }
    if (typeof type !== 'string') return this.read(type)
    if (type === 'text') return this.#text()
    if (type === 'union') return this.#skipStruct()
    const place = this.#position
    const number = this.#integer(own)
    if (type === 'place') return place
    return number
  }

  /** Skips a struct; returns the id of its last field, 0 without any. */
  #skipStruct(): number {
    if (++this.#depth > maxThriftDepth) throw new Unreadable()
    let id = 0
    for (let start = this.#byte(); start !== 0; start = this.#byte()) {
      id = this.#idAfter(id, start)
      this.#skip(start & 0x0f)
    }
    this.#depth--
    return id
  }

  #idAfter(id: number, start: number): number {
    if (start >> 4 === 0) return this.#signed()
    return id + (start >> 4)
  }

  #skip(own: number, isElement = false): void {
    if (own === wire.byte || (isElement && (own === wire.true || own === wire.false))) this.#byte()
    else if (own === wire.true || own === wire.false) return
    else if (isInteger(own)) this.#integer(own)
    else if (own === wire.double) this.#advance(8)
    else if (own === wire.text) this.#advance(this.#varint())
    else if (own === structWire) this.#skipStruct()
    else if (own === wire.list || own === wire.set) {
      const { count, own: each } = this.#listStart()
      this.#skipAll(count, each)
    } else if (own === wire.map) {
      const count = this.#varint()
      const kinds = count === 0 ? 0 : this.#byte()
      this.#skipAll(count, kinds >> 4, kinds & 0x0f)
    } else throw new Unreadable()
  }

  #skipAll(count: number, ...kinds: readonly number[]): void {
    if (++this.#depth > maxThriftDepth) throw new Unreadable()
    for (let i = 0; i < count; i++) for (const kind of kinds) this.#skip(kind, true)
    this.#depth--
  }

  #listStart() {
    const byte = this.#byte()
    return { count: byte >> 4 === 15 ? this.#varint() : byte >> 4, own: byte & 0x0f }
  }

  #byte(): number {
    this.#advance(1)
    return this.#bytes[this.#position - 1]
  }

  #varint(): number {
    const { value, end } = readVarint(this.#bytes, this.#position)
    if (Number.isNaN(value)) throw new Unreadable()
    this.#position = end
    return value
  }

  /** Readers cut a number that is too large for its type in ways of their own: such a file has no one meaning. */
  #integer(own: number): number {
    const number = this.#signed()
    if (own === wire.i32 && (number | 0) !== number) throw new Unreadable()
    return number
  }

  #signed(): number {
    const value = this.#varint()
    if (value % 2 === 0) return value / 2
    return -(value + 1) / 2
  }

  #text(): string {
    const size = this.#varint()
    this.#advance(size)
    return this.#bytes.toString('utf8', this.#position - size, this.#position)
  }

  #advance(count: number): void {
    this.#position += count
    if (this.#position > this.#bytes.length) throw new Unreadable()
  }
}

const maxVarintBytes = 10

/** @returns an integer with seven bits in each byte, the lowest first, and where it ends; NaN if it has no end. */
export function readVarint(bytes: Uint8Array, start: number) {
  let value = 0
  for (let at = start, scale = 1; at < start + maxVarintBytes; at++, scale *= 128) {
    value += (bytes[at] & 0x7f) * scale
    if (bytes[at] < 0x80) return { value, end: at + 1 }
  }
  return { value: Number.NaN, end: start }
}
