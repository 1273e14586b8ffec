/**
 * The public surface of serving.
 * @module
 */

export { NDArray } from './array/ndarray.ts'
export type { Nested } from './array/nested.ts'
export * as io from './descriptors/index.ts'
export type { DType } from './dtype.ts'
export {
  BadInput,
  BadOutput,
  ClientClosed,
  DeadlineExceeded,
  type ErrorCode,
  errorTable,
  FunctionError,
  InternalError,
  InvalidArgument,
  MethodNotAllowed,
  MissingDependencyException,
  NotFound,
  Overloaded,
  PayloadTooLarge,
  ServingError,
  SetupError,
  Unauthorized,
  UnsupportedMediaType,
  ValueError,
} from './errors.ts'
export { BinaryFile, type BinaryFileOptions } from './file/binary-file.ts'
export { Context, type CookieOptions } from './http/context.ts'
export { HeaderList, HttpRequest, type HttpResponse, type RequestHeaders } from './http/message.ts'
export type { EncodableMimeType, EncodeOptions } from './image/image-codec.ts'
export { type Abortable, RasterImage, type ResizeOptions } from './image/raster.ts'
export type { RasterMode } from './image/raster-modes.ts'
export type { ResizeFilter } from './image/resize.ts'
export type { TensorFit, TensorOptions } from './image/tensor.ts'
export type { ModelCall } from './runner/model-host.ts'
export { Runner, type RunnerLife, type StartOptions } from './runner/runner.ts'
export type { CallOptions, MethodOptions, RunnerOptions } from './runner/runner-options.ts'
export { registerSerializer, type SerializedFields, type Serializer } from './runner/serializers.ts'
export { move } from './runner/transfer.ts'
export type { RunnerEvent } from './runner/worker-supervisor.ts'

// Loaded for `Service.inject`.
import './server/inject.ts'

export { serve } from './server/listener.ts'
export type { EngineName, Limits, Listener, ServeOptions } from './server/options.ts'
export type { Api, ApiOptions } from './service/api.ts'
export { call } from './service/call.ts'
export type { InjectJson, InjectRequest, InjectResponse } from './service/inject.ts'
export { Service, type ServiceOptions } from './service/service.ts'
