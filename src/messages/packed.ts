/** Repeated numbers of a protobuf message ⇄ typed arrays. @module */
import { endianness } from 'node:os'
import {
  type DataOf,
  dataConstructor,
  elementsFrom,
  floatBytes,
  isFloat,
  isWideInteger,
  type ListDType,
} from '../core/dtype.ts'
import { bytesOf } from '../core/memory/byte-copy.ts'
import { moveToAligned } from '../core/memory/move-to-aligned.ts'
import { type ProtoReader, type ProtoWriter, wireType } from './protobuf.ts'
import { countVarints, readVarints, writeVarints } from './varints.ts'

/** Element types of packed numbers; a bool is a byte 0 or 1. */
export type PackedKind = Exclude<ListDType, 'str'>

type AnyPacked = DataOf<PackedKind>

// Smaller arrays are copied, so that they keep no message in memory.
const viewFromBytes = 4096
// V8 keeps arrays up to this size in its heap, and moves them when `buffer` is read.
const heapBytes = 64

if (endianness() !== 'LE')
  throw new Error(
    'serving needs a little-endian processor: numbers are copied as they lie in memory',
  )

/** Elements of a repeated field, packed, one by one, or both, as parsers must accept. */
export class PackedList<K extends PackedKind> {
  readonly kind: K
  readonly #fixedBytes: number
  #data: AnyPacked
  #length = 0

  constructor(kind: K) {
    this.kind = kind
    this.#fixedBytes = floatBytes(kind)
    this.#data = new (dataConstructor(kind))(0)
  }

  take(reader: ProtoReader): void {
    const isPacked = reader.is(wireType.bytes)
    if (this.#fixedBytes > 0) this.#takeFixed(reader, this.#fixedBytes, isPacked)
    else if (isPacked)
      reader.message(() =>
        this.#takeVarints(reader, countVarints(reader.buf, reader.pos, reader.len)),
      )
    else this.#takeVarints(reader, 1)
  }

  finish(): DataOf<K> {
    const data = this.#data
    return (data.length === this.#length ? data : data.slice(0, this.#length)) as DataOf<K>
  }

  #takeFixed(reader: ProtoReader, size: number, isPacked: boolean): void {
    const start = reader.pos
    const end = isPacked ? reader.extent() : start + size
    if (end > reader.len || (end - reader.pos) % size !== 0)
      throw reader.fault(`packed numbers of ${size} bytes each`)
    if (end - reader.pos <= heapBytes) {
      this.#takeFew(reader, end)
      return
    }
    const bytes = moveToAligned(reader.raw(reader.pos, end), size, reader.pos - start + 1)
    reader.pos = end
    const count = bytes.length / size
    if (this.#length === 0 && bytes.length >= viewFromBytes && bytes.byteOffset % size === 0) {
      this.#data = new (dataConstructor(this.kind))(bytes.buffer, bytes.byteOffset, count)
      this.#length = count
      return
    }
    const first = this.#grow(count)
    bytesOf(this.#data).set(bytes, first * size)
  }

  #takeFew(reader: ProtoReader, end: number): void {
    const view = viewOf(reader.buf)
    const size = this.#fixedBytes
    let at = this.#grow((end - reader.pos) / size)
    const data = this.#data as Float64Array
    for (; reader.pos < end; reader.pos += size) {
      data[at++] =
        size === 4 ? view.getFloat32(reader.pos, true) : view.getFloat64(reader.pos, true)
    }
  }

  #takeVarints(reader: ProtoReader, count: number): void {
    reader.quota.take('integers', count)
    const at = this.#grow(count)
    const words = this.#data.BYTES_PER_ELEMENT / 4
    if (words < 1) for (let i = 0; i < count; i++) this.#data[at + i] = reader.bool() ? 1 : 0
    else
      readVarints(
        reader,
        new Int32Array(this.#data.buffer),
        at * words,
        (at + count) * words,
        words === 2,
      )
    const isWhole = reader.is(wireType.bytes) ? reader.pos === reader.len : reader.pos <= reader.len
    if (!isWhole) throw reader.fault('complete packed numbers')
  }

  #grow(count: number): number {
    const at = this.#length
    this.#length += count
    if (this.#length > this.#data.length) {
      const grown = allocatePacked(this.kind, at === 0 ? count : Math.max(this.#length, at * 2))
      if (at > 0) (grown as Uint8Array).set(this.#data as Uint8Array)
      this.#data = grown
    }
    return at
  }
}

/** Elements that are written before they are read: not zeroed. */
export function allocatePacked(kind: PackedKind, length: number): AnyPacked {
  const constructor = dataConstructor(kind)
  const bytes = length * constructor.BYTES_PER_ELEMENT
  if (bytes < 4096) return new constructor(length)
  return new constructor(Buffer.allocUnsafeSlow(bytes).buffer)
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Writes nothing for an empty list. */
export function writePacked(
  writer: ProtoWriter,
  field: number,
  kind: PackedKind,
  data: AnyPacked | readonly unknown[],
): void {
  if (data.length === 0) return
  const typed = ArrayBuffer.isView(data) ? data : elementsFrom(kind, data)
  writer.tag(field, wireType.bytes)
  if (isFloat(kind) && typed.byteLength <= heapBytes) {
    writeFew(writer, typed as Float64Array)
    return
  }
  if (isFloat(kind) || kind === 'bool') {
    writer.bytes(bytesOf(typed))
    return
  }
  writer.fork()
  const words = new Int32Array(typed.buffer, typed.byteOffset, typed.byteLength / 4)
  writeVarints(writer, words, isWideInteger(kind), kind === 'int32')
  writer.ldelim()
}

function writeFew(writer: ProtoWriter, data: Float64Array): void {
  const size = data.BYTES_PER_ELEMENT
  writer.uint32(data.byteLength)
  writer.reserve(data.byteLength)
  const view = viewOf(writer.buf)
  for (let i = 0; i < data.length; i++, writer.pos += size) {
    if (size === 4) view.setFloat32(writer.pos, data[i], true)
    else view.setFloat64(writer.pos, data[i], true)
  }
}
