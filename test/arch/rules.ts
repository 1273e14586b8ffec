/** The house rules as data: who may import whom, and which file owns which package. */

/** Floors by folder or file below src: a file imports its own folder and lower floors only. */
export const floors: Readonly<Record<string, number>> = {
  'errors.ts': 0,
  'promise.ts': 0,
  'dtype.ts': 1,
  'options.ts': 1,
  memory: 1,
  modules: 1,
  native: 1,
  gen: 1,
  file: 2,
  text: 2,
  http: 3,
  form: 4,
  proto: 4,
  array: 5,
  frame: 6,
  image: 6,
  descriptors: 7,
  runner: 7,
  service: 8,
  onnx: 8,
  client: 9,
  oip: 9,
  openapi: 9,
  server: 10,
  workers: 11,
  config: 11,
  testing: 11,
  cli: 12,
  'index.ts': 13,
}

/** The one file that imports a package; type-only imports count, too. */
export const packageOwners: Readonly<Record<string, string>> = {
  '@grpc/grpc-js': 'server/grpc.ts',
  '@grpc/reflection': 'server/grpc.ts',
  '@napi-rs/image': 'image/image-codec.ts',
  '@standard-schema/spec': 'descriptors/schema-slices.ts',
  '@valibot/to-json-schema': 'descriptors/standard-json-schema.ts',
  chokidar: 'cli/watch-sources.ts',
  commander: 'cli/main.ts',
  cookie: 'http/context.ts',
  flatbuffers: 'array/flatbuffer.ts',
  'nodejs-polars': 'frame/polars-package.ts',
  'onnxruntime-node': 'onnx/onnxruntime.ts',
  'grpc-health-check': 'server/grpc.ts',
  leven: 'config/nearest-word.ts',
  mime: 'file/extension-type.ts',
  pino: 'server/log.ts',
  'file-type': 'file/file-type.ts',
  piscina: 'runner/thread-workers.ts',
  protobufjs: 'proto/protobuf.ts',
  tsx: 'modules/typescript.ts',
  yaml: 'config/config-file.ts',
  'uWebSockets.js': 'server/uws-package.ts',
  zod: 'descriptors/standard-json-schema.ts',
}

/** Only these files of the descriptors may be imported by rooms below the command: never a concrete descriptor. */
export const abstractDescriptor = [
  'descriptors/description.ts',
  'descriptors/descriptor.ts',
  'descriptors/proto-content.ts',
]

/** File and folder names that say nothing. */
export const emptyNames = /(^|[-/])(utils?|helpers?|common|misc|manager)([-./]|$)/i

/** The names that the package exports; adding one is a decision. */
export const publicNames = [
  'BadInput',
  'BadOutput',
  'BinaryFile',
  'ClientClosed',
  'Context',
  'DeadlineExceeded',
  'FunctionError',
  'HeaderList',
  'HttpRequest',
  'InsufficientStorage',
  'InternalError',
  'InvalidArgument',
  'MethodNotAllowed',
  'MissingDependencyException',
  'NDArray',
  'NotFound',
  'Overloaded',
  'PayloadTooLarge',
  'RasterImage',
  'Runner',
  'Service',
  'ServingError',
  'SetupError',
  'Unauthorized',
  'UnsupportedMediaType',
  'ValueError',
  'call',
  'errorTable',
  'io',
  'move',
  'registerSerializer',
  'serve',
]

/** The names of the io namespace. */
export const ioNames = [
  'File',
  'IODescriptor',
  'Image',
  'JSON',
  'JSONEncoder',
  'Multipart',
  'NumpyNdarray',
  'PandasDataFrame',
  'PandasSeries',
  'Text',
  'labels',
  'many',
  'optional',
  'withLabels',
]
