/** Options of batches whose rows differ. @module */
import { fn, fromCode, type OptionsOf, type SettingsOf } from '../core/option.ts'
import type { NDArray } from '../values/array/ndarray.ts'

/** The options of batches whose rows differ. */
export const raggedOptions = {
  /** Makes rows of an NDArray as long as the longest: the value that follows the second dimension of shorter ones. */
  pad: fromCode<number>('a number', (value) => typeof value === 'number'),
  /**
   * The second dimensions of padded batches, for models that know no others; a longer input gets 400.
   *
   * @default the longest of a batch, of lengths that differ by at most a fifth
   */
  buckets: fromCode<readonly number[]>(
    'a rising list of whole numbers from 1 up',
    (sizes) =>
      Array.isArray(sizes) &&
      sizes.length > 0 &&
      sizes.every((size, i) => Number.isSafeInteger(size) && size > (sizes[i - 1] ?? 0)),
  ),
  /** Results that have the second dimension of the input: `true` for all, or their names. */
  trim: fromCode<true | readonly string[]>(
    'true or a list of names',
    (names) =>
      names === true || (Array.isArray(names) && names.every((name) => typeof name === 'string')),
  ),
  /**
   * What the time of a call follows, in any unit.
   *
   * @default the elements of an array, the rows of a list
   */
  cost: fn<(input: NDArray & unknown[]) => number>(),
}

/** Options of batches whose rows differ. */
export interface RaggedOptions extends OptionsOf<typeof raggedOptions> {}

/** Options of batches whose rows differ, checked. */
export type RaggedSettings = Partial<SettingsOf<typeof raggedOptions>>
