/**
 * Repeated numbers of a protobuf message ⇄ typed arrays.
 *
 * **Cost**: fixed-width numbers are copied as bytes, varints are read into place; no array of JavaScript numbers in between.
 * 1M floats, decoded and encoded: see bench/micro/packed.ts.
 * @module
 */
import { endianness } from 'node:os'
import { moveToAligned } from './move-to-aligned.ts'
import { type ProtoReader, type ProtoWriter, wireType } from './protobuf.ts'

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
  new (buffer: ArrayBufferLike, byteOffset?: number, length?: number): AnyPacked
}

// Below this a copy costs no more than the view, and keeps no message in memory.
const viewFromBytes = 4096
// Words that are written before there is room for more.
const block = 4096

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
  readonly #fixedBytes: number
  #data: AnyPacked
  #length = 0

  constructor(kind: K) {
    this.kind = kind
    this.#fixedBytes = kind === 'float' ? 4 : kind === 'double' ? 8 : 0
    this.#data = new constructors[kind](0)
  }

  /** Takes the field that the reader stands on. False: of another wire type, and not taken. */
  take(reader: ProtoReader): boolean {
    const size = this.#fixedBytes
    if (reader.is(wireType.bytes)) {
      if (size > 0) this.#takeFixed(reader, size)
      else reader.message(() => this.#takeVarints(reader))
      return true
    }
    if (!reader.is(size === 4 ? wireType.fixed32 : size === 8 ? wireType.fixed64 : wireType.varint)) return false
    this.#takeOne(reader)
    return true
  }

  /** The elements; the array is the caller's. */
  finish(): PackedData[K] {
    const data = this.#data
    return (data.length === this.#length ? data : data.slice(0, this.#length)) as PackedData[K]
  }

  #takeFixed(reader: ProtoReader, size: number): void {
    const start = reader.pos
    const end = reader.extent()
    if ((end - reader.pos) % size !== 0) throw reader.fault(`packed numbers of ${size} bytes each`)
    // The tag and the length in front of the numbers were read, and may be written over.
    const bytes = moveToAligned(reader.raw(reader.pos, end), size, reader.pos - start + 1)
    reader.pos = end
    const count = bytes.length / size
    if (this.#length === 0 && bytes.length >= viewFromBytes && bytes.byteOffset % size === 0) {
      this.#data = new constructors[this.kind](bytes.buffer, bytes.byteOffset, count)
      this.#length = count
      return
    }
    const first = this.#grow(count)
    bytesOf(this.#data).set(bytes, first * size)
  }

  #takeVarints(reader: ProtoReader): void {
    const count = countVarints(reader)
    const at = this.#grow(count)
    if (this.kind === 'bool') for (let i = 0; i < count; i++) this.#data[at + i] = reader.bool() ? 1 : 0
    else readVarints(reader, new Int32Array(this.#data.buffer), at, count, this.#data.BYTES_PER_ELEMENT === 8)
    if (reader.pos !== reader.len) throw reader.fault('complete packed numbers')
  }

  #takeOne(reader: ProtoReader): void {
    const at = this.#grow(1)
    const data = this.#data
    if (data instanceof Float32Array) data[at] = reader.float()
    else if (data instanceof Float64Array) data[at] = reader.double()
    else if (data instanceof Uint8Array) data[at] = reader.bool() ? 1 : 0
    else if (data instanceof Int32Array || data instanceof Uint32Array) data[at] = reader.uint32()
    else {
      const { low, high } = reader.uint64()
      new Int32Array(data.buffer).set([low, high], at * 2)
    }
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

function bytesOf(data: AnyPacked): Uint8Array {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
}

/** How many varints there are to the end of the message: their last bytes are those below 0x80. */
function countVarints({ buf, pos, len }: ProtoReader): number {
  let count = 0
  for (let i = pos; i < len; i++) count += buf[i] < 0x80 ? 1 : 0
  return count
}

/**
 * Reads so many varints, each of which has an end within the message, into 32-bit words: two for each where they are `wide`, low
 * and high.
 */
function readVarints(reader: ProtoReader, words: Int32Array, first: number, count: number, wide: boolean): void {
  const { buf } = reader
  let { pos } = reader
  const end = (first + count) * (wide ? 2 : 1)
  for (let word = first * (wide ? 2 : 1); word < end; word++) {
    let byte = buf[pos++]
    let low = byte & 0x7f
    let high = 0
    if (byte > 0x7f) {
      // Bits above the 32nd fall off.
      for (let shift = 7; byte > 0x7f && shift < 35; shift += 7) {
        byte = buf[pos++]
        low |= (byte & 0x7f) << shift
        if (shift === 28) high = (byte & 0x7f) >> 4
      }
      for (let shift = 3; byte > 0x7f; shift += 7) {
        if (shift > 31) {
          reader.pos = pos
          throw reader.fault('a number of at most 10 bytes')
        }
        byte = buf[pos++]
        high |= (byte & 0x7f) << shift
      }
    }
    words[word] = low
    if (wide) words[++word] = high
  }
  reader.pos = pos
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
    writer.bytes(bytesOf(typed))
    return
  }
  writer.fork()
  const words = new Int32Array(typed.buffer, typed.byteOffset, typed.byteLength / 4)
  writeVarints(writer, words, kind === 'int64' || kind === 'uint64', kind === 'int32')
  writer.ldelim()
}

/** Writes 32-bit words as varints: one for each, or for each two, low and high, where they are `wide`. */
function writeVarints(writer: ProtoWriter, words: Int32Array, wide: boolean, signed: boolean): void {
  for (let from = 0; from < words.length; from += block) {
    const to = Math.min(from + block, words.length)
    writer.reserve((to - from) * (wide ? 5 : 10))
    const { buf } = writer
    let { pos } = writer
    for (let i = from; i < to; i++) {
      let low = words[i]
      // Negative numbers of 32 bits travel as those of 64: ten bytes.
      let high = wide ? words[++i] : signed ? low >> 31 : 0
      while (high !== 0) {
        buf[pos++] = low | 0x80
        low = (low >>> 7) | (high << 25)
        high >>>= 7
      }
      while ((low & -0x80) !== 0) {
        buf[pos++] = low | 0x80
        low >>>= 7
      }
      buf[pos++] = low
    }
    writer.pos = pos
  }
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
