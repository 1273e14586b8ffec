/**
 * An API for each descriptor, as clients of other code would see them.
 * @module
 */
import pl from 'nodejs-polars'
import { BinaryFile, io, NDArray, Overloaded, RasterImage, Service, Unauthorized } from 'serving'
import { z } from 'zod'

const pattern = new URL('../../examples/all/pattern.png', import.meta.url)

/** A WAV file of a tenth of a second, 8-bit mono. */
const silence = Buffer.alloc(44 + 800, 128)
silence.write('RIFF\x4c\x03\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0', 'latin1')
silence.writeUInt32LE(8000, 24)
silence.writeUInt32LE(8000, 28)
silence.write('\x01\0\x08\0data\x20\x03\0\0', 32, 'latin1')

const svc = new Service('clients', { doc: 'An API for each descriptor.' })

export const double = svc.api(
  {
    input: new io.NumpyNdarray({ dtype: 'float32' }),
    output: new io.NumpyNdarray(),
    doc: 'Every number times two.',
    examples: [
      { name: 'Counting', input: NDArray.from([1, 2, 3]) },
      { name: 'Halves', input: [[0.5], [1.5]] },
    ],
  },
  function double(x) {
    return new NDArray(
      x.data.map((value) => value * 2),
      x.shape,
    )
  },
)

/** Sends an array back with the type that it came with. */
export const echo = svc.api(
  { input: new io.NumpyNdarray(), output: new io.NumpyNdarray() },
  function echo(x) {
    return x
  },
)

export const total = svc.api(
  {
    input: new io.PandasDataFrame({
      dtype: { price: 'float64', count: 'int64' },
      columns: ['item', 'price', 'count'],
    }),
    output: new io.PandasDataFrame(),
    doc: 'Rows get their total.',
    examples: [{ name: 'Tea', input: pl.DataFrame({ item: ['tea'], price: [2.5], count: [4] }) }],
  },
  function total(orders) {
    return orders.withColumns(pl.col('price').mul(pl.col('count')).alias('total'))
  },
)

const frames = Object.fromEntries(
  (['records', 'columns', 'values', 'index', 'split', 'table'] as const).map((orient) => {
    const frame = new io.PandasDataFrame({ orient })
    const series = new io.PandasSeries({ orient })
    svc.api({ input: frame, output: frame, name: `frame_${orient}` }, (value) => value)
    svc.api({ input: series, output: series, name: `series_${orient}` }, (value) => value)
    return [orient, frame]
  }),
)
for (const defaultFormat of ['csv', 'parquet'] as const) {
  const input = new io.PandasDataFrame({ defaultFormat, dtype: { count: 'int64' } })
  const examples = [{ name: 'Tea', input: pl.DataFrame({ item: ['tea'], count: [4] }) }]
  svc.api(
    { input, output: new io.PandasDataFrame(), name: `frame_${defaultFormat}`, examples },
    (value) => value,
  )
}
void frames

export const center = svc.api(
  {
    input: new io.PandasSeries({ dtype: 'float64' }),
    output: new io.PandasSeries(),
    doc: 'Differences to the mean.',
  },
  function center(series) {
    return series.sub(series.mean())
  },
)

const Person = z.object({
  name: z.string().min(1),
  born: z.int().min(1900).max(2100),
  title: z.enum(['Dr', 'Prof']).optional(),
  isAdmin: z.boolean().default(false),
})

export const greet = svc.api(
  { input: new io.JSON({ schema: Person }), output: new io.JSON(), doc: 'Greets a person.' },
  function greet({ name, title, isAdmin }) {
    return {
      greeting: `Hello, ${title ? `${title} ` : ''}${name}!`,
      isAdmin,
      at: new Date(0),
      id: 2n ** 60n,
    }
  },
)

export const words = svc.api(
  { input: new io.Text(), output: new io.Text(), doc: 'Sends the words back *one by one*.' },
  async function* words(text) {
    for (const word of text.split(/\s+/)) yield `${word}\n`
  },
)

export const chat = svc.api(
  {
    input: new io.Text(),
    output: new io.Text({ contentType: 'text/event-stream' }),
    doc: 'Words as events.',
  },
  async function* chat(text) {
    for (const [i, word] of text.split(' ').entries())
      yield { data: word, event: 'word', id: String(i) }
    yield { data: 'two\nlines' }
  },
)

