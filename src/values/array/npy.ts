/** Arrays ⇄ files of numpy's own format (.npy). @module */

import { type DataOf, type DType, itemSize, npyName, parseDType } from '../../core/dtype.ts'
import { badInput } from '../../core/errors.ts'
import { bytesOf } from '../../core/memory/byte-copy.ts'
import { narrowTexts, readNpyHead, widenTexts, writeNpyHead } from '../../core/npy-file.ts'
import { allocate as allocateMemory, swapBytes } from '../../core/platform.ts'
import { NDArray } from './ndarray.ts'
import { checkSize, checkTexts, viewElements } from './ndarray-flatbuffer.ts'
import { maxDimensions } from './shape.ts'

/** Writes an array as an .npy file of version 1.0, in C order. **Cost**: one copy of the data. */
export function encodeNpy(
  { dtype, shape, data }: NDArray,
  allocate: (size: number) => Uint8Array = allocateMemory,
): Uint8Array {
  if (dtype !== 'str') return npyOf(npyName(dtype), shape, data as Float64Array, allocate)
  const { points, width } = widenTexts(data as string[])
  return npyOf(`<U${width}`, shape, points, allocate)
}

function npyOf(
  descr: string,
  shape: readonly number[],
  data: ArrayBufferView,
  allocate: (size: number) => Uint8Array,
): Uint8Array {
  const elements = bytesOf(data)
  const head = writeNpyHead(descr, shape)
  const bytes = allocate(head.length + elements.length)
  bytes.set(head)
  bytes.set(elements, head.length)
  return bytes
}

/**
 * Reads an .npy file: a view of `bytes`, else a copy.
 *
 * @throws BadInput `encoding`, `dtype`, `shape`.
 */
export function parseNpy(bytes: Uint8Array, name: string): NDArray {
  const head = readNpyHead(bytes)
  if (
    head === undefined ||
    head.shape.length > maxDimensions ||
    !head.shape.every(Number.isSafeInteger)
  ) {
    throw badInput(
      'encoding',
      `expected an .npy file for ${name}, received other bytes or another version`,
    )
  }
  const { descr, fortran, shape, dataAt } = head
  const [, order, code] = /^([<>|=]?)(.*)$/s.exec(descr) as RegExpExecArray
  const elements = bytes.subarray(dataAt)
  const text = /^U(\d{1,9})$/.exec(code)
  if (text !== null) {
    const data = splitWide(elements, Number(text[1]), order === '>', shape, name)
    return new NDArray(toCOrder(data, shape, fortran), shape, 'str')
  }
  const dtype = dtypeOf(code, name)
  const little = order === '>' ? swapped(elements, itemSize(dtype)) : elements
  const data = viewElements(little, dtype, name)
  checkSize(shape, data.length, name)
  return new NDArray(toCOrder(data, shape, fortran), shape, dtype)
}

function dtypeOf(code: string, name: string): Exclude<DType, 'str'> {
  try {
    const dtype = parseDType(code)
    if (/^[bifu]\d$/.test(code) && dtype !== 'str') return dtype
  } catch {
    // Told below.
  }
  throw badInput(
    'dtype',
    `expected numbers, booleans or texts for ${name}, received dtype ${JSON.stringify(code)}`,
  )
}

function swapped(bytes: Uint8Array, size: number): Uint8Array {
  if (size === 1 || bytes.length % size !== 0) return bytes
  return swapBytes(bytes, size)
}

/** @returns elements in C order of those in Fortran order (the first dimension varies fastest). */
function toCOrder<T extends DataOf<DType>>(
  data: T,
  shape: readonly number[],
  isFortran: boolean,
): T {
  if (!isFortran || shape.length < 2) return data
  const out = data.slice() as T
  const strides = shape.map((_, i) => shape.slice(0, i).reduce((product, dim) => product * dim, 1))
  const index = new Array<number>(shape.length).fill(0)
  let from = 0
  for (let i = 0; i < out.length; i++) {
    out[i] = data[from]
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      from += strides[axis]
      if (++index[axis] < shape[axis]) break
      from -= strides[axis] * shape[axis]
      index[axis] = 0
    }
  }
  return out
}

function splitWide(
  bytes: Uint8Array,
  width: number,
  isBig: boolean,
  shape: readonly number[],
  name: string,
): string[] {
  const count = width === 0 ? 0 : bytes.length / (width * 4)
  if (!Number.isInteger(count)) {
    throw badInput(
      'shape',
      `expected texts of ${width * 4} bytes for ${name}, received ${bytes.length} bytes`,
    )
  }
  checkSize(shape, count, name)
  checkTexts(count, bytes.length, name)
  const points = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const texts = narrowTexts(points, count, width, !isBig)
  if (texts !== undefined) return texts
  throw badInput('encoding', `expected Unicode text for ${name}, received another code point`)
}
