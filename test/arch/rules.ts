/** The house rules as data: who may import whom, and which file owns which package. */

/**
 * The rooms below src and which others each may import, from the ground up: none imports one that stands below it here.
 * `index.ts`, the public surface, may import all.
 */
export const mayImport: Readonly<Record<string, readonly string[]>> = {
  core: [],
  http: ['core'],
  messages: ['core'],
  telemetry: ['core', 'http'],
  values: ['core', 'http', 'messages'],
  descriptors: ['core', 'http', 'messages', 'values'],
  runner: ['core', 'http', 'telemetry', 'values'],
  api: ['core', 'http', 'messages', 'telemetry', 'values', 'descriptors', 'runner'],
  io: ['core', 'http', 'values', 'descriptors', 'api'],
  live: ['core', 'http', 'messages', 'telemetry', 'descriptors', 'api'],
  jobs: ['core', 'http', 'messages', 'telemetry', 'descriptors', 'api'],
  capture: [
    'core',
    'http',
    'messages',
    'telemetry',
    'values',
    'descriptors',
    'runner',
    'api',
    'jobs',
  ],
  protocols: ['core', 'http', 'messages', 'values', 'descriptors', 'runner', 'api', 'jobs'],
  client: ['core', 'http', 'descriptors', 'api', 'jobs'],
  engine: ['core', 'http', 'telemetry', 'runner', 'api', 'live'],
  rpc: ['core', 'http', 'messages', 'descriptors', 'api', 'live', 'engine'],
  docs: ['core', 'http', 'descriptors', 'api', 'live', 'jobs', 'client'],
  server: [
    'core',
    'http',
    'messages',
    'telemetry',
    'descriptors',
    'runner',
    'api',
    'live',
    'jobs',
    'capture',
    'protocols',
    'engine',
    'rpc',
    'docs',
  ],
  'service-options.ts': ['core', 'runner', 'api', 'jobs', 'protocols'],
  'service.ts': ['descriptors', 'runner', 'api', 'jobs', 'server', 'service-options.ts'],
  testing: ['core', 'http', 'messages', 'descriptors', 'service.ts', 'server'],
  cli: [
    'core',
    'http',
    'messages',
    'values',
    'descriptors',
    'runner',
    'api',
    'jobs',
    'capture',
    'client',
    'engine',
    'server',
    'service-options.ts',
    'service.ts',
  ],
}

/**
 * All state of modules, of the process by its nature: the hooks that read TypeScript, the metrics of the process, what
 * an optional package has made, and memory that is written again.
 */
export const moduleLets: readonly string[] = [
  'core/modules/typescript.ts: reading',
  'telemetry/metrics/exposition.ts: processRegistry',
  'values/array/flatbuffer.ts: builder',
  'values/table/frame-dtype.ts: zoneless',
]

/** The one file of the server that imports protocols: it names them all, in their order. */
export const composition = 'server/built-in-protocols.ts'

/** Files that call functions, and those that keep them for these. Nobody else has their key. */
export const functionCallers = [
  'api/api.ts',
  'api/live-api.ts',
  'api/stages.ts',
  'io/handler.ts',
  'live/live-protocol.ts',
]

/**
 * Files of what serves requests that call JSON.parse, and what they read by it: never the bytes of a request, whose
 * values `visit.json` and `parseJson` count first.
 */
export const jsonReaders: Readonly<Record<string, string>> = {
  'api/auth/jwt.ts': 'a file of keys',
  'api/caller-identity.ts': 'keys of callers that it has made',
  'api/response-cache.ts': 'entries of the shared cache',
  'descriptors/json.ts': 'what a function has returned',
  'docs/openapi/mounted.ts': 'the document of a mounted handler',
  'engine/pretty-lines.ts': 'lines of the log',
  'engine/uws/uws-package.ts': 'a package.json',
  'jobs/bullmq/bullmq-queues.ts': 'entries of the store',
  'jobs/bullmq/bullmq-store.ts': 'entries of the store',
  'jobs/bullmq/job-records.ts': 'entries of the store',
  'jobs/job-answers.ts': 'progress that a function has reported',
  'jobs/job-events.ts': 'progress that a function has reported',
  'jobs/job-messages.ts': 'what the server has encoded',
  'jobs/sqlite/job-records.ts': 'entries of the store',
  'jobs/webhooks.ts': 'deliveries of the server',
  'live/framing.ts': 'a string',
  'protocols/mcp/tools.ts': 'what a function has returned, and schemas',
  'protocols/oip/remote-http.ts': 'answers of a remote model',
  'protocols/openai/batches/routes.ts': 'what the server has written',
  'protocols/openai/completion.ts': 'what a model has written',
  'server/jobs/run-job.ts': 'the state of a job',
  'server/memory-engine.ts': 'answers, for svc.inject',
  'server/memory-live.ts': 'answers, for svc.inject',
}

