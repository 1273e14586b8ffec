/**
 * serving itself: one process, one API per job, with default options; BENCH_GRPC=1 reports the port of gRPC instead of
 * HTTP's, BENCH_ENGINE=node takes the engine of node:http.
 * @module
 */
import { io, NDArray, Service, serve } from 'serving'
import { listening } from './listening.ts'
import { meanOf } from './mean.ts'
import { runnerService } from './runner.ts'

const path = process.env.BENCH_PATH ?? ''

/** Returns the service of a path: an example, a model behind a runner, or one without APIs so far. */
async function serviceOf(): Promise<Service> {
  if (path === '/classify') return (await import('../../examples/shapes/service.ts')).default
  return path.startsWith('/runner_') ? runnerService(path) : new Service('bench')
}

const svc = await serviceOf()
svc.api({ input: new io.NumpyNdarray(), output: new io.NumpyNdarray() }, function ndarray(x) {
  return x
})
const float32 = new io.NumpyNdarray({ dtype: 'float32' })
svc.api({ input: float32, output: float32 }, function floats(x) {
  return x
})
svc.api({ input: float32, output: float32 }, function rows(x) {
  return x
})
svc.api({ input: float32, output: float32 }, function picture(x) {
  return x
})
svc.api({ input: float32, output: float32 }, function first({ data }) {
  return new NDArray(data.slice(0, 1000), [1000], 'float32')
})
svc.api({ input: new io.PandasDataFrame(), output: new io.PandasDataFrame() }, function frame(df) {
  return df
})
const csvFrame = new io.PandasDataFrame({ defaultFormat: 'csv' })
svc.api({ input: csvFrame, output: csvFrame }, function csv(df) {
  return df
})
const parquetFrame = new io.PandasDataFrame({ defaultFormat: 'parquet' })
svc.api({ input: parquetFrame, output: parquetFrame }, function parquet(df) {
  return df
})
svc.api({ input: new io.PandasSeries(), output: new io.PandasSeries() }, function series(values) {
  return values
})
svc.api({ input: new io.JSON(), output: new io.JSON() }, function json(value) {
  return value
})
svc.api({ input: new io.JSON(), output: new io.JSON() }, function gzip(value) {
  return value
})
svc.api({ input: new io.Text(), output: new io.Text() }, function text(value) {
  return value
})
svc.api({ input: new io.Text(), output: new io.Text() }, async function* stream(piece) {
  for (let i = 0; i < 100; i++) yield piece
})
const texts = { input: new io.Text(), output: new io.Text() }
svc.live('live_text', texts, async function* (inputs) {
  yield* inputs
})
svc.live('live_pieces', texts, async function* (inputs) {
  for await (const piece of inputs) for (let i = 0; i < 100; i++) yield piece
})
const large = { input: float32, output: float32, maxMessage: '1mb' } as const
svc.live('live_floats', large, async function* (inputs) {
  yield* inputs
})
svc.api({ input: new io.Image(), output: new io.JSON() }, function mean(picture) {
  return picture.toNDArray().mean()
})
const imagenet = { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] } as const
const picture = new io.Image({ tensor: { size: [224, 224], ...imagenet } })
svc.api({ input: picture, output: new io.JSON() }, function tensor({ data }) {
  const plane = data.length / 3
  return [0, 1, 2].map((c) => meanOf(data.subarray(c * plane, (c + 1) * plane)))
})
svc.api({ input: new io.File(), output: new io.File() }, function file(value) {
  return value
})
const parts = { arr: new io.NumpyNdarray(), meta: new io.JSON(), file: new io.File() }
svc.api(
  { input: new io.Multipart(parts), output: new io.JSON() },
  function form({ arr, meta, file }) {
    const sum = (arr.data as Float64Array).reduce((total, value) => total + value, 0)
    return { sum, x: (meta as { x: number }).x, size: file.size }
  },
)

const isGrpc = process.env.BENCH_GRPC === '1'
const engine = process.env.BENCH_ENGINE === 'node' ? 'node' : 'uws'
const listener = await serve(svc, {
  port: 0,
  host: '127.0.0.1',
  engine,
  ...(isGrpc && { grpcPort: 0 }),
})
listening(listener.grpcPort ?? listener.port)
