/**
 * The service of `stall.ts`: an API for each way in that a body could hold the event loop.
 * @module
 */
import { readFileSync } from 'node:fs'
import pl from 'nodejs-polars'
import { io, NDArray, Runner, Service } from 'serving'
import { z } from 'zod'

const svc = new Service('stall')
const counted = { output: new io.JSON() }

/** The neighbour: a small array. */
svc.api(
  { input: new io.NumpyNdarray({ dtype: 'float64' }), output: new io.NumpyNdarray() },
  function double(x) {
    return new NDArray(
      x.data.map((value) => value * 2),
      x.shape,
    )
  },
)
svc.api({ ...counted, input: new io.JSON() }, function json() {
  return 1
})
svc.api({ ...counted, input: new io.JSON() }, function echo(value) {
  return value
})
svc.api({ ...counted, input: new io.JSON({ schema: z.array(z.string()) }) }, function strings() {
  return 1
})
const record = z.object({ a: z.number(), b: z.string() })
svc.api(
  { ...counted, input: new io.JSON({ schema: z.object({ rows: z.array(record) }) }) },
  function records() {
    return 1
  },
)
svc.api({ ...counted, input: new io.NumpyNdarray() }, function array() {
  return 1
})
svc.api({ ...counted, input: new io.Text() }, function text() {
  return 1
})
svc.api({ ...counted, input: new io.Multipart({ value: new io.JSON() }) }, function form() {
  return 1
})
svc.api({ ...counted, input: new io.Image() }, function image() {
  return 1
})
svc.api({ ...counted, input: new io.PandasDataFrame() }, function frame() {
  return 1
})
svc.api({ ...counted, input: new io.PandasDataFrame({ orient: 'columns' }) }, function columns() {
  return 1
})
svc.api({ ...counted, input: new io.PandasSeries() }, function series() {
  return 1
})

for (const orient of ['records', 'columns', 'index', 'split', 'table', 'values'] as const) {
  svc.api(
    { ...counted, input: new io.PandasDataFrame({ orient }), name: `frame_${orient}` },
    () => 1,
  )
}

/** The outputs: made by the first call, and returned by all. */
function out<T>(name: string, output: io.IODescriptor<unknown, T>, make: () => T): void {
  let value: T | undefined
  svc.api({ input: new io.JSON(), output, name: `out_${name}` }, () => {
    value ??= make()
    return value
  })
}
const list = <T>(length: number, make: (i: number) => T) =>
  Array.from({ length }, (_, i) => make(i))
const columns = (width: number, rows: number) =>
  Object.fromEntries(
    list(width, (i) => [
      `c${i}`,
      i % 10 === 9 ? list(rows, (row) => `t${row}`) : list(rows, (row) => row / 7),
    ]),
  )
const long = pl.DataFrame(columns(10, 300_000))
const wide = pl.DataFrame(columns(16_000, 50))
for (const orient of ['records', 'columns', 'index', 'split', 'table', 'values'] as const) {
  out(`long_${orient}`, new io.PandasDataFrame({ orient }), () => long)
  out(`wide_${orient}`, new io.PandasDataFrame({ orient }), () => wide)
}
for (const defaultFormat of ['csv', 'parquet'] as const) {
  out(`long_${defaultFormat}`, new io.PandasDataFrame({ defaultFormat }), () => long)
  out(`wide_${defaultFormat}`, new io.PandasDataFrame({ defaultFormat }), () => wide)
}
out(
  'array',
  new io.NumpyNdarray(),
  () => new NDArray(Float64Array.from(list(3_000_000, (i) => i / 7)), [3_000, 1_000]),
)
out('words', new io.NumpyNdarray({ dtype: 'str' }), () =>
  NDArray.from(list(1_000_000, (i) => `word ${i}`)),
)
out('series', new io.PandasSeries(), () =>
  pl.Series(
    's',
    list(3_000_000, (i) => i / 7),
  ),
)
out('series_words', new io.PandasSeries(), () =>
  pl.Series(
    's',
    list(1_000_000, (i) => `word ${i}`),
  ),
)
out('text', new io.Text(), () => 'abc'.repeat(20_000_000))
out('text_wide', new io.Text(), () => 'é😀'.repeat(10_000_000))
out('file', new io.File(), () => Buffer.alloc(60_000_000))
const rows = () => list(300_000, (i) => ({ a: i, b: `x${i}` }))
out('json', new io.JSON(), rows)
out('json_schema', new io.JSON({ schema: z.array(record) }), rows)
out('json_object', new io.JSON({ schema: z.record(z.string(), z.number()) }), () =>
  Object.fromEntries(list(100_000, (i) => [`k${i}`, i])),
)

/** A Runner that gets 500 MB and gives them back. Started by the first call. */
const moves = { methods: { echo: {} } }
const module = new URL('./models/moves.ts', import.meta.url)
const python = new URL('./models/echo.py', import.meta.url)
type Moves = typeof import('./models/moves.ts')
const runners = {
  thread: new Runner<Moves>('thread', { ...moves, module }),
  process: new Runner<Moves>('process', { ...moves, module, isolation: 'process' }),
  python: new Runner<{ echo(x: NDArray): NDArray }>('python', { ...moves, python }),
}
const half = 500_000_000
for (const [kind, runner] of Object.entries(runners)) {
  let x: NDArray<'float64'> | undefined
  svc.api({ ...counted, input: new io.JSON(), name: `runner_${kind}` }, async (_, ctx) => {
    if (x === undefined) {
      x = new NDArray(new Float64Array(half / 8).fill(1.5), [half / 8])
      await runner.start()
      return 0
    }
    const { data } = await runner.echo(x, ctx)
    if (data.length !== x.data.length || data.at(-1) !== 1.5) throw new Error('a wrong answer')
    return 1
  })
}

const cpuMs = () =>
  Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ', 1)[0]) / 1e6
let longest = 0
let last = cpuMs()
setInterval(() => {
  const now = cpuMs()
  longest = Math.max(longest, now - last)
  last = now
}, 2).unref()

/** The longest stretch of the event loop since the last call, in CPU time of its thread: others add nothing. */
svc.api({ ...counted, input: new io.JSON() }, function longest_turn() {
  const ms = longest
  longest = 0
  return ms
})

export default svc
