/** What tests of the codecs of arrays share. @module */
import { expect } from 'vitest'
import type { DType } from '../../../../src/core/dtype.ts'
import { numberCodec } from '../../../../src/values/array/array-text.ts'
import { typescriptCodec } from '../../../../src/values/array/json.ts'
import { nativeCodec } from '../../../../src/values/array/native-codec.ts'
import type { NDArray } from '../../../../src/values/array/ndarray.ts'
import type {
  NonFinite,
  NumberCodec,
  ParseFailure,
} from '../../../../src/values/array/number-codec.ts'

export const codecs: NumberCodec[] = [
  typescriptCodec,
  ...(nativeCodec ? [nativeCodec, numberCodec] : []),
]

export function parse(
  codec: NumberCodec,
  text: string | Uint8Array,
  dtype?: DType,
): NDArray | ParseFailure {
  return codec.parseNdarray(typeof text === 'string' ? Buffer.from(text) : text, dtype)
}

export function parsed(codec: NumberCodec, text: string | Uint8Array, dtype?: DType): NDArray {
  const result = parse(codec, text, dtype)
  if ('failure' in result) throw new Error(`${result.failure} at ${result.offset} in ${text}`)
  return result
}

export function encoded(
  codec: NumberCodec,
  array: NDArray,
  nonFinite: NonFinite = 'literal',
): string | undefined {
  const text = codec.encodeNdarray(array, nonFinite)
  return text === undefined || typeof text === 'string'
    ? text
    : Buffer.from(text).toString('latin1')
}

/** Checks a failure; one of JSON.parse knows the path of an element instead of its offset. */
export function expectRefused(
  result: NDArray | ParseFailure,
  failure: string,
  offset: number,
  place?: string,
): void {
  expect(result, place).toMatchObject({ failure })
  const found = result as ParseFailure
  if (found.path === undefined && found.offset !== undefined)
    expect(found.offset, place).toBe(offset)
}
