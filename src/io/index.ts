/**
 * The `io` namespace: descriptors and what they are made of.
 * @module
 */
export { IODescriptor, type MaybePromise, type Received, type Returned } from './descriptor.ts'
export { JsonDescriptor as JSON, type JsonOptions, type JsonValue } from './json.ts'
export { JSONEncoder } from './json-encoder.ts'
export { labels, withLabels } from './labels.ts'
export { NumpyNdarray, type NumpyNdarrayOptions } from './numpy-ndarray.ts'
export { PandasDataFrame, type PandasDataFrameOptions } from './pandas-dataframe.ts'
export { PandasSeries, type PandasSeriesOptions } from './pandas-series.ts'
export { Text, type TextOptions, type TextPiece } from './text.ts'
