/** Casts between element types. @module */

import { type DataOf, type DType, dataConstructor, elementTypes, isPlainNumber } from '../../core/dtype.ts'
import { numberCodec as codec } from './native-codec.ts'
import { NDArray } from './ndarray.ts'
import type { ParseFailure } from './number-codec.ts'

/** Casts an array through JSON text, which keeps every value exactly; a failure's offset is one in that text. */
export function castArray(array: NDArray, dtype: DType): NDArray | ParseFailure {
  const { data, shape } = array
  const copy = isPlainNumber(array.dtype) && isPlainNumber(dtype) ? exactCopy(data as Float64Array, dtype) : undefined
  if (copy !== undefined) return new NDArray(copy, shape, dtype)
  const out = dtype === 'str' ? [] : new (dataConstructor(dtype))(data.length)
  for (let from = 0; from < data.length; from += partElements) {
    const cast = castPart(data.slice(from, from + partElements) as DataOf<DType>, array.dtype, dtype)
    if ('failure' in cast) return cast
    if (dtype === 'str') (out as string[]).push(...(cast.data as string[]))
    else (out as Uint8Array).set(cast.data as Uint8Array, from)
  }
  return new NDArray(out, shape, dtype)
}

const partElements = 2048

/** Returns the numbers in another type, if each is the same there, or a finite float32; else undefined. */
function exactCopy(data: Float64Array, dtype: DType): Float64Array | undefined {
  const copy = new (dataConstructor(dtype as 'float64'))(data.length)
  copy.set(data)
  const isRounded = dtype === 'float32'
  const isExact = data.every((value, i) => Object.is(copy[i], value) || (isRounded && Number.isFinite(copy[i])))
  return isExact ? copy : undefined
}

function castPart(data: DataOf<DType>, from: DType, to: DType): NDArray | ParseFailure {
  const text = codec.encodeNdarray(new NDArray(data, [data.length], from), 'literal') ?? ''
  return codec.parseNdarray(typeof text === 'string' ? Buffer.from(text) : text, to)
}

// numpy's same_kind order: bool < uint < int < float, and anything to str.
const kindRank = (dtype: DType) => 'buifU'.indexOf(elementTypes[dtype].kind)

/** Whether numpy's `same_kind` allows the cast. */
export function isSameKind(from: DType, to: DType): boolean {
  return kindRank(from) <= kindRank(to)
}
