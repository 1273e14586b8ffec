/**
 * Writes values of Thrift's compact protocol. **Source**: Thrift compact protocol specification.
 * @module
 */
import { thriftTypes } from './thrift.ts'

/** Writes fields and structs one after another; the ids of a struct's fields ascend. */
export class ThriftWriter {
  readonly #bytes: number[] = []
  readonly #open: number[] = []
  #last = 0

  /** Returns what has been written. */
  get bytes(): Uint8Array {
    return Uint8Array.from(this.#bytes)
  }

  /** Writes an integer of 16 to 64 bits, which all have one form. */
  integer(id: number, value: number, type: number = thriftTypes.i32): void {
    this.#fieldHeader(id, type)
    this.#varint(value * 2)
  }

  /** Writes an integer of 8 bits. */
  byte(id: number, value: number): void {
    this.#fieldHeader(id, thriftTypes.byte)
    this.#bytes.push(value)
  }

  /** Writes a boolean. */
  flag(id: number, value: boolean): void {
    this.#fieldHeader(id, value ? thriftTypes.true : thriftTypes.false)
  }

  /** Writes text. */
  text(id: number, text: string): void {
    this.#fieldHeader(id, thriftTypes.binary)
    this.#text(text)
  }

  /** Writes a struct. */
  struct(id: number, fields: () => void): void {
    this.#fieldHeader(id, thriftTypes.struct)
    this.fields(fields)
  }

  /** Writes the fields of a struct that is not itself a field. */
  fields(fields: () => void): void {
    this.#open.push(this.#last)
    this.#last = 0
    fields()
    this.#bytes.push(0)
    this.#last = this.#open.pop() as number
  }

  /** Writes a list of structs, each by a call of `write`. */
  structs<T>(id: number, items: readonly T[], write: (item: T) => void): void {
    this.#list(id, items.length, thriftTypes.struct)
    for (const item of items) this.fields(() => write(item))
  }

  /** Writes a list of integers. */
  integers(id: number, items: readonly number[]): void {
    this.#list(id, items.length, thriftTypes.i32)
    for (const item of items) this.#varint(item * 2)
  }

  /** Writes a list of texts. */
  texts(id: number, items: readonly string[]): void {
    this.#list(id, items.length, thriftTypes.binary)
    for (const item of items) this.#text(item)
  }

  #fieldHeader(id: number, type: number): void {
    this.#bytes.push(((id - this.#last) << 4) | type)
    this.#last = id
  }

  #list(id: number, count: number, type: number): void {
    this.#fieldHeader(id, thriftTypes.list)
    if (count < 15) this.#bytes.push((count << 4) | type)
    else {
      this.#bytes.push(0xf0 | type)
      this.#varint(count)
    }
  }

  #varint(value: number): void {
    let rest = value
    for (; rest > 0x7f; rest = Math.floor(rest / 128)) this.#bytes.push((rest % 128) | 0x80)
    this.#bytes.push(rest)
  }

  #text(text: string): void {
    const bytes = Buffer.from(text)
    this.#varint(bytes.length)
    for (const byte of bytes) this.#bytes.push(byte)
  }
}
