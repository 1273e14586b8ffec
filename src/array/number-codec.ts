/**
 * The contract between NumpyNdarray and the two codecs that can stand behind it: the native add-on and `data/ndarray-json.ts`.
 * Both give the same answer on every input, failures and their offsets included.
 * @module
 */
import type { DataOf, DType } from '../dtype.ts'

/** Why a text is no array. */
export type ParseFailureKind =
  /** not JSON (NaN, Infinity and -Infinity as bare words are allowed) */
  | 'syntax'
  /** not UTF-8 */
  | 'encoding'
  /** lists of unequal length or depth */
  | 'ragged'
  /** an element that the dtype does not take */
  | 'dtype'
  /** a number outside the dtype's range */
  | 'range'
  /** without a dtype: an integer beyond ±2^53 */
  | 'precision'
  /** more than `maxDimensions` levels */
  | 'depth'

/** A text that is no array. */
export interface ParseFailure {
  readonly failure: ParseFailureKind
  /** **Units**: bytes from the start of the text to the offending token. */
  readonly offset: number
}

/** A parsed array: flat elements in C order. */
export interface ParsedArray {
  readonly dtype: DType
  readonly shape: readonly number[]
  readonly data: DataOf<DType>
}

/** What to print for NaN and the infinities, which JSON has no word for. */
export type NonFinite = 'null' | 'literal' | 'error'

/** JSON text ⇄ flat numbers. Stateless: any number of threads may use it at once. */
export interface NumberCodec {
  readonly name: 'native' | 'typescript'
  /**
   * JSON text becomes flat elements. Without a dtype: numbers float64, booleans bool, strings str.
   * The result never aliases `json`.
   */
  parseNdarray(json: Uint8Array, dtype: DType | undefined): ParsedArray | ParseFailure
  /** An array becomes JSON text. Undefined: a non-finite element while `nonFinite` is `'error'`. */
  encodeNdarray(array: ParsedArray, nonFinite: NonFinite): string | Uint8Array | undefined
}
