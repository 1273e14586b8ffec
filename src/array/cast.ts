/**
 * Arrays under another dtype.
 * @module
 */

import { type DType, elementTypes } from '../dtype.ts'
import { numberCodec as codec } from './native-codec.ts'
import { NDArray } from './ndarray.ts'
import type { ParseFailure } from './number-codec.ts'

/** An array under another dtype, by the same rules as request texts: through JSON text, which keeps every value exactly. */
export function castArray(array: NDArray, dtype: DType): NDArray | ParseFailure {
  const { data, shape } = array
  // What always fits needs no text: 25 times as fast.
  if (dtype === 'float64' && isPlainNumber(array.dtype))
    return new NDArray(new Float64Array(data as Float32Array), shape, dtype)
  // Text has no way to say (3, 0): there is nothing to cast.
  if (data.length === 0) return emptyArray(shape, dtype)
  const text = codec.encodeNdarray(array, 'literal') ?? ''
  return codec.parseNdarray(typeof text === 'string' ? Buffer.from(text) : text, dtype)
}

function emptyArray(shape: readonly number[], dtype: DType): NDArray | ParseFailure {
  const none = codec.parseNdarray(Buffer.from('[]'), dtype)
  return 'failure' in none ? none : new NDArray(none.data, shape, dtype)
}

function isPlainNumber(dtype: DType): boolean {
  const { kind, bytes } = elementTypes[dtype]
  return dtype === 'float32' || ((kind === 'i' || kind === 'u') && bytes < 8)
}

// numpy's same_kind order: bool < uint < int < float, and anything to str.
const kindRank = (dtype: DType) => 'buifU'.indexOf(elementTypes[dtype].kind)

/** Whether numpy's `same_kind` allows the cast. */
export function isSameKind(from: DType, to: DType): boolean {
  return kindRank(from) <= kindRank(to)
}
