/**
 * Arrays ⇄ the FlatBuffers table of proto/ndarray.fbs.
 * @module
 */

import { type DataOf, type DType, dataConstructor, dtypes, elementTypes, itemSize } from '../dtype.ts'
import { BadInput } from '../errors.ts'
import { addLongs, type Builder, borrowBuilder, FlatTable } from './flatbuffer.ts'
import { NDArray } from './ndarray.ts'
import { maxDimensions } from './shape.ts'

const identifier = 'SVND'
const identifierBytes = Buffer.from(identifier)
const alignment = 64
// Fields of the table.
const fields = Object.freeze({ dtype: 0, shape: 1, data: 2, ends: 3 })

/** Whether bytes say that they are such a table. */
export function isNdarrayFlatbuffer(bytes: Uint8Array): boolean {
  return bytes.length >= 8 && identifierBytes.every((byte, i) => bytes[4 + i] === byte)
}

/**
 * An array becomes a FlatBuffers table, whose data begins at a multiple of 64 bytes. `allocate` makes the bytes, which need not be zero.
 * **Cost**: one copy of the data.
 */
export function encodeNdarrayFlatbuffer(
  { dtype, shape, data }: NDArray,
  allocate: (size: number) => Buffer = Buffer.allocUnsafeSlow,
): Uint8Array {
  const isText = dtype === 'str'
  const { bytes: elements, ends } = isText
    ? joinTexts(data as string[])
    : { bytes: bytesOf(data as Float64Array), ends: [] }
  const out = borrowBuilder()
  // Of the data only its length, as the last thing of the table: the elements come behind it with one copy, and the table is made as
  // long as their alignment asks for.
  out.prep(alignment, 0)
  out.addInt32(elements.length)
  const dataAt = out.offset()
  const endsAt = isText ? addUint32s(out, ends) : 0
  const shapeAt = addLongs(out, shape)
  out.startObject(4)
  out.addFieldOffset(fields.ends, endsAt, 0)
  out.addFieldOffset(fields.data, dataAt, 0)
  out.addFieldOffset(fields.shape, shapeAt, 0)
  out.addFieldInt8(fields.dtype, elementTypes[dtype].code, 0)
  out.finish(out.endObject(), identifier)
  const head = out.asUint8Array()
  const bytes = allocate(head.length + elements.length)
  bytes.set(head)
  bytes.set(elements, head.length)
  return bytes
}

function addUint32s(out: Builder, values: readonly number[]): number {
  out.startVector(4, values.length, 4)
  for (let i = values.length - 1; i >= 0; i--) out.writeInt32(values[i])
  return out.endVector()
}

/**
 * A FlatBuffers table becomes an array. **Errors**: BadInput `encoding`, `dtype`, `shape`.
 * **Cost**: the data is a view of `bytes` where its place in memory allows it, else one copy.
 */
export function parseNdarrayFlatbuffer(bytes: Uint8Array, name: string): NDArray {
  if (!isNdarrayFlatbuffer(bytes)) throw badTable('a FlatBuffers table of an array', name, 'other bytes')
  const table = FlatTable.root(bytes, () => badTable('offsets within the FlatBuffers table', name, 'one beyond'))
  const code = table.uint8(fields.dtype)
  const dtype = dtypes[code] as DType | undefined
  if (dtype === undefined) {
    throw new BadInput(`expected a known dtype for ${name}, received number ${code}`, { reason: 'dtype' })
  }
  const shape = checkDims(table.longs(fields.shape), name)
  const data = table.vector(fields.data, 1)
  const parsed =
    dtype === 'str' ? splitTexts(data, table.vector(fields.ends, 4), name) : viewElements(data, dtype, name)
  return new NDArray(parsed, checkSize(shape, parsed.length, name), dtype)
}

function badTable(what: string, name: string, received: string): BadInput {
  return new BadInput(`expected ${what} for ${name}, received ${received}`, { reason: 'encoding' })
}

function checkDims(dims: readonly number[], name: string): readonly number[] {
  if (dims.length > maxDimensions) throw badShape(`at most ${maxDimensions} dimensions`, name, String(dims.length))
  const wrong = dims.find((dim) => dim < 0 || !Number.isSafeInteger(dim))
  if (wrong !== undefined) throw badShape('whole numbers from 0 up', name, String(wrong))
  return dims
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
