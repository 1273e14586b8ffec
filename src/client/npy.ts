/**
 * Arrays ⇄ files of numpy's own format (.npy), with what browsers have.
 * **Source**: numpy.lib.format, versions 1.0 to 3.0. The server writes little-endian files in C order.
 * @module
 */
import type { DType, DTypeData, NumericDType } from '../core/dtype.ts'
import { badArgument, ServingError } from './serving-error.ts'
import type { ArrayInput, ArrayValue, TypedArray } from './values.ts'

const types: { readonly [D in NumericDType]: readonly [code: string, make: new (buffer: ArrayBuffer) => TypedArray] } =
  {
    bool: ['|b1', Uint8Array],
    int8: ['|i1', Int8Array],
    int16: ['<i2', Int16Array],
    int32: ['<i4', Int32Array],
    int64: ['<i8', BigInt64Array],
    uint8: ['|u1', Uint8Array],
    uint16: ['<u2', Uint16Array],
    uint32: ['<u4', Uint32Array],
    uint64: ['<u8', BigUint64Array],
    float16: ['<f2', Uint16Array],
    float32: ['<f4', Float32Array],
    float64: ['<f8', Float64Array],
  }

/** Whether a value is sent as .npy: a typed array, or an object with `data` and `shape`. */
export function isTyped(value: ArrayInput): value is Exclude<ArrayInput, number | bigint | boolean | string | null> {
  return isTypedArray(value) || (typeof value === 'object' && value !== null && 'data' in value && 'shape' in value)
}

function isTypedArray(value: unknown): value is TypedArray {
  return ArrayBuffer.isView(value) && !(value instanceof DataView)
}

/** Writes an array as an .npy file. **Cost**: no copy of numbers. **Errors**: ServingError `bad_input`. */
export function encodeNpy(value: ArrayInput, api: string): Blob {
  const given = isTypedArray(value)
    ? { data: value, shape: [value.length], dtype: undefined }
    : (value as { dtype?: DType; shape: readonly number[]; data: TypedArray | readonly string[] })
  const { data, shape } = given
  if (data.length !== shape.reduce((size, length) => size * length, 1)) {
    throw badArgument(`${shape.join('×')} elements, received ${data.length},`, api)
  }
  const dtype = given.dtype ?? dtypeOf(data)
  const texts = dtype === 'str' ? wideTexts(data as readonly string[]) : undefined
  if (
    texts === undefined &&
    !(isTypedArray(data) && types[dtype as NumericDType]?.[1].name === data.constructor.name)
  ) {
    throw badArgument(`elements of dtype ${dtype} in their typed array`, api)
  }
  const descr = texts === undefined ? types[dtype as NumericDType][0] : `<U${texts.width}`
  const tuple = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(', ')})`
  const dict = `{'descr': '${descr}', 'fortran_order': False, 'shape': ${tuple}, }`
  // The data starts at a multiple of 64 bytes; the header ends with a line break.
  const length = Math.ceil((dict.length + 11) / 64) * 64 - 10
  const header = new TextEncoder().encode(`\x93NUMPY\x01\x00..${dict.padEnd(length - 1)}\n`).subarray(1)
  header[0] = 0x93
  new DataView(header.buffer).setUint16(header.byteOffset + 8, length, true)
  return new Blob([header, texts?.points ?? (data as Uint8Array<ArrayBuffer>)], { type: 'application/x-npy' })
}

function dtypeOf(data: TypedArray | readonly string[]): DType {
  if (!isTypedArray(data)) return 'str'
  return data.constructor.name.replace(/^Big|Array$/g, '').toLowerCase() as DType
}

/** Texts as numpy has them: of one width, four bytes a character, zeros behind. */
function wideTexts(data: readonly string[]) {
  const texts = Array.from(data, (text) => Array.from(text))
  const width = texts.reduce((max, text) => Math.max(max, text.length), 1)
  const points = new Uint32Array(texts.length * width)
  for (const [i, text] of texts.entries())
    points.set(
      Array.from(text, (point) => point.codePointAt(0) as number),
      i * width,
    )
  return { width, points }
}

/** Reads an .npy file. **Cost**: a view of the bytes, else one copy. **Errors**: ServingError `network`. */
export function decodeNpy(file: ArrayBuffer): ArrayValue {
  const bytes = new Uint8Array(file)
  const view = new DataView(file)
  if (bytes.length < 12 || view.getUint32(0) !== 0x934e554d) throw unreadable()
  const [start, length] = bytes[6] === 1 ? [10, view.getUint16(8, true)] : [12, view.getUint32(8, true)]
  const header = new TextDecoder('latin1').decode(bytes.subarray(start, start + length))
  const descr = /'descr'\s*:\s*'([^']+)'/.exec(header)?.[1]
  const tuple = /'shape'\s*:\s*\(([^)]*)\)/.exec(header)?.[1]
  if (descr === undefined || tuple === undefined) throw unreadable()
  const shape = (tuple.match(/\d+/g) ?? []).map(Number)
  const at = start + length
  const size = shape.reduce((product, each) => product * each, 1)
  const width = /^<U(\d+)$/.exec(descr)?.[1]
  if (width !== undefined) return { dtype: 'str', shape, data: narrowTexts(file.slice(at), size, Number(width)) }
  const found = Object.entries(types).find(([, [code]]) => code === descr)
  if (found === undefined) throw unreadable()
  const [dtype, [, Elements]] = found
  const all = Elements as unknown as {
    BYTES_PER_ELEMENT: number
    new (buffer: ArrayBuffer, at: number, length: number): DTypeData[NumericDType]
  }
  if (bytes.length - at < size * all.BYTES_PER_ELEMENT) throw unreadable()
  const isAligned = at % all.BYTES_PER_ELEMENT === 0
  return {
    dtype: dtype as NumericDType,
    shape,
    data: isAligned ? new all(file, at, size) : new all(file.slice(at), 0, size),
  }
}

function narrowTexts(buffer: ArrayBuffer, count: number, width: number): string[] {
  const points = new Uint32Array(buffer, 0, count * width)
  return Array.from({ length: count }, (_, i) => {
    const text = points.subarray(i * width, (i + 1) * width)
    let end = width
    while (end > 0 && text[end - 1] === 0) end--
    return Array.from(text.subarray(0, end), (point) => String.fromCodePoint(point)).join('')
  })
}

function unreadable(): ServingError {
  return new ServingError('expected an .npy file in the answer, received other bytes', { status: 0, code: 'network' })
}
