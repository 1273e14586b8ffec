/**
 * The codec of the native add-on, and the choice between it and the TypeScript codec.
 * @module
 */

import { type DType, type DTypeData, dataConstructor, dtypes, elementTypes } from '../dtype.ts'
import { type Addon, addon } from '../native/add-on.ts'
import { typescriptCodec } from './json.ts'
import { NDArray } from './ndarray.ts'
import type { NonFinite, NumberCodec, ParseFailure, ParseFailureKind } from './number-codec.ts'
import { checkEncoding } from './scan.ts'
import { maxDimensions } from './shape.ts'

// Status codes of native/src/status.h.
const gaveUp = 8
const nonFiniteFound = 9
/** By status code; for the codes left out, and for `gaveUp`, the TypeScript codec reads the text. */
const failureKinds: readonly (ParseFailureKind | undefined)[] = [
  undefined,
  'syntax',
  'ragged',
  'dtype',
  'range',
  'precision',
  'depth',
]
/** Codes of {@link NonFinite} in the add-on. */
export const nonFiniteCodes: Record<NonFinite, number> = { null: 0, literal: 1, error: 2 }

/**
 * From which size on the add-on is the faster one; below, the call into it costs more than it saves.
 * A 2×4 body and its answer take 0.56 µs in TypeScript and 0.95 µs in the add-on: 5 % of the CPU of such a request.
 * **Units**: bytes. **Source**: bench/micro/ndarray-codec.ts --small, native against TypeScript: 0.34 to 0.16 µs at 37
 * bytes, 0.34 to 0.79 µs at 80 bytes of 17-digit numbers, 0.54 to 0.55 µs at 109 bytes of short ones.
 */
export const minParseBytes = 80
/**
 * The same for printing. Up to 64 bytes, eight doubles, V8 keeps an array's elements in its own heap and must move them
 * out before the add-on can see them: 0.44 to 0.69 µs for 8 long doubles that were just made, 0.29 to 0.61 for 8 short
 * ones.
 * **Units**: elements. **Source**: as above.
 */
export const minEncodeElements = 9

/**
 * Returns new result words: status, offset or length, dtype, rank, dimensions. Passed in, since the add-on makes no
 * objects. The status is "gave up" until a call has written its own, so that a call that never ran is no result.
 */
export function resultWords(shape: readonly number[] = []): Float64Array {
  const words = new Float64Array(4 + maxDimensions)
  words[0] = gaveUp
  setShape(words, shape)
  return words
}

function setShape(words: Float64Array, shape: readonly number[]): void {
  words[3] = shape.length
  for (let i = 0; i < shape.length; i++) words[4 + i] = shape[i]
}

/** Returns the array in the buffer, or why there is none; undefined when the TypeScript codec has to read the text. */
export function parsedOf(words: Float64Array, buffer: ArrayBuffer | undefined): NDArray | ParseFailure | undefined {
  if (buffer === undefined || words[0] !== 0) {
    const failure = failureKinds[words[0]]
    return failure === undefined ? undefined : { failure, offset: words[1] }
  }
  const shape = new Array<number>(words[3])
  let size = 1
  for (let i = 0; i < shape.length; i++) {
    shape[i] = words[4 + i]
    size *= shape[i]
  }
  const dtype = dtypes[words[2]] as 'float64'
  // The buffer of a list without elements has room for one.
  return new NDArray(new (dataConstructor(dtype))(buffer, 0, size), shape, dtype)
}

/**
 * Returns the add-on's code of what elements are cast to: a dtype's, plus 16 where it is enforced; -1 infers the dtype.
 */
export function castCode(dtype: DType | undefined, enforced: boolean): number {
  return dtype === undefined ? -1 : elementTypes[dtype].code + (enforced ? 16 : 0)
}

// Calls are synchronous: one for the thread is enough.
const words = resultWords()

/** Parses by the add-on; undefined when the TypeScript codec has to read the text: it holds strings or objects. */
export function parseNatively(
  json: Uint8Array,
  dtype: DType | undefined,
  enforced = false,
): NDArray | ParseFailure | undefined {
  if (addon === undefined || dtype === 'str') return undefined
  const parsed = parsedOf(words, addon.parseNdarray(json, castCode(dtype, enforced), words))
  return parsed === undefined || !('failure' in parsed) ? parsed : checkEncoding(json, parsed)
}

/**
 * Returns the codec of a loaded add-on, which reads and prints every array of numbers there, however small. Strings and
 * objects go to the TypeScript codec, and so does a text that the add-on gives up on.
 */
function nativeCodecOf(addon: Addon): NumberCodec {
  return {
    name: 'native',
    parseNdarray(json: Uint8Array, dtype: DType | undefined, enforced?: boolean): NDArray | ParseFailure {
      return parseNatively(json, dtype, enforced) ?? typescriptCodec.parseNdarray(json, dtype, enforced)
    },
    encodeNdarray(array: NDArray, nonFinite: NonFinite): string | Uint8Array | undefined {
      const { dtype, shape } = array
      const data = array.data as DTypeData['float64']
      if (dtype === 'str' || data.length === 0) return typescriptCodec.encodeNdarray(array, nonFinite)
      setShape(words, shape)
      const text = addon.encodeNdarray(data, elementTypes[dtype].code, nonFiniteCodes[nonFinite], words)
      if (typeof text === 'string') return text
      if (text !== undefined) return new Uint8Array(text, 0, words[1])
      return words[0] === nonFiniteFound ? undefined : typescriptCodec.encodeNdarray(array, nonFinite)
    },
  }
}

/** The add-on alone, at any size: for tests and benchmarks. Undefined when it is not loaded. */
export const nativeCodec: NumberCodec | undefined = addon === undefined ? undefined : nativeCodecOf(addon)

function bySize(native: NumberCodec): NumberCodec {
  return {
    name: 'native',
    parseNdarray: (json, dtype, enforced) =>
      (json.length < minParseBytes ? typescriptCodec : native).parseNdarray(json, dtype, enforced),
    encodeNdarray: (array, nonFinite) =>
      (array.data.length < minEncodeElements ? typescriptCodec : native).encodeNdarray(array, nonFinite),
  }
}

/**
 * The codec that serves: the add-on from the sizes on where it is faster, the TypeScript codec below and where it is
 * not loaded.
 */
export const numberCodec: NumberCodec = nativeCodec === undefined ? typescriptCodec : bySize(nativeCodec)
