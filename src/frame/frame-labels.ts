/**
 * Row labels of frames and series, for functions.
 * @module
 */

import { expected, InvalidArgument } from '../errors.ts'
import { getLabels, type Label, listLabels, parseLabels, setLabels } from './labels.ts'
import { loadPolars } from './polars.ts'
import type { DataFrame, Series } from './polars-package.ts'

/**
 * Returns the row labels that a frame or a series was received with: pandas' index. Without labels, 0, 1, 2, …
 * Polars' own operations return new frames, which have no labels; see {@link withLabels}.
 *
 * **Source**: our choice, since Polars has no index: stored beside the frame, not as a column of it.
 */
export function labels(frame: DataFrame | Series): Label[] {
  return listLabels(getLabels(frame), rowsOf(frame, 'labels'))
}

/**
 * Sets the row labels of a frame or a series, to be written in split, index, columns and table. Returns the frame or
 * series.
 * **Errors**: InvalidArgument if the number of labels is not that of the rows, and for labels not all strings or all
 * finite numbers.
 * **Example** `return io.withLabels(result, io.labels(frame))`
 */
export function withLabels<F extends DataFrame | Series>(frame: F, list: readonly Label[]): F {
  setLabels(frame, parseLabels(list, rowsOf(frame, 'withLabels')))
  return frame
}

function rowsOf(frame: DataFrame | Series, name: string): number {
  const polars = loadPolars(name)
  if (polars.isDataFrame(frame)) return polars.height(frame)
  if (polars.isSeries(frame)) return frame.length
  throw new InvalidArgument(expected('a DataFrame or a Series', name, frame))
}
