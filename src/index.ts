/**
 * The public surface of serving.
 * @module
 */
export { Context, type CookieOptions } from './context.ts'
export type { Api, ApiOptions } from './core/api.ts'
export { call } from './core/call.ts'
export type { RunnerEvent } from './core/crew.ts'
export type { ModelCall } from './core/model-host.ts'
export { Runner } from './core/runner.ts'
export type { CallOptions, MethodOptions, RunnerOptions } from './core/runner-options.ts'
export { Service, type ServiceOptions } from './core/service.ts'
export { BinaryFile, type BinaryFileOptions } from './data/binary-file.ts'
export type { DType } from './data/dtype.ts'
export { NDArray } from './data/ndarray.ts'
export { toNested } from './data/nested.ts'
export { RasterImage, type RasterMode } from './data/raster.ts'
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
export * as io from './io/index.ts'
export { serve } from './server/listener.ts'
export type { EngineName, Limits, Listener, ServeOptions } from './server/options.ts'
export { HeaderList, HttpRequest, type HttpResponse, type RequestHeaders } from './wire/message.ts'
