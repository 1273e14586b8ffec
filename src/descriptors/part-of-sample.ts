import { BinaryFile } from '../core/file/binary-file.ts'
import type { MaybePromise } from '../core/promise.ts'
import { NDArray } from '../values/array/ndarray.ts'
import { loadPolars } from '../values/table/polars/polars.ts'
import { type AnyDescriptor, IODescriptor } from './descriptor.ts'
import { File } from './file.ts'
import { isPolars } from './frame-text.ts'
import { JSON } from './json.ts'
import { NumpyNdarray } from './numpy-ndarray.ts'
import { PandasDataFrame } from './pandas-dataframe.ts'
import { PandasSeries } from './pandas-series.ts'
import { Text } from './text.ts'

/** The descriptor for a sample: the sample if it is one, else by the sample's kind; JSON for all other values. */
export type PartOfSample<S> = S extends AnyDescriptor
  ? S
  : S extends string
    ? Text
    : S extends NDArray
      ? NumpyNdarray
      : S extends BinaryFile | Blob | Uint8Array
        ? File
        : S extends { toRecords(): unknown }
          ? PandasDataFrame
          : S extends { rechunk(): unknown }
            ? PandasSeries
            : JSON

/**
 * @returns the descriptor for a sample, made by `fromSample`.
 * @throws those of `fromSample`.
 */
export function partOfSample(sample: unknown): MaybePromise<AnyDescriptor> {
  if (sample instanceof IODescriptor) return sample as AnyDescriptor
  if (typeof sample === 'string') return Text.fromSample(sample)
  if (sample instanceof NDArray) return NumpyNdarray.fromSample(sample)
  if (sample instanceof BinaryFile || sample instanceof Blob || sample instanceof Uint8Array) {
    return File.fromSample(sample)
  }
  if (!isPolars(sample)) return JSON.fromSample(sample)
  const polars = loadPolars('Multipart.fromSample')
  if (polars.isDataFrame(sample)) return PandasDataFrame.fromSample(sample)
  if (polars.isSeries(sample)) return PandasSeries.fromSample(sample)
  return JSON.fromSample(sample)
}
