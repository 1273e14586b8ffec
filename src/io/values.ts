/** Values, errors and HTTP messages: what `serving` and `serving/io` both export. @module */
export type { Axis, ShapeOf, ShapePattern } from '../core/axes.ts'
export type { DataOf, DType, DTypeData, ListDType, NumericDType } from '../core/dtype.ts'
export {
  BadInput,
  type BadInputReason,
  BadOutput,
  ClientClosed,
  Conflict,
  DeadlineExceeded,
  type ErrorCode,
  type ErrorDetails,
  errorTable,
  Forbidden,
  FunctionError,
  type GrpcStatusName,
  type InputIssue,
  InsufficientStorage,
  InternalError,
  InvalidArgument,
  MethodNotAllowed,
  MissingDependencyException,
  NotFound,
  Overloaded,
  type OwnStatus,
  PayloadTooLarge,
  ServingError,
  SetupError,
  TooManyRequests,
  Unauthorized,
  UnsupportedMediaType,
  ValueError,
} from '../core/errors.ts'
export type { BinaryFileOptions } from '../core/file/binary-file.ts'
export type { MaybePromise } from '../core/promise.ts'
export * as io from '../descriptors/index.ts'
export {
  type Caller,
  type Cleanup,
  Context,
  type ContextInit,
  type ContextState,
  type JobContext,
  type PathParams,
  type RequestLine,
  type RequestParameters,
  type RequestPeer,
  type Scheme,
} from '../http/context.ts'
export type { ServerSentEvent } from '../http/event-stream.ts'
export {
  type Chunk,
  type HeaderLine,
  HeaderList,
  HttpRequest,
  type HttpResponse,
  type RequestHeaders,
  type ResponseBody,
} from '../http/message.ts'
export type { CookieOptions, ResponseContext } from '../http/response-context.ts'
export { NDArray } from '../values/array/ndarray.ts'
export type { Nested } from '../values/array/nested.ts'
export type { EncodableMimeType } from '../values/image/encodable-modes.ts'
export type { Abortable, ResizeOptions } from '../values/image/raster.ts'
export type { Pixels, RasterElements, RasterMode } from '../values/image/raster-modes.ts'
export type { ResizeFilter } from '../values/image/resize.ts'
export type { TensorArray, TensorDType, TensorFit, TensorOptions } from '../values/image/tensor.ts'
export type { DataFrame, Series } from '../values/table/polars/polars-package.ts'
export { BinaryFile, RasterImage } from './needs-node.ts'
