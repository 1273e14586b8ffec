/**
 * The `io` namespace: descriptors and what they are made of.
 * @module
 */

export { labels, withLabels } from '../frame/frame-labels.ts'
export type { MaybePromise } from '../promise.ts'
export { type BodyReceiver, IODescriptor, type Received, type Returned } from './descriptor.ts'
export { File, type FileOptions } from './file.ts'
export { Image, type ImageOptions, type ImageValue } from './image.ts'
export { JSON, type JsonOptions, type JsonValue } from './json.ts'
export { JSONEncoder } from './json-encoder.ts'
export { Multipart, type MultipartIn, type MultipartOptions, type MultipartOut } from './multipart.ts'
export { NumpyNdarray, type NumpyNdarrayOptions } from './numpy-ndarray.ts'
export { PandasDataFrame, type PandasDataFrameOptions } from './pandas-dataframe.ts'
export { PandasSeries, type PandasSeriesOptions } from './pandas-series.ts'
export { many, optional, type PartRule } from './part-rule.ts'
export { Text, type TextOptions, type TextPiece } from './text.ts'
