/** The house rules as data: who may import whom, and which file owns which package. */

/** Layers by folder or file below src; a file imports only lower layers, its own folder, and its peers. */
export const layers: Readonly<Record<string, number>> = {
  'errors.ts': 0,
  data: 1,
  wire: 1,
  gen: 1,
  bindings: 2,
  'context.ts': 2,
  io: 3,
  onnx: 3,
  core: 4,
  server: 5,
  ops: 5,
  cli: 6,
  testing: 6,
  'testing.ts': 7,
  'onnx.ts': 7,
  'index.ts': 7,
}

/** Folders of one layer that may import each other. */
export const peers: readonly (readonly [string, string])[] = [
  ['server', 'ops'],
  ['ops', 'server'],
]

/** The one file that imports a package; type-only imports count, too. */
export const packageOwners: Readonly<Record<string, string>> = {
  '@grpc/grpc-js': 'server/grpc.ts',
  '@grpc/reflection': 'server/grpc.ts',
  '@napi-rs/image': 'bindings/image.ts',
  '@standard-schema/spec': 'io/json.ts',
  commander: 'cli/main.ts',
  cookie: 'context.ts',
  flatbuffers: 'data/flatbuffer.ts',
  'nodejs-polars': 'bindings/polars.ts',
  'onnxruntime-node': 'bindings/onnx.ts',
  'grpc-health-check': 'server/grpc.ts',
  pino: 'server/log.ts',
  'file-type': 'bindings/file-type.ts',
  piscina: 'bindings/pool.ts',
  protobufjs: 'wire/protobuf.ts',
  tsx: 'bindings/typescript.ts',
  'uWebSockets.js': 'server/uws.ts',
}

/** Only these files of io may be imported by server and ops: the abstract class, never a concrete descriptor. */
export const abstractIo = ['io/descriptor.ts', 'io/proto-content.ts']

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
  'serve',
  'toNested',
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
  'withLabels',
]
