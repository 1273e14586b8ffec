/** Casts between element types. @module */

import {
  type DType,
  dataConstructor,
  elementTypes,
  isFloat,
  isPlainNumber,
  itemSize,
} from '../../core/dtype.ts'
import { float16ToNumber, floatText } from '../../core/text/number-text.ts'
import { castAll, NumberToken, needsTokens, type Scalar } from './cast-scalars.ts'
import { NDArray } from './ndarray.ts'

/** Casts an array; undefined if an element does not fit. */
export function castArray(
  { data, shape, dtype: from }: NDArray,
  dtype: DType,
): NDArray | undefined {
  const arePlain = isPlainNumber(from) && isPlainNumber(dtype)
  const copy = arePlain && exactCopy(data as Float64Array, dtype)
  if (copy) return new NDArray(copy, shape, dtype)
  const cast = castAll(data.length, (i) => scalarOf(data[i], from, dtype), dtype, false)
  if ('failure' in cast) return undefined
  return new NDArray(cast.data, shape, dtype)
}

/** @returns an element as JSON would have it, as the token of its number where that decides. */
function scalarOf(element: number | bigint | string, from: DType, to: DType): Scalar {
  if (typeof element === 'string') return element
  if (from === 'bool') return element !== 0
  if (typeof element === 'bigint')
    return needsTokens(to, false) ? new NumberToken(String(element)) : Number(element)
  const value = from === 'float16' ? float16ToNumber(element) : element
  if (!Number.isFinite(value)) return new NumberToken(String(value))
  if (to !== 'str') return value
  return new NumberToken(isFloat(from) ? floatText(value, itemSize(from)) : String(value))
}

/**
 * @returns the numbers in another type, if each is the same there, or a finite float32; else
 * undefined.
 */
function exactCopy(data: Float64Array, dtype: DType): Float64Array | undefined {
  const copy = new (dataConstructor(dtype as 'float64'))(data.length)
  copy.set(data)
  const isRounded = dtype === 'float32'
  const isExact = data.every(
    (value, i) => Object.is(copy[i], value) || (isRounded && Number.isFinite(copy[i])),
  )
  if (isExact) return copy
  return undefined
}

// numpy's same_kind order: bool < uint < int < float, and anything to str.
const kindRank = (dtype: DType) => 'buifU'.indexOf(elementTypes[dtype].kind)

/** Whether numpy's `same_kind` allows the cast. */
export function isSameKind(from: DType, to: DType): boolean {
  return kindRank(from) <= kindRank(to)
}