/** The one file that imports a package; type-only imports count, too. */
export const packageOwners: Readonly<Record<string, string>> = {
  '@napi-rs/image': 'values/image/napi-image.ts',
  '@standard-schema/spec': 'descriptors/run-schema.ts',
  '@aws-sdk/credential-provider-node': 'jobs/s3-blobs.ts',
  aws4fetch: 'jobs/s3-blobs.ts',
  bullmq: 'jobs/bullmq/bullmq-package.ts',
  '@valibot/to-json-schema': 'descriptors/standard-json-schema.ts',
  chokidar: 'cli/watch-sources.ts',
  'cron-parser': 'api/schedule.ts',
  commander: 'cli/command-options.ts',
  cookie: 'http/cookies.ts',
  esbuild: 'cli/build/bundle-service.ts',
  jose: 'api/auth/jwt.ts',
  flatbuffers: 'values/array/flatbuffer.ts',
  ioredis: 'core/redis.ts',
  ws: 'core/web-socket.ts',
  'nodejs-polars': 'values/table/polars/polars-package.ts',
  'onnxruntime-node': 'runner/onnx/onnxruntime.ts',
  'parquet-wasm': 'values/table/parquet/parquet-wasm-package.ts',
  'lru-cache': 'api/response-cache.ts',
  leven: 'cli/config/nearest-word.ts',
  mime: 'core/file/extension-type.ts',
  pino: 'engine/log.ts',
  'file-type': 'core/file/file-type.ts',
  '@opentelemetry/api': 'telemetry/tracing/otel-tracer.ts',
  '@opentelemetry/exporter-trace-otlp-http': 'telemetry/tracing/otlp.ts',
  '@opentelemetry/resources': 'telemetry/tracing/otlp.ts',
  '@opentelemetry/sdk-trace-node': 'telemetry/tracing/otlp.ts',
  'prom-client': 'telemetry/metrics/exposition.ts',
  piscina: 'runner/thread-worker.ts',
  'protobufjs-8': 'messages/protobuf.ts',
  tinyglobby: 'cli/build/list-files.ts',
  tsx: 'core/modules/typescript.ts',
  yaml: 'cli/config/config-file.ts',
  'uWebSockets.js-20.57': 'engine/uws/uws-package.ts',
  zod: 'descriptors/standard-json-schema.ts',
}

/** Only these files of the descriptors may be imported by what serves them: never a concrete descriptor. */
export const abstractDescriptor = [
  'descriptors/description.ts',
  'descriptors/descriptor.ts',
  'descriptors/proto-content.ts',
  'descriptors/run-schema.ts',
  'descriptors/schema-error.ts',
  'descriptors/standard-json-schema.ts',
]

/** Files that the client also loads in browsers: they import nothing. */
export const browserFiles = [
  'core/element-types.ts',
  'core/npy-file.ts',
  'http/content-disposition.ts',
]

/** The program of the thread for pixels, which the event loop never loads. */
export const pixelThread = 'values/image/pixel-thread.ts'

/** What walks over pixels, for each pair of colour modes, and over the bytes of pictures. */
export const pixelWalkers = [
  'decode-picture',
  'encode-picture',
  'gif',
  'gif-writer',
  'indexed-png',
  'orientation',
  'raster-convert',
  'raster-hsv',
  'raster-kernels',
  'raster-lab',
  'raster-palette',
  'raster-ycbcr',
  'resample-rows',
  'tiff',
  'tiff-writer',
].map((name) => `values/image/${name}.ts`)

/** File and folder names that say nothing. */
export const emptyNames = /(^|[-/])(utils?|helpers?|common|misc|manager)([-./]|$)/i

/** The names that the package exports; adding one is a decision. */
export const publicNames = [
  'BadInput',
  'BadOutput',
  'BinaryFile',
  'ClientClosed',
  'Conflict',
  'Context',
  'DeadlineExceeded',
  'Forbidden',
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
  'StoredBody',
  'TooManyRequests',
  'Unauthorized',
  'UnsupportedMediaType',
  'ValueError',
  'errorTable',
  'io',
  'modelRepository',
  'move',
  'openFile',
  'registerSerializer',
  'serve',
  'traceHeaders',
  'wholeBody',
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
  'columnFromNDArray',
  'columnToNDArray',
  'labels',
  'many',
  'optional',
  'withLabels',
]
