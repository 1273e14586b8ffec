/** The codec of the native add-on. @module */

import {
  type DType,
  type DTypeData,
  dataConstructor,
  dtypes,
  elementTypes,
} from '../../core/dtype.ts'
import { type Addon, addon } from '../../core/native/add-on.ts'
import {
  enforcedCast,
  nonFiniteCode,
  resultWord,
  statusCode,
} from '../../core/native/shared-numbers.ts'
import { illFormedAt } from '../../core/text/utf8.ts'
import { typescriptCodec } from './json.ts'
import { NDArray } from './ndarray.ts'
import type { NonFinite, NumberCodec, ParseFailure, ParseFailureKind } from './number-codec.ts'
import { maxDimensions } from './shape.ts'

/** The failures that the add-on tells; JSON.parse reads the text for all other statuses. */
const failureKinds: ReadonlyMap<number, ParseFailureKind> = new Map(
  (['syntax', 'ragged', 'dtype', 'range', 'precision', 'depth'] as const).map((kind) => [
    statusCode[kind],
    kind,
  ]),
)

/** @returns words of {@link resultWord}, whose status is "gave up" until a call writes it. */
export function resultWords(shape: readonly number[] = []): Float64Array {
  const words = new Float64Array(resultWord.dims + maxDimensions)
  words[resultWord.status] = statusCode.gaveUp
  setShape(words, shape)
  return words
}

function setShape(words: Float64Array, shape: readonly number[]): void {
  words[resultWord.rank] = shape.length
  for (let i = 0; i < shape.length; i++) words[resultWord.dims + i] = shape[i]
}

/**
 * @returns the array in the buffer, or why it holds no array; undefined when JSON.parse has to read
 * the text.
 */
export function parsedOf(
  words: Float64Array,
  buffer: ArrayBuffer | undefined,
): NDArray | ParseFailure | undefined {
  if (buffer === undefined || words[resultWord.status] !== statusCode.ok) {
    const failure = failureKinds.get(words[resultWord.status])
    if (failure === undefined) return undefined
    return { failure, offset: words[resultWord.offset] }
  }
  const shape = new Array<number>(words[resultWord.rank])
  let size = 1
  for (let i = 0; i < shape.length; i++) {
    shape[i] = words[resultWord.dims + i]
    size *= shape[i]
  }
  const dtype = dtypes[words[resultWord.dtype]] as 'float64'
  return new NDArray(new (dataConstructor(dtype))(buffer, 0, size), shape, dtype)
}

/** @returns the add-on's code of a cast: -1 infers the dtype. */
export function castCode(dtype: DType | undefined, enforced: boolean): number {
  if (dtype === undefined) return -1
  return elementTypes[dtype].code + (enforced ? enforcedCast : 0)
}

const words = resultWords()

/** @returns a failure as both codecs report it: `encoding` if the text is not even UTF-8. */
export function checkEncoding(json: Uint8Array, failure: ParseFailure): ParseFailure {
  const offset = illFormedAt(json)
  if (offset === -1) return failure
  return { failure: 'encoding', offset }
}

/**
 * It leaves strings, objects and what the add-on gives up on to JSON.parse.
 *
 * @returns the codec of the add-on.
 */
function nativeCodecOf(addon: Addon): NumberCodec {
  return {
    name: 'native',
    parseNdarray(json, dtype, enforced = false, maxBytes): NDArray | ParseFailure {
      if (dtype === 'str') return typescriptCodec.parseNdarray(json, dtype, enforced, maxBytes)
      const parsed = parsedOf(words, addon.parseNdarray(json, castCode(dtype, enforced), words))
      if (parsed === undefined) return typescriptCodec.parseNdarray(json, dtype, enforced, maxBytes)
      if ('failure' in parsed) return checkEncoding(json, parsed)
      return parsed
    },
    encodeNdarray(array: NDArray, nonFinite: NonFinite): string | Uint8Array | undefined {
      const { dtype, shape } = array
      const data = array.data as DTypeData['float64']
      if (dtype === 'str' || data.length === 0)
        return typescriptCodec.encodeNdarray(array, nonFinite)
      setShape(words, shape)
      const text = addon.encodeNdarray(
        data,
        elementTypes[dtype].code,
        nonFiniteCode[nonFinite],
        words,
      )
      if (typeof text === 'string') return text
      if (text !== undefined) return new Uint8Array(text, 0, words[resultWord.length])
      if (words[resultWord.status] === statusCode.nonFinite) return undefined
      return typescriptCodec.encodeNdarray(array, nonFinite)
    },
  }
}

/** The add-on alone, at any size: for tests and benchmarks. Undefined when it is not loaded. */
export const nativeCodec: NumberCodec | undefined = addon && nativeCodecOf(addon)
