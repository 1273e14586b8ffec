/**
 * Repeated numbers of a protobuf message ⇄ typed arrays.
 *
 * **Cost**: fixed-width numbers are copied as bytes, varints are read into place; no array of JavaScript numbers in between.
 * 1M floats, decoded and encoded: see bench/micro/packed.ts.
 * @module
 */
import { endianness } from 'node:os'
import { type ProtoReader, wireType } from './proto-reader.ts'
import type { ProtoWriter } from './proto-writer.ts'

/** Kinds of packed numbers, by the typed array that holds them; a bool is a byte 0 or 1. */
export interface PackedData {
  float: Float32Array
  double: Float64Array
  bool: Uint8Array
  int32: Int32Array
  uint32: Uint32Array
  int64: BigInt64Array
  uint64: BigUint64Array
}

/** Name of a kind of packed numbers. */
export type PackedKind = keyof PackedData

type AnyPacked = PackedData[PackedKind]

interface PackedConstructor {
  readonly BYTES_PER_ELEMENT: number
  new (length: number): AnyPacked
  new (buffer: ArrayBufferLike): AnyPacked
}

const constructors: Readonly<Record<PackedKind, PackedConstructor>> = {
  float: Float32Array,
  double: Float64Array,
  bool: Uint8Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int64: BigInt64Array,
  uint64: BigUint64Array,
}

if (endianness() !== 'LE')
  throw new Error('serving needs a little-endian processor: numbers are copied as they lie in memory')

/** Elements of one repeated field as they come: packed, one by one, or both, as parsers must accept. */
export class PackedList<K extends PackedKind> {
  readonly kind: K
  #data: AnyPacked
  #length = 0

  constructor(kind: K) {
    this.kind = kind
    this.#data = new constructors[kind](0)
  }

  /** Takes the field that the reader stands on. False: of another wire type, and not taken. */
  take(reader: ProtoReader): boolean {
    const { kind } = this
    const fixed = kind === 'float' ? 4 : kind === 'double' ? 8 : 0
    const single = fixed === 4 ? wireType.fixed32 : fixed === 8 ? wireType.fixed64 : wireType.varint
    if (reader.is(wireType.bytes)) {
      const packed = reader.message()
      if (fixed > 0) this.#takeFixed(packed, packed.end - packed.at, fixed)
      else this.#takeVarints(packed, countVarints(packed))
      return true
    }
    if (!reader.is(single)) return false
    if (fixed > 0) this.#takeFixed(reader, fixed, fixed)
    else this.#takeVarints(reader, 1)
    return true
  }

  /** The elements; the array is the caller's. */
  finish(): PackedData[K] {
    const data = this.#data
    return (data.length === this.#length ? data : data.slice(0, this.#length)) as PackedData[K]
  }

  #takeFixed(reader: ProtoReader, byteLength: number, size: number): void {
    if (byteLength % size !== 0) throw reader.fault(`packed numbers of ${size} bytes each`)
    if (byteLength > reader.end - reader.at) throw reader.fault(`${byteLength} more bytes`)
    const first = this.#grow(byteLength / size)
    new Uint8Array(this.#data.buffer).set(reader.bytes.subarray(reader.at, reader.at + byteLength), first * size)
    reader.at += byteLength
  }

  #takeVarints(reader: ProtoReader, count: number): void {
    const at = this.#grow(count)
    const data = this.#data
    if (this.kind === 'bool') for (let i = 0; i < count; i++) data[at + i] = reader.bool() ? 1 : 0
    else if (data instanceof Int32Array || data instanceof Uint32Array) readVarints32(reader, data, at, count)
    else readVarints64(reader, new Uint32Array(data.buffer), at, count)
  }

