/**
 * Arrays ⇄ the FlatBuffers table of proto/ndarray.fbs.
 *
 * Written and read by hand: the runtime of the npm package `flatbuffers` has no verifier, and reads whatever a hostile offset
 * points at. Tests hold both against that runtime.
 * @module
 */
import { BadInput } from '../errors.ts'
import { type DataOf, type DType, dataConstructor, dtypeCode, dtypes, itemSize } from './dtype.ts'
import type { ParsedArray } from './number-codec.ts'
import { maxDimensions } from './shape.ts'

const identifier = [0x53, 0x56, 0x4e, 0x44] // SVND
const tableAt = 20
const shapeAt = 44
const alignment = 64

/** Whether bytes say that they are such a table. */
export function isNdarrayFlatbuffer(bytes: Uint8Array): boolean {
  return bytes.length >= 8 && identifier.every((byte, i) => bytes[4 + i] === byte)
}

/**
 * An array becomes a FlatBuffers table, whose data begins at a multiple of 64 bytes. `allocate` makes the bytes, which need not be zero.
 * **Cost**: one copy of the data.
 */
export function encodeNdarrayFlatbuffer(
  { dtype, shape, data }: ParsedArray,
  allocate: (size: number) => Buffer = Buffer.allocUnsafeSlow,
): Uint8Array {
  const isText = dtype === 'str'
  const { bytes: elements, ends } = isText
    ? joinTexts(data as string[])
    : { bytes: bytesOf(data as Float64Array), ends: [] }
  const endsAt = shapeAt + 4 + shape.length * 8
  const dataLengthAt = Math.ceil((endsAt + (isText ? 4 + ends.length * 4 : 0) + 4) / alignment) * alignment - 4
  const bytes = allocate(dataLengthAt + 4 + elements.length)
  bytes.fill(0, 0, dataLengthAt)
  bytes.writeUInt32LE(tableAt, 0)
  bytes.set(identifier, 4)
  // The vtable: its size, the table's size, then where each field is in the table.
  const vtable = [12, 20, 16, 4, 8, isText ? 12 : 0]
  for (const [i, value] of vtable.entries()) bytes.writeUInt16LE(value, 8 + i * 2)
  bytes.writeInt32LE(tableAt - 8, tableAt)
  bytes.writeUInt32LE(shapeAt - (tableAt + 4), tableAt + 4)
  bytes.writeUInt32LE(dataLengthAt - (tableAt + 8), tableAt + 8)
  if (isText) bytes.writeUInt32LE(endsAt - (tableAt + 12), tableAt + 12)
  bytes[tableAt + 16] = dtypeCode(dtype)
  bytes.writeUInt32LE(shape.length, shapeAt)
  for (const [i, dim] of shape.entries()) bytes.writeBigInt64LE(BigInt(dim), shapeAt + 4 + i * 8)
  if (isText) {
    bytes.writeUInt32LE(ends.length, endsAt)
    for (const [i, end] of ends.entries()) bytes.writeUInt32LE(end, endsAt + 4 + i * 4)
  }
  bytes.writeUInt32LE(elements.length, dataLengthAt)
  bytes.set(elements, dataLengthAt + 4)
  return bytes
}

/**
 * A FlatBuffers table becomes an array. **Errors**: BadInput `encoding`, `dtype`, `shape`.
 * **Cost**: the data is a view of `bytes` where its place in memory allows it, else one copy.
 */
export function parseNdarrayFlatbuffer(bytes: Uint8Array, name: string): ParsedArray {
  if (!isNdarrayFlatbuffer(bytes)) {
    throw new BadInput(`expected a FlatBuffers table of an array for ${name}, received other bytes`, {
      reason: 'encoding',
    })
  }
  const table = new Table(bytes, name)
  const dtype = dtypes[table.byte(0)] as DType | undefined
  if (dtype === undefined) {
    throw new BadInput(`expected a known dtype for ${name}, received number ${table.byte(0)}`, { reason: 'dtype' })
  }
  const shape = parseDims(table.vector(1, 8), name)
  const data = table.vector(2, 1)
  const parsed = dtype === 'str' ? splitTexts(data, table.vector(3, 4), name) : viewElements(data, dtype, name)
  return { dtype, shape: checkSize(shape, parsed.length, name), data: parsed }
}

/** The root table of a buffer whose every offset is checked before it is followed. */
class Table {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  readonly #name: string
  readonly #at: number
  readonly #vtable: number

