/** The `io` namespace: descriptors and what they are made of. @module */

export type { FileSample, ReadySample } from '../core/file/file-sample.ts'
export type { MaybePromise } from '../core/promise.ts'
export type { BigNumbers } from '../core/text/json-numbers.ts'
export type { NonFinite } from '../values/array/number-codec.ts'
export type { ImageMimeType } from '../values/image/header.ts'
export type { TimeUnit } from '../values/table/columns.ts'
export type { FrameFormat } from '../values/table/frame-formats.ts'
export type { TimeOptions } from '../values/table/frame-options.ts'
export type { Orient } from '../values/table/json/frame-plan.ts'
export type { ParquetCompression } from '../values/table/parquet/parquet-writer.ts'
export type { Label } from '../values/table/polars/labels.ts'
export type { TimeForm } from '../values/table/times.ts'
export type {
  Description,
  ErrorDescription,
  FieldDescription,
  FormatDescription,
  Formats,
  JsonSchema,
} from './description.ts'
export {
  type AnyDescriptor,
  type BodyReceiver,
  type ExampleOf,
  IODescriptor,
  type Received,
  type Returned,
} from './descriptor.ts'
export type { FileOptions } from './file.ts'
export type { ImageOptions, ImageValue } from './image.ts'
export {
  JSON,
  type JsonIn,
  type JsonOptions,
  type JsonOut,
  type JsonValue,
  type Schema,
} from './json.ts'
export { JSONEncoder } from './json-encoder.ts'
export type { JsonPieces } from './json-stream.ts'
export type {
  MultipartExample,
  MultipartIn,
  MultipartOptions,
  MultipartOut,
  Parts,
} from './multipart.ts'
export {
  columnFromNDArray,
  columnToNDArray,
  File,
  Image,
  labels,
  Multipart,
  PandasDataFrame,
  PandasSeries,
  withLabels,
} from './needs-node.ts'
export { type ArrayResult, NumpyNdarray, type NumpyNdarrayOptions } from './numpy-ndarray.ts'
export type { PandasDataFrameOptions } from './pandas-dataframe.ts'
export type { PandasSeriesOptions, SeriesElement } from './pandas-series.ts'
export type { PartOfSample } from './part-of-sample.ts'
export { many, type Occurrence, optional, type PartRule } from './part-rule.ts'
export { Text, type TextOptions, type TextPiece, type TextResult } from './text.ts'
