/** FlatBuffers: a builder, and tables whose every offset is checked before it is followed. @module */
import { Builder, ByteBuffer } from 'flatbuffers'
import { utf8Text } from '../../core/platform.ts'

export type { Builder }

const initialBytes = 4096
let builder = new Builder(initialBytes)

/** @returns an empty builder, lent with the bytes that it makes until the next call. */
export function borrowBuilder(): Builder {
  if (builder.dataBuffer().capacity() > initialBytes * 16) builder = new Builder(initialBytes)
  builder.clear()
  return builder
}

/** Writes a vector of positions in the table. Returns its own position. */
export function addOffsets(out: Builder, positions: readonly number[]): number {
  out.startVector(4, positions.length, 4)
  for (let i = positions.length - 1; i >= 0; i--) out.addOffset(positions[i])
  return out.endVector()
}

/** Writes a vector of integers of 64 bits, from 0 to 2^53, or of structs of `width` of them. Returns its position. */
export function addLongs(out: Builder, values: readonly number[], width = 1): number {
  out.startVector(8 * width, values.length / width, 8)
  for (let i = values.length - 1; i >= 0; i--) {
    out.writeInt32(Math.floor(values[i] / 4294967296))
    out.writeInt32(values[i])
  }
  return out.endVector()
}

/**
 * A table of a finished buffer, read in place.
 *
 * @throws what `fault` makes, for offsets that point outside.
 */
export class FlatTable {
  readonly #buffer: ByteBuffer
  readonly #at: number
  readonly #fault: () => Error

  private constructor(buffer: ByteBuffer, at: number, fault: () => Error) {
    this.#buffer = buffer
    this.#fault = fault
    this.#at = this.#inside(at, 4)
  }

  static root(bytes: Uint8Array, fault: () => Error): FlatTable {
    const buffer = new ByteBuffer(bytes)
    return new FlatTable(buffer, buffer.readUint32(0), fault)
  }

  // What the package reads beyond the buffer is 0, so that only places which are kept need this.
  #inside(at: number, length: number): number {
    if (at >= 0 && length <= this.#buffer.capacity() - at) return at
    throw this.#fault()
  }

  #field(id: number, size: number): number {
    const inTable = this.#buffer.__offset(this.#at, 4 + id * 2)
    if (inTable === 0) return 0
    return this.#inside(this.#at + inTable, size)
  }

  /** @returns a field of one byte; 0 when it is left out, as all numbers. */
  uint8(id: number): number {
    const at = this.#field(id, 1)
    if (at === 0) return 0
    return this.#buffer.readUint8(at)
  }

  /** Writes over an existing field of one byte. */
  putUint8(id: number, value: number): void {
    const at = this.#field(id, 1)
    if (at !== 0) this.#buffer.writeUint8(at, value)
  }

  int16(id: number, missing = 0): number {
    const at = this.#field(id, 2)
    if (at === 0) return missing
    return this.#buffer.readInt16(at)
  }

  int32(id: number): number {
    const at = this.#field(id, 4)
    if (at === 0) return 0
    return this.#buffer.readInt32(at)
  }

  /** @returns a 64-bit integer; beyond 2^53 not exact. */
  long(id: number): number {
    const at = this.#field(id, 8)
    if (at === 0) return 0
    return this.#long(at)
  }

  #long(at: number): number {
    return this.#buffer.readUint32(at) + this.#buffer.readInt32(at + 4) * 4294967296
  }

  table(id: number): FlatTable | undefined {
    const at = this.#field(id, 4)
    if (at === 0) return undefined
    return this.#tableAt(at)
  }

  #tableAt(at: number): FlatTable {
    return new FlatTable(this.#buffer, this.#buffer.__indirect(at), this.#fault)
  }

  /** @returns where the elements of a vector are and how many; zeros when it is left out. */
  #vector(id: number, elementBytes: number) {
    const field = this.#field(id, 4)
    if (field === 0) return { at: 0, count: 0 }
    const count = this.#buffer.__vector_len(field) >>> 0
    return { at: this.#inside(this.#buffer.__vector(field), count * elementBytes), count }
  }

  vector(id: number, elementBytes: number): Uint8Array {
    const { at, count } = this.#vector(id, elementBytes)
    return this.#buffer.bytes().subarray(at, at + count * elementBytes)
  }

  string(id: number): string {
    // The package's own reader would drop a byte order mark.
    return utf8Text(this.vector(id, 1))
  }

  tables(id: number): FlatTable[] {
    const { at, count } = this.#vector(id, 4)
    const tables: FlatTable[] = []
    for (let i = 0; i < count; i++) tables.push(this.#tableAt(at + i * 4))
    return tables
  }

  /** @returns a vector of structs of `width` 64-bit integers, flat. */
  longs(id: number, width = 1): number[] {
    const { at, count } = this.#vector(id, 8 * width)
    const values: number[] = []
    for (let i = 0; i < count * width; i++) values.push(this.#long(at + i * 8))
    return values
  }
}