  constructor(bytes: Uint8Array, name: string) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#name = name
    this.#at = this.#inside(this.#view.getUint32(0, true), 4)
    this.#vtable = this.#inside(this.#at - this.#view.getInt32(this.#at, true), 4)
    this.#inside(this.#vtable, this.#view.getUint16(this.#vtable, true))
  }

  /** Where a field is; 0 when it is left out. */
  #field(id: number, size: number): number {
    const slot = 4 + id * 2
    const inTable =
      slot + 2 <= this.#view.getUint16(this.#vtable, true) ? this.#view.getUint16(this.#vtable + slot, true) : 0
    return inTable === 0 ? 0 : this.#inside(this.#at + inTable, size)
  }

  byte(id: number): number {
    const at = this.#field(id, 1)
    return at === 0 ? 0 : this.#bytes[at]
  }

  /** The bytes of a vector's elements; none when it is left out. */
  vector(id: number, elementBytes: number): Uint8Array {
    const at = this.#field(id, 4)
    if (at === 0) return new Uint8Array(0)
    const vector = this.#inside(at + this.#view.getUint32(at, true), 4)
    const length = this.#view.getUint32(vector, true) * elementBytes
    return this.#bytes.subarray(this.#inside(vector + 4, length), vector + 4 + length)
  }

  #inside(at: number, length: number): number {
    if (at >= 0 && length <= this.#bytes.length - at) return at
    throw new BadInput(`expected offsets within the FlatBuffers table for ${this.#name}, received one beyond`, {
      reason: 'encoding',
    })
  }
}

function parseDims(bytes: Uint8Array, name: string): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const rank = bytes.length / 8
  if (rank > maxDimensions) throw badShape(`at most ${maxDimensions} dimensions`, name, String(rank))
  return Array.from({ length: rank }, (_, i) => {
    const dim = view.getBigInt64(i * 8, true)
    if (dim < 0n || dim > BigInt(Number.MAX_SAFE_INTEGER)) throw badShape('whole numbers from 0 up', name, String(dim))
    return Number(dim)
  })
}

/** A shape that somebody claims, checked against the elements that there are. **Errors**: BadInput. */
export function checkSize(shape: readonly number[], elements: number, name: string): readonly number[] {
  let size = 1
  for (const dim of shape) size *= dim
  if (size !== elements) throw badShape(`${elements} elements`, `shape of ${name}`, `a shape of ${size}`)
  return shape
}

function badShape(what: string, name: string, received: string): BadInput {
  return new BadInput(`expected ${what} for ${name}, received ${received}`, { reason: 'shape' })
}

/**
 * Little-endian bytes become the elements of a numeric dtype. **Errors**: BadInput. **Cost**: a view where they lie aligned, else a copy.
 */
export function viewElements(
  bytes: Uint8Array,
  dtype: Exclude<DType, 'str'>,
  name: string,
): Exclude<DataOf<DType>, string[]> {
  const size = itemSize(dtype)
  if (bytes.length % size !== 0) {
    throw new BadInput(`expected elements of ${size} bytes for ${name}, received ${bytes.length} bytes`, {
      reason: 'shape',
    })
  }
  if (dtype === 'bool' && bytes.some((byte) => byte > 1)) {
    throw new BadInput(`expected bytes 0 or 1 for dtype bool of ${name}, received another`, { reason: 'dtype' })
  }
  const aligned = bytes.byteOffset % size === 0 ? bytes : new Uint8Array(bytes)
  return new (dataConstructor(dtype))(aligned.buffer, aligned.byteOffset, aligned.length / size)
}

/** The bytes of elements, as they lie in memory. */
export function bytesOf(data: ArrayBufferView): Uint8Array {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
}

function joinTexts(texts: readonly string[]): { bytes: Uint8Array; ends: number[] } {
  let end = 0
  const ends = texts.map((text) => {
    end += Buffer.byteLength(text)
    return end
  })
  return { bytes: Buffer.from(texts.join('')), ends }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function splitTexts(bytes: Uint8Array, ends: Uint8Array, name: string): string[] {
  const view = new DataView(ends.buffer, ends.byteOffset, ends.byteLength)
  let start = 0
  return Array.from({ length: ends.length / 4 }, (_, i) => {
    const end = view.getUint32(i * 4, true)
    // Each byte belongs to one text: offsets that go back would make a large array of a small message.
    if (end < start || end > bytes.length) {
      throw new BadInput(`expected texts one after the other for ${name}, received other ends`, { reason: 'encoding' })
    }
    const text = bytes.subarray(start, end)
    start = end
    try {
      return decoder.decode(text)
    } catch {
      throw new BadInput(`expected UTF-8 text for ${name}, received an invalid byte sequence`, { reason: 'encoding' })
    }
  })
}