  /** Room for more elements; answers the place of the first. */
  #grow(count: number): number {
    const at = this.#length
    this.#length += count
    if (this.#length > this.#data.length) {
      // The first piece is nearly always all there is, so it gets just its size.
      const grown = allocate(this.kind, at === 0 ? count : Math.max(this.#length, at * 2))
      if (at > 0) (grown as Uint8Array).set(this.#data as Uint8Array)
      this.#data = grown
    }
    return at
  }
}

/** Elements that are written before they are read: not zeroed first, which takes as long as copying them in. */
function allocate(kind: PackedKind, length: number): AnyPacked {
  const constructor = constructors[kind]
  const bytes = length * constructor.BYTES_PER_ELEMENT
  return bytes < 4096 ? new constructor(length) : new constructor(Buffer.allocUnsafeSlow(bytes).buffer)
}

/** How many varints a piece holds: their last bytes are those below 0x80. */
function countVarints({ bytes, at, end }: ProtoReader): number {
  let count = 0
  for (let i = at; i < end; i++) count += bytes[i] < 0x80 ? 1 : 0
  return count
}

function readVarints32(reader: ProtoReader, data: Int32Array | Uint32Array, at: number, count: number): void {
  const { bytes, end } = reader
  const last = at + count
  let place = reader.at
  for (let i = at; i < last; i++) {
    // One and two bytes here, as most numbers have; anything longer, and the end, the checked way.
    if (place + 1 < end) {
      const low = bytes[place]
      if (low < 0x80) {
        data[i] = low
        place++
        continue
      }
      const high = bytes[place + 1]
      if (high < 0x80) {
        data[i] = (low & 0x7f) | (high << 7)
        place += 2
        continue
      }
    }
    reader.at = place
    data[i] = reader.uint32()
    place = reader.at
  }
  reader.at = place
  checkUsed(reader)
}

function readVarints64(reader: ProtoReader, halves: Uint32Array, at: number, count: number): void {
  const { bytes, end } = reader
  let place = reader.at
  for (let i = at; i < at + count; i++) {
    let low = 0
    let high = 0
    let shift = 0
    for (;;) {
      if (place >= end || shift > 63) {
        reader.at = place
        throw reader.fault('a number of at most 10 bytes')
      }
      const byte = bytes[place++]
      const bits = byte & 0x7f
      if (shift < 28) low |= bits << shift
      else if (shift === 28) {
        low |= bits << 28
        high |= bits >>> 4
      } else high |= bits << (shift - 32)
      shift += 7
      if (byte < 0x80) break
    }
    halves[i * 2] = low
    halves[i * 2 + 1] = high
  }
  reader.at = place
  checkUsed(reader)
}

/** A piece whose last varint is cut off holds fewer numbers than its bytes. Single fields end elsewhere. */
function checkUsed(reader: ProtoReader): void {
  if (reader.field === 0 && reader.at !== reader.end) throw reader.fault('complete packed numbers')
}

/** Numbers become a packed field; nothing is written for none. */
export function writePacked(
  writer: ProtoWriter,
  field: number,
  kind: PackedKind,
  data: AnyPacked | readonly unknown[],
): void {
  if (data.length === 0) return
  const typed = ArrayBuffer.isView(data) ? data : fill(kind, data)
  writer.tag(field, wireType.bytes)
  if (kind === 'float' || kind === 'double' || kind === 'bool') {
    writer.uint32(typed.byteLength)
    writer.raw(new Uint8Array(typed.buffer, typed.byteOffset, typed.byteLength))
    return
  }
  writer.delimited(typed.byteLength, () => {
    if (kind === 'int32' || kind === 'uint32') writer.varints32(typed as Int32Array)
    else writer.varints64(new Uint32Array(typed.buffer, typed.byteOffset, typed.length * 2))
  })
}

/** A list that somebody wrote by hand becomes the typed array that the wire has. */
function fill(kind: PackedKind, list: readonly unknown[]): AnyPacked {
  const data = new constructors[kind](list.length)
  const isBig = kind === 'int64' || kind === 'uint64'
  for (let i = 0; i < list.length; i++) {
    const value = list[i]
    data[i] = (isBig ? BigInt(value as number) : Number(value)) as never
  }
  return data
}
