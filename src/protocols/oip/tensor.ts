/** Tensors, and Triton's binary tensor data: little-endian in C order; BYTES have a length of 32 bits each. @module */

import { itemSize } from '../../core/dtype.ts'
import { BadInput, expected, type ServingError, show } from '../../core/errors.ts'
import { bytesOf } from '../../core/memory/byte-copy.ts'
import { decodeUtf8 } from '../../core/text/utf8.ts'
import { NDArray } from '../../values/array/ndarray.ts'
import { checkSize, viewElements } from '../../values/array/ndarray-flatbuffer.ts'
import { maxDimensions, showShape, sizeOf } from '../../values/array/shape.ts'
import { type Datatype, datatypes, isDatatype } from './datatype.ts'

/** A named array in a request or an answer. */
export interface Tensor {
  readonly name: string
  readonly datatype: Datatype
  /** BF16 is float32 here; BYTES are texts. */
  readonly array: NDArray
  /** Indices of texts that are missing, in JSON null; they are empty here, and in binary form. */
  readonly nulls?: ArrayLike<number> | undefined
}

/** Name, datatype and shape of a request, checked by {@link checkTensorInfo}. */
export interface TensorInfo {
  readonly name: string
  readonly datatype: Datatype
  readonly shape: readonly number[]
  readonly size: number
}

/** @returns the fault of an input; `part`: of it, as in `the shape of `. */
export function inputFault(
  name: string,
  what: string,
  received: string | number,
  reason: ServingError['reason'] = 'shape',
  part = '',
): BadInput {
  const message = `expected ${what} for ${part}input ${shown(name)}, received ${received}`
  return new BadInput(message, { reason, path: name })
}

/** @throws BadInput. */
export function checkTensorInfo(name: unknown, datatype: unknown, shape: unknown): TensorInfo {
  if (typeof name !== 'string' || name === '')
    throw new BadInput(expected('a name', 'an input', name))
  if (!isDatatype(datatype)) {
    const known = Object.keys(datatypes).join(', ')
    throw inputFault(name, `one of ${known}`, show(datatype), 'dtype', 'the datatype of ')
  }
  const dims = shape as readonly number[]
  if (!Array.isArray(shape) || !dims.every((dim) => Number.isSafeInteger(dim) && dim >= 0))
    throw inputFault(name, 'a list of whole numbers', show(shape), 'shape', 'the shape of ')
  if (dims.length > maxDimensions)
    throw inputFault(name, `at most ${maxDimensions} dimensions`, dims.length)
  const size = sizeOf(dims)
  if (size === 0) checkSize(dims, 0, `input ${shown(name)}`)
  if (Number.isSafeInteger(size)) return { name, datatype, shape: dims, size }
  throw inputFault(name, 'a shape of fewer elements', show(dims))
}

/** @returns a name for a message. */
export function shown(name: string): string {
  return JSON.stringify(name.length > 80 ? `${name.slice(0, 79)}…` : name)
}

/**
 * A view of bytes that lie at a multiple of the element size; others are copied.
 *
 * @throws BadInput.
 */
export function readRaw(info: TensorInfo, bytes: Uint8Array): Tensor {
  return tensorOf(info, readElements(info, bytes))
}

/** @returns the tensor of elements. */
export function tensorOf(
  { name, datatype, shape }: Pick<TensorInfo, 'name' | 'datatype' | 'shape'>,
  data: NDArray['data'],
): Tensor {
  return { name, datatype, array: new NDArray(data, shape, datatypes[datatype]) }
}

function readElements(
  { name, datatype, shape, size }: TensorInfo,
  bytes: Uint8Array,
): NDArray['data'] {
  if (datatype === 'BYTES') return readTexts(name, bytes, size)
  const dtype = datatypes[datatype]
  const width = datatype === 'BF16' ? 2 : itemSize(dtype)
  if (bytes.length !== size * width) {
    const what = `${size * width} bytes (shape ${showShape(shape)} of ${datatype})`
    throw inputFault(name, what, bytes.length)
  }
  if (datatype === 'BF16') return widen(bytes)
  return viewElements(bytes, dtype as 'float64', `input ${shown(name)}`)
}

/** BF16 are the upper 16 bits of float32. */
function widen(bytes: Uint8Array): Float32Array {
  const words = new Uint32Array(bytes.length / 2)
  for (let i = 0; i < words.length; i++) words[i] = (bytes[2 * i] << 16) | (bytes[2 * i + 1] << 24)
  return new Float32Array(words.buffer)
}

function readTexts(name: string, bytes: Uint8Array, size: number): string[] {
  const elements = `${size} elements of BYTES`
  if (bytes.length < size * 4) throw inputFault(name, elements, `${bytes.length} bytes`)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const texts: string[] = []
  let at = 0
  for (let i = 0; i < size; i++) {
    const rest = bytes.length - at
    if (rest < 4) throw inputFault(name, `the length of element ${i}`, `${rest} bytes`)
    const length = view.getUint32(at, true)
    if (length > rest - 4)
      throw inputFault(name, `${length} bytes`, rest - 4, 'shape', `element ${i} of `)
    texts.push(textOf(bytes, at + 4, at + 4 + length, name))
    at += 4 + length
  }
  if (at === bytes.length) return texts
  throw inputFault(name, elements, `${bytes.length - at} bytes more`)
}

// For shorter texts the call of a TextDecoder costs more than its work.
const shortBytes = 128
const { utf8Slice } = Buffer.prototype as unknown as {
  utf8Slice(this: Uint8Array, start: number, end: number): string
}

/** @throws BadInput for invalid UTF-8. */
export function textOf(bytes: Uint8Array, start: number, end: number, name: string): string {
  if (end - start <= shortBytes) {
    const text = utf8Slice.call(bytes, start, end)
    if (!text.includes('\ufffd')) return text
  }
  try {
    return decodeUtf8(bytes.subarray(start, end), name)
  } catch {
    // The decoder's offset would be one in the element.
    const received = 'an invalid byte sequence'
    throw inputFault(name, 'UTF-8 text', received, 'encoding', 'an element of ')
  }
}

/** Rounds to the nearest BF16, halves to even; NaN stays NaN. */
function narrow(values: Float32Array): Uint8Array {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length)
  const halves = new Uint16Array(words.length)
  for (let i = 0; i < words.length; i++) {
    const word = words[i]
    const isNaN = (word & 0x7fffffff) > 0x7f800000
    halves[i] = isNaN ? (word >>> 16) | 0x40 : (word + 0x7fff + ((word >>> 16) & 1)) >>> 16
  }
  return bytesOf(halves)
}

/** BF16 are sent as JSON in float32. */
export function writtenArray({ datatype, array }: Tensor): NDArray {
  if (datatype !== 'BF16') return array
  return new NDArray(widen(narrow(array.data as Float32Array)), array.shape)
}

/** @returns the elements of a tensor in binary form. */
export function writeRaw({ datatype, array: { dtype, data } }: Tensor): Uint8Array {
  if (datatype === 'BF16') return narrow(data as Float32Array)
  if (dtype !== 'str') return bytesOf(data as Float64Array)
  const texts = data as readonly string[]
  let length = 0
  for (const text of texts) length += 4 + Buffer.byteLength(text)
  const bytes = Buffer.allocUnsafe(length)
  let at = 0
  for (const text of texts) {
    const size = bytes.write(text, at + 4)
    bytes.writeUInt32LE(size, at)
    at += 4 + size
  }
  return bytes
}
