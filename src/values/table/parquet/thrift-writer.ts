/** Writes values of Thrift's compact protocol. **Source**: Thrift compact protocol specification. @module */
import { GrowableBytes } from '../../../core/memory/growable-bytes.ts'
import { thriftTypes } from './thrift.ts'

const maxVarint = 10

/** Writes fields and structs one after another; the ids of a struct's fields ascend. */
export class ThriftWriter {
  readonly #out = new GrowableBytes(Buffer.allocUnsafe(1024))
  readonly #open: number[] = []
  #last = 0

  get bytes(): Uint8Array {
    return this.#out.bytes
  }

  integer(id: number, value: number, type: number = thriftTypes.i32): void {
    this.#fieldHeader(id, type)
    this.#varint(value * 2)
  }

  byte(id: number, value: number): void {
    this.#fieldHeader(id, thriftTypes.byte)
    this.#byte(value)
  }

  flag(id: number, value: boolean): void {
    this.#fieldHeader(id, value ? thriftTypes.true : thriftTypes.false)
  }

  text(id: number, text: string): void {
    this.#fieldHeader(id, thriftTypes.binary)
    this.#text(text)
  }

  struct(id: number, fields: () => void): void {
    this.#fieldHeader(id, thriftTypes.struct)
    this.#begin()
    fields()
    this.end()
  }

  #begin(): void {
    this.#open.push(this.#last)
    this.#last = 0
  }

  end(): void {
    this.#byte(0)
    this.#last = this.#open.pop() ?? 0
  }

  structs<T>(id: number, items: readonly T[], write: (item: T) => void): void {
    this.#list(id, items.length, thriftTypes.struct)
    for (const item of items) {
      this.#begin()
      write(item)
      this.end()
    }
  }

  integers(id: number, items: readonly number[]): void {
    this.#list(id, items.length, thriftTypes.i32)
    for (const item of items) this.#varint(item * 2)
  }

  texts(id: number, items: readonly string[]): void {
    this.#list(id, items.length, thriftTypes.binary)
    for (const item of items) this.#text(item)
  }

  #byte(value: number): void {
    this.#out.reserve(1)
    this.#out.buffer[this.#out.length++] = value
  }

  #fieldHeader(id: number, type: number): void {
    this.#byte(((id - this.#last) << 4) | type)
    this.#last = id
  }

  #list(id: number, count: number, type: number): void {
    this.#fieldHeader(id, thriftTypes.list)
    if (count < 15) this.#byte((count << 4) | type)
    else {
      this.#byte(0xf0 | type)
      this.#varint(count)
    }
  }

  #varint(value: number): void {
    const out = this.#out
    out.reserve(maxVarint)
    let rest = value
    for (; rest > 0x7f; rest = Math.floor(rest / 128)) out.buffer[out.length++] = (rest % 128) | 0x80
    out.buffer[out.length++] = rest
  }

  #text(text: string): void {
    const size = Buffer.byteLength(text)
    this.#varint(size)
    this.#out.reserve(size)
    this.#out.length += this.#out.buffer.write(text, this.#out.length)
  }
}