export const count = svc.api(
  { input: new io.JSON(), output: new io.JSON(), doc: 'Counts.' },
  async function* count(n) {
    for (let i = 1; i <= Number(n); i++) yield { i, big: 2n ** 60n, text: 'a\nb' }
  },
)

let sendNext = () => {}

/** Lets `tokens` send its next event. */
export const nextToken = () => sendNext()

export const tokens = svc.api(
  {
    input: new io.Text(),
    output: new io.Text({ contentType: 'text/event-stream' }),
    doc: 'Words when they are asked for.',
  },
  async function* tokens() {
    for (const data of ['one', ' two', '\nthree']) {
      yield { data }
      if (data !== '\nthree') await new Promise<void>((resolve) => (sendNext = resolve))
    }
  },
)

export const negative = svc.api(
  {
    input: new io.Image({ pilmode: 'RGB' }),
    output: new io.Image({ mimeType: 'image/png' }),
    doc: 'The negative.',
    examples: [{ name: 'Pattern', input: pattern }],
  },
  function negative({ mode, width, height, data }) {
    return new RasterImage(
      mode,
      width,
      height,
      data.map((level) => 255 - level),
    )
  },
)

export const preview = svc.api(
  { input: new io.Image({ tensor: { size: [4, 4] } }), output: new io.NumpyNdarray() },
  function preview(x) {
    return x
  },
)

export const reverse = svc.api(
  {
    input: new io.File(),
    output: new io.File(),
    doc: 'The bytes of a file in reverse order.',
    examples: [
      {
        name: 'Silence',
        input: new BinaryFile(silence, { name: 'silence.wav', mimeType: 'audio/wav' }),
      },
    ],
  },
  function reverse(file) {
    return new BinaryFile(file.bytes.slice().reverse(), {
      name: `rückwärts ${file.name}`,
      mimeType: file.mimeType,
    })
  },
)

export const mix = svc.api(
  {
    input: new io.Multipart({
      pictures: io.many(new io.Image({ pilmode: 'L' })),
      weights: new io.NumpyNdarray({ dtype: 'float64' }),
      note: io.optional(new io.Text()),
      options: new io.JSON({ schema: z.object({ gain: z.number() }) }),
    }),
    output: new io.Multipart({
      mean: new io.NumpyNdarray(),
      note: new io.Text(),
      picture: new io.Image({ mimeType: 'image/png', pilmode: 'L' }),
    }),
    doc: 'The mean grey level of pictures, weighted.',
    examples: [
      {
        name: 'One',
        input: { pictures: [pattern], weights: [2], note: 'hello', options: { gain: 1 } },
      },
    ],
  },
  function mix({ pictures, weights, note, options }) {
    const means = pictures.map(({ data }, i) => {
      return (
        (options.gain * weights.data[i] * data.reduce((sum, level) => sum + level, 0)) / data.length
      )
    })
    return {
      mean: new NDArray(Float64Array.from(means), [means.length]),
      note: note ?? 'none',
      picture: pictures[0],
    }
  },
)

let refusals = 0

/** Refuses the first two of three calls. */
export const busy = svc.api({ input: new io.JSON(), output: new io.JSON() }, function busy(): {
  refusals: number
} {
  if (++refusals % 3 !== 0) throw new Overloaded('later', { retryAfterSeconds: 0 })
  return { refusals }
})

export const closed = svc.api(
  { input: new io.JSON(), output: new io.JSON() },
  function closed(_, ctx) {
    const key = ctx.headers.get('x-api-key') ?? ctx.headers.get('authorization')
    if (key !== 'secret' && key !== 'Bearer token') throw new Unauthorized('expected a key')
    return { key, extra: ctx.headers.get('x-extra') ?? null }
  },
)

export const labels = svc.get(
  'labels',
  {
    query: z.object({
      top: z.coerce.number().int().max(3).default(2),
      tag: z.array(z.string()).optional(),
    }),
    output: new io.JSON(),
    doc: 'The first labels.',
  },
  function labels({ top, tag = [] }) {
    return [...['a', 'b', 'c'].slice(0, top), ...tag]
  },
)

/** Answers when its caller has gone, or after half a minute. */
export const slow = svc.api({ input: new io.JSON(), output: new io.JSON() }, function slow(_, ctx) {
  return new Promise<null>((resolve) => {
    const timer = setTimeout(() => resolve(null), 30_000)
    ctx.signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve(null)
    })
  })
})

export default svc
