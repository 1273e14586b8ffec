import type { DTypeData } from '../core/dtype.ts'
import { type DType, elementTypes, type NumericDType, npyName } from '../core/element-types.ts'
import { narrowTexts, readNpyHead, widenTexts, writeNpyHead } from '../core/npy-file.ts'
import { badArgument, unreadable } from './serving-error.ts'
import type { ArrayInput, ArrayValue, TypedArray } from './values.ts'

/** Whether a value is sent as .npy: a typed array, or an object with `data` and `shape`. */
export function isTyped(
  value: ArrayInput,
): value is Exclude<ArrayInput, number | bigint | boolean | string | null> {
  return (
    isTypedArray(value) ||
    (typeof value === 'object' && value !== null && 'data' in value && 'shape' in value)
  )
}

function isTypedArray(value: unknown): value is TypedArray {
  return ArrayBuffer.isView(value) && !(value instanceof DataView)
}

/**
 * Writes an array as an .npy file. **Cost**: no copy of numbers.
 *
 * @throws ServingError `bad_input`.
 */
export function encodeNpy(value: ArrayInput, api: string): Blob {
  const given = isTypedArray(value)
    ? { data: value, shape: [value.length], dtype: undefined }
    : (value as { dtype?: DType; shape: readonly number[]; data: TypedArray | readonly string[] })
  const { data, shape } = given
  if (data.length !== shape.reduce((size, length) => size * length, 1)) {
    throw badArgument(`${shape.join('×')} elements, received ${data.length},`, api)
  }
  const dtype = given.dtype ?? dtypeOf(data)
  const texts = dtype === 'str' ? widenTexts(data as readonly string[]) : undefined
  if (
    texts === undefined &&
    !(isTypedArray(data) && elementTypes[dtype]?.container?.name === data.constructor.name)
  ) {
    throw badArgument(`elements of dtype ${dtype} in their typed array`, api)
  }
  const descr = texts === undefined ? npyName(dtype as NumericDType) : `<U${texts.width}`
  const elements = texts?.points ?? (data as Uint8Array<ArrayBuffer>)
  return new Blob([writeNpyHead(descr, shape), elements], { type: 'application/x-npy' })
}

function dtypeOf(data: TypedArray | readonly string[]): DType {
  if (!isTypedArray(data)) return 'str'
  return data.constructor.name.replace(/^Big|Array$/g, '').toLowerCase() as DType
}

/**
 * Reads an .npy file. **Cost**: a view of the bytes, else one copy.
 *
 * @throws ServingError `network`.
 */
export function decodeNpy(file: ArrayBuffer): ArrayValue {
  const bytes = new Uint8Array(file)
  const head = readNpyHead(bytes)
  if (head === undefined) throw unreadable('an .npy file')
  const { descr, shape, dataAt: at } = head
  const size = shape.reduce((product, each) => product * each, 1)
  const width = /^<U(\d+)$/.exec(descr)?.[1]
  if (width !== undefined) {
    const data = narrowTexts(new DataView(file, at), size, Number(width), true)
    if (data === undefined) throw unreadable('an .npy file')
    return { dtype: 'str', shape, data }
  }
  const dtype = (Object.keys(elementTypes) as NumericDType[]).find(
    (each) => npyName(each) === descr,
  )
  if (dtype === undefined) throw unreadable('an .npy file')
  const all = elementTypes[dtype].container as unknown as {
    BYTES_PER_ELEMENT: number
    new (buffer: ArrayBuffer, at: number, length: number): DTypeData[NumericDType]
  }
  if (bytes.length - at < size * all.BYTES_PER_ELEMENT) throw unreadable('an .npy file')
  const isAligned = at % all.BYTES_PER_ELEMENT === 0
  return {
    dtype,
    shape,
    data: isAligned ? new all(file, at, size) : new all(file.slice(at), 0, size),
  }
}
