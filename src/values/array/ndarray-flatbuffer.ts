/** Arrays ⇄ the FlatBuffers table of proto/ndarray.fbs. @module */

import {
  type DataOf,
  type DType,
  dataConstructor,
  dtypes,
  elementTypes,
  itemSize,
  type NumericDType,
} from '../../core/dtype.ts'
import { type BadInput, badInput, PayloadTooLarge } from '../../core/errors.ts'
import { bytesOf, viewAs } from '../../core/memory/byte-copy.ts'
import { allocate as allocateMemory, byteLength, utf8Bytes } from '../../core/platform.ts'
import { defaultMaxBytes, maxParsedValues } from '../../core/text/parse-json.ts'
import { addLongs, type Builder, borrowBuilder, FlatTable } from './flatbuffer.ts'
import { NDArray } from './ndarray.ts'
import { maxDimensions } from './shape.ts'

const identifier = 'SVND'
const identifierBytes = utf8Bytes(identifier)
const alignment = 64
const fields = Object.freeze({ dtype: 0, shape: 1, data: 2, ends: 3 })

/** Whether bytes carry the identifier of such a table. */
export function isNdarrayFlatbuffer(bytes: Uint8Array): boolean {
  return bytes.length >= 8 && identifierBytes.every((byte, i) => bytes[4 + i] === byte)
}

/** Writes an array as a FlatBuffers table, data at a multiple of 64 bytes. `allocate` need not zero. */
export function encodeNdarrayFlatbuffer(
  { dtype, shape, data }: NDArray,
  allocate: (size: number) => Uint8Array = allocateMemory,
): Uint8Array {
  const isText = dtype === 'str'
  const { bytes: elements, ends } = isText
    ? joinTexts(data as string[])
    : { bytes: bytesOf(data as Float64Array), ends: [] }
  const out = borrowBuilder()
  // Only the data's length, last in the table: one copy puts the elements behind it.
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
  const table = out.asUint8Array()
  const bytes = allocate(table.length + elements.length)
  bytes.set(table)
  bytes.set(elements, table.length)
  return bytes
}

function addUint32s(out: Builder, values: readonly number[]): number {
  out.startVector(4, values.length, 4)
  for (let i = values.length - 1; i >= 0; i--) out.writeInt32(values[i])
  return out.endVector()
}

/**
 * Reads an array from a FlatBuffers table, as a view if aligned.
 *
 * @throws BadInput, {@link checkTexts}.
 */
export function parseNdarrayFlatbuffer(bytes: Uint8Array, name: string): NDArray {
  if (!isNdarrayFlatbuffer(bytes))
    throw badTable('a FlatBuffers table of an array', name, 'other bytes')
  const table = FlatTable.root(bytes, () =>
    badTable('offsets within the FlatBuffers table', name, 'one beyond'),
  )
  const code = table.uint8(fields.dtype)
  const dtype = dtypes[code] as DType | undefined
  if (dtype === undefined) {
    throw badInput('dtype', `expected a known dtype for ${name}, received number ${code}`)
  }
  const shape = checkDims(table.longs(fields.shape), name)
  const data = table.vector(fields.data, 1)
  const parsed =
    dtype === 'str'
      ? splitTexts(data, table.vector(fields.ends, 4), name)
      : viewElements(data, dtype, name)
  return new NDArray(parsed, checkSize(shape, parsed.length, name), dtype)
}

function badTable(what: string, name: string, received: string): BadInput {
  return badInput('encoding', `expected ${what} for ${name}, received ${received}`)
}

function checkDims(dims: readonly number[], name: string): readonly number[] {
  if (dims.length > maxDimensions)
    throw badShape(`at most ${maxDimensions} dimensions`, name, String(dims.length))
  const wrong = dims.find((dim) => dim < 0 || !Number.isSafeInteger(dim))
  if (wrong !== undefined) throw badShape('whole numbers from 0 up', name, String(wrong))
  return dims
}

/** Empty lists that an array without elements may have: its text and its lists take memory for each. */
const maxEmptyLists = 1 << 20

/**
 * Checks a shape that a client claims against the number of elements.
 *
 * @throws BadInput.
 */
export function checkSize(
  shape: readonly number[],
  elements: number,
  name: string,
): readonly number[] {
  let size = 1
  let lists = 1
  for (const dim of shape) {
    size *= dim
    if (size !== 0) lists = size
  }
  if (size !== elements)
    throw badShape(`${elements} elements`, `shape of ${name}`, `a shape of ${size}`)
  if (size === 0 && lists > maxEmptyLists)
    throw badShape(`at most ${maxEmptyLists} empty lists`, name, String(lists))
  return shape
}

function badShape(what: string, name: string, received: string): BadInput {
  return badInput('shape', `expected ${what} for ${name}, received ${received}`)
}

/**
 * @returns little-endian elements: a view if aligned, else a copy.
 * @throws BadInput.
 */
export function viewElements(
  bytes: Uint8Array,
  dtype: NumericDType,
  name: string,
): Exclude<DataOf<DType>, string[]> {
  const size = itemSize(dtype)
  if (bytes.length % size !== 0) {
    throw badInput(
      'shape',
      `expected elements of ${size} bytes for ${name}, received ${bytes.length} bytes`,
    )
  }
  if (dtype === 'bool') {
    let seen = 0
    for (let i = 0; i < bytes.length; i++) seen |= bytes[i]
    if (seen > 1) {
      throw badInput('dtype', `expected bytes 0 or 1 for dtype bool of ${name}, received another`)
    }
  }
  return viewAs(dataConstructor(dtype), bytes)
}

function joinTexts(texts: readonly string[]) {
  // Halves of a surrogate pair would become one character where two texts meet.
  const whole = texts.map((text) => text.toWellFormed())
  let end = 0
  const ends = whole.map((text) => (end += byteLength(text)))
  return { bytes: utf8Bytes(whole.join('')), ends }
}

/**
 * Checks texts that a request claims.
 *
 * @throws PayloadTooLarge above 250,000 texts or 4 MiB.
 */
export function checkTexts(count: number, bytes: number, name: string): void {
  if (count <= maxParsedValues && bytes <= defaultMaxBytes) return
  const what = `at most ${maxParsedValues} texts and ${defaultMaxBytes} bytes of them`
  throw new PayloadTooLarge(`expected ${what} for ${name}, received ${count} of ${bytes} bytes`)
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function splitTexts(bytes: Uint8Array, ends: Uint8Array, name: string): string[] {
  checkTexts(ends.length / 4, bytes.length, name)
  const view = new DataView(ends.buffer, ends.byteOffset, ends.byteLength)
  const texts: string[] = []
  let start = 0
  for (let i = 0; i < ends.length / 4; i++) {
    const end = view.getUint32(i * 4, true)
    // Offsets that go back would make a large array of a small message.
    if (end < start || end > bytes.length) {
      throw badInput(
        'encoding',
        `expected texts one after the other for ${name}, received other ends`,
      )
    }
    try {
      texts.push(decoder.decode(bytes.subarray(start, end)))
    } catch {
      throw badInput(
        'encoding',
        `expected UTF-8 text for ${name}, received an invalid byte sequence`,
      )
    }
    start = end
  }
  return texts
}
