/** The contract of the codecs: the add-on and JSON.parse give the same arrays and refuse the same texts. @module */
import type { DType } from '../../core/dtype.ts'
import type { NDArray } from './ndarray.ts'

/** Why a text is no array. */
export type ParseFailureKind =
  /** not JSON (NaN, Infinity and -Infinity as bare words are allowed) */
  | 'syntax'
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
  /** Where the offending token is, if that is known. **Units**: bytes from the start of the text. */
  readonly offset?: number
  /** The offending element, such as `[1][0]`, where its offset is not known. */
  readonly path?: string
}

/** How NaN and the infinities are printed, which JSON has no word for. */
export type NonFinite = 'null' | 'literal' | 'error'

/** JSON text ⇄ arrays. Stateless: any number of threads may use it at once. */
export interface NumberCodec {
  readonly name: 'native' | 'typescript'
  /**
   * Parses JSON text into new memory: by default float64, bool or str. `enforced`: only kinds that
   * numpy's `same_kind` casts; integers have no fraction or exponent, unsigned ones no minus; null
   * and NaN are floats.
   *
   * @throws PayloadTooLarge above `maxBytes` for a text that only JSON.parse reads.
   */
  parseNdarray(
    json: Uint8Array,
    dtype: DType | undefined,
    enforced?: boolean,
    maxBytes?: number,
  ): NDArray | ParseFailure
  /**
   * @returns the array as JSON text; undefined for a non-finite element while `nonFinite` is
   * `'error'`.
   */
  encodeNdarray(array: NDArray, nonFinite: NonFinite): string | Uint8Array | undefined
}
