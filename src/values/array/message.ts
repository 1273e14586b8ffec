/** Arrays ⇄ NDArray messages, and arrays in serialized bytes. @module */

import { type DataOf, type DType, dataConstructor, elementsFrom } from '../../core/dtype.ts'
import { badInput } from '../../core/errors.ts'
import { isNpy } from '../../core/npy-file.ts'
import { preferredType } from '../../http/accept.ts'
import { type ListField, type NDArrayMessage, valueLists } from '../../messages/messages.ts'
import { NDArray } from './ndarray.ts'
import {
  checkSize,
  encodeNdarrayFlatbuffer,
  isNdarrayFlatbuffer,
  parseNdarrayFlatbuffer,
  viewElements,
} from './ndarray-flatbuffer.ts'
import { encodeNpy, parseNpy } from './npy.ts'
import { maxDimensions, reshapeTo, showShape, sizeOf } from './shape.ts'

/** Media types of the serialized forms. Our choice: neither is registered. */
const flatbuffersType = 'application/x-flatbuffers'
const npyType = 'application/x-npy'

/** A serialized form of arrays. */
export interface NDArrayForm {
  readonly mimeType: string
  readonly encode: (array: NDArray, allocate?: (size: number) => Uint8Array) => Uint8Array
  readonly parse: (bytes: Uint8Array, name: string) => NDArray
}

/** The serialized forms by media type. */
export const ndarrayForms: ReadonlyMap<string, NDArrayForm> = new Map(
  [
    { mimeType: flatbuffersType, encode: encodeNdarrayFlatbuffer, parse: parseNdarrayFlatbuffer },
    { mimeType: npyType, encode: encodeNpy, parse: parseNpy },
  ].map((form) => [form.mimeType, form]),
)

const offered = ['application/json', ...ndarrayForms.keys()]

/** @returns the serialized form that a client accepts; undefined for JSON or a message. */
export function acceptedForm(accept: string | undefined): NDArrayForm | undefined {
  if (accept === undefined || accept === '*/*' || accept === 'application/json') return undefined
  return ndarrayForms.get(preferredType(accept, offered) ?? '')
}

/**
 * Reads a FlatBuffers table, an .npy file, or elements alone under `dtype`.
 *
 * @throws BadInput.
 */
export function parseSerialized(
  bytes: Uint8Array,
  dtype: DType | undefined,
  name: string,
): NDArray {
  if (isNdarrayFlatbuffer(bytes)) return parseNdarrayFlatbuffer(bytes, name)
  if (isNpy(bytes)) return parseNpy(bytes, name)
  if (dtype === undefined || dtype === 'str') {
    throw badInput(
      'dtype',
      `expected a FlatBuffers table or an .npy file for ${name} without a numeric dtype, received other bytes`,
    )
  }
  const data = viewElements(bytes, dtype, name)
  return new NDArray(data, [data.length], dtype)
}

const listByNumber = new Map(valueLists.map((list) => [list.number, list]))
const listByDtype: ReadonlyMap<DType, ListField> = new Map(
  valueLists.map((list) => [list.dtype, list]),
)

/**
 * @returns the only list of elements of a message with its dtype; undefined if all are empty.
 * @throws BadInput.
 */
export function onlyList(
  message: Omit<NDArrayMessage, 'dtype' | 'shape'>,
  name: string,
): { readonly dtype: DType; readonly data: DataOf<DType> } | undefined {
  let found: ListField | undefined
  for (const list of valueLists) {
    if ((message[list.property]?.length ?? 0) === 0) continue
    if (found !== undefined) {
      throw badInput(
        'dtype',
        `expected one list of elements for ${name}, received ${found.property} and ${list.property}`,
      )
    }
    found = list
  }
  if (found === undefined) return undefined
  const { dtype, property } = found
  return { dtype, data: elementsOf(message[property] as ArrayLike<unknown>, dtype) }
}

function elementsOf(list: ArrayLike<unknown>, dtype: DType): DataOf<DType> {
  if (dtype === 'str' || ArrayBuffer.isView(list)) return list as DataOf<DType>
  return elementsFrom(dtype, list)
}

/**
 * @returns the array of an NDArray message.
 * @throws BadInput `dtype`, `shape`.
 */
export function fromNDArrayMessage(message: NDArrayMessage, name: string): NDArray {
  const number = message.dtype ?? 0
  const declared = listByNumber.get(number)?.dtype
  if (declared === undefined && number !== 0) {
    throw badInput('dtype', `expected a known dtype for ${name}, received number ${number}`)
  }
  const found = onlyList(message, name)
  if (found !== undefined && declared !== undefined && found.dtype !== declared) {
    throw badInput(
      'dtype',
      `expected elements of dtype ${declared} for ${name}, received ${found.dtype}`,
    )
  }
  const dtype = declared ?? found?.dtype ?? 'float64'
  const data = found?.data ?? (dtype === 'str' ? [] : new (dataConstructor(dtype))(0))
  return new NDArray(data, shapeOf(message, data.length, name), dtype)
}

function shapeOf(
  { shape = [], scalar }: NDArrayMessage,
  elements: number,
  name: string,
): readonly number[] {
  if (scalar === true) {
    if (shape.length === 0 && elements === 1) return []
    const received = `${elements} elements, shape ${showShape(shape)}`
    throw badInput(
      'shape',
      `expected one element and no shape for a scalar of ${name}, received ${received}`,
    )
  }
  if (shape.length === 0) return [elements]
  const known = sizeOf(shape.filter((dim) => dim !== -1))
  const hasBadDim = shape.some((dim) => dim < -1) || shape.indexOf(-1) !== shape.lastIndexOf(-1)
  if (hasBadDim || shape.length > maxDimensions || !Number.isSafeInteger(known)) {
    const what = `at most ${maxDimensions} dimensions from 0 up, one of them -1 for any,`
    throw badInput('shape', `expected ${what} for ${name}, received shape ${showShape(shape)}`)
  }
  const whole = reshapeTo([elements], shape)
  if (whole !== undefined) return checkSize(whole, elements, name)
  const received = `received ${elements} elements`
  throw badInput('shape', `expected elements for shape ${showShape(shape)} of ${name}, ${received}`)
}

/** @returns an array as an NDArray message; undefined when messages have no list for its dtype. */
export function toNDArrayMessage({ dtype, shape, data }: NDArray): NDArrayMessage | undefined {
  const list = listByDtype.get(dtype)
  if (list === undefined) return undefined
  return {
    dtype: list.number,
    shape,
    [list.property]: data,
    ...(shape.length === 0 && { scalar: true }),
  }
}
