import { BinaryFile, io, Runner, Service } from 'serving'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { dtypes } from '../../src/core/dtype.ts'
import { rasterModes } from '../../src/values/image/raster-modes.ts'
import type { DataFrame, Series } from '../../src/values/table/polars/polars-package.ts'
import { fixtureBytes } from '../fixtures/images/pictures.ts'
import { model } from '../runner/runner.ts'
import { fixture, polars } from '../unit/descriptors/frames.ts'

/** A descriptor, and a body that it makes a value of. */
interface Kind {
  readonly name: string
  readonly descriptor: io.AnyDescriptor
  readonly body: unknown
  /** Default: the descriptor that reads it. */
  readonly output?: io.AnyDescriptor
  readonly type?: string
}

const picture = (file: string, options: object = {}): Kind => ({
  name: `${file} as Image ${JSON.stringify(options)}`,
  descriptor: new io.Image({ mimeType: 'image/png', ...options }),
  body: fixtureBytes(file),
})
const frame = (name: string, options: object, body: unknown, type?: string): Kind => ({
  name: `PandasDataFrame of ${name}`,
  descriptor: new io.PandasDataFrame(options),
  body,
  ...(type && { type }),
})
const split = {
  columns: ['a', 'b'],
  index: ['x', 'y'],
  data: [
    [1, 'u'],
    [2, null],
  ],
}
const times = {
  d: '2024-02-29',
  t: '2024-02-29T12:00:00.123456',
  z: '2024-02-29T12:00:00',
  l: [1, 2],
  s: { a: 1 },
}
const dtype = { d: 'date', t: 'datetime64[us]', z: 'datetime64[ns, Europe/Berlin]', c: 'category' }
const person = z.object({
  when: z.coerce.date(),
  tags: z.array(z.string()).transform((tags) => new Map([['all', new Set(tags)]])),
})

const kinds: readonly Kind[] = [
  ...dtypes.map((dtype) => ({
    name: `NumpyNdarray of ${dtype}`,
    descriptor: new io.NumpyNdarray({ dtype }),
    body: dtype === 'str' ? [['a'], ['Zürich']] : [[0], [1]],
  })),
  {
    name: 'NumpyNdarray without dimensions',
    descriptor: new io.NumpyNdarray(),
    body: '5',
    type: 'application/json',
  },
  {
    name: 'NumpyNdarray of 100 KB',
    descriptor: new io.NumpyNdarray(),
    body: Array.from({ length: 12_500 }, Math.sqrt),
  },
  frame('labels', { orient: 'split' }, split),
  frame('nothing', {}, []),
  frame('times, lists and structs', { dtype, dateFormat: 'iso' }, [{ ...times, c: 'x' }]),
  frame('bytes', { dtype: { a: 'bytes' } }, [{ a: 'AP8=' }]),
  frame('CSV', {}, 'a,b\n1,x\n2.5,\n', 'text/csv'),
  frame('Parquet', {}, fixture('small.parquet'), 'application/vnd.apache.parquet'),
  frame('nested Parquet', {}, fixture('nested.parquet'), 'application/vnd.apache.parquet'),
  {
    name: 'PandasSeries',
    descriptor: new io.PandasSeries({ orient: 'split' }),
    body: { name: 's', index: [7, 9], data: [1.5, null] },
  },
  {
    name: 'JSON',
    descriptor: new io.JSON(),
    body: '{"__proto__":{"a":[1,null,true,"é"]},"":-0.5}',
    type: 'application/json',
  },
  {
    name: 'JSON with bigints',
    descriptor: new io.JSON({ bigNumbers: 'bigint' }),
    body: '[18446744073709551616]',
    type: 'application/json',
  },
  {
    name: 'JSON of a schema',
    descriptor: new io.JSON({ schema: person }),
    output: new io.JSON(),
    body: { when: '2024-02-29', tags: ['a'] },
  },
  { name: 'Text', descriptor: new io.Text(), body: 'Zürich 😀\0', type: 'text/plain' },
  ...Object.keys(rasterModes).map((pilmode) => picture('rgb.png', { pilmode })),
  ...['palette.png', 'palette-transparent.png', 'rgba.png', 'grey16.png'].map((file) =>
    picture(file, { pilmode: null }),
  ),
  { ...picture('rgb.png', { tensor: { size: [8, 8] } }), output: new io.NumpyNdarray() },
  { name: 'File', descriptor: new io.File(), body: Uint8Array.of(0, 255), type: 'image/png' },
  { name: 'File of 5 MB', descriptor: new io.File(), body: new Uint8Array(5_000_000).fill(7) },
  {
    name: 'Multipart',
    descriptor: new io.Multipart({
      picture: new io.Image({ pilmode: 'P', mimeType: 'image/png' }),
      files: io.many(new io.File()),
      box: io.optional(new io.NumpyNdarray()),
    }),
    body: form(),
  },
]

function form(): FormData {
  const form = new FormData()
  form.append(
    'picture',
    new Blob([fixtureBytes('palette.png')], { type: 'image/png' }),
    'palette.png',
  )
  form.append('files', new Blob(['one'], { type: 'text/plain' }), 'one.txt')
  form.append('files', new Blob(['two']), 'two')
  return form
}

/** Returns a value with its files, frames and series as plain data, which can be compared. */
function plain(value: unknown): unknown {
  if (value instanceof BinaryFile)
    return { file: { ...value }, bytes: Buffer.from(value.bytes).toString('base64') }
  if (polars.isDataFrame(value)) return frameFields(value)
  if (polars.isSeries(value))
    return { series: frameFields(polars.frameOf(value)), labels: io.labels(value as Series) }
  if (Array.isArray(value)) return value.map(plain)
  const proto = Object.getPrototypeOf(value ?? 0)
  if (proto !== Object.prototype && proto !== null) return value
  return Object.fromEntries(
    Object.entries(value as object).map(([name, member]) => [name, plain(member)]),
  )
}

const frameFields = (frame: DataFrame) => ({
  ipc: Buffer.from(polars.writeIpc(frame)).toString('base64'),
  labels: io.labels(frame),
})

for (const isolation of ['thread', 'process'] as const) {
  describe(`what a descriptor makes of a request crosses a Runner's ${isolation} and back as it was:`, () => {
    const echo = new Runner<typeof import('../runner/models/echo.ts')>('echo', {
      module: model('echo'),
      methods: { echo: {} },
      isolation,
    })
    const svc = new Service('laws', { runners: [echo] })
    for (const [i, { descriptor, output = descriptor }] of kinds.entries()) {
      const types = { input: descriptor, output }
      svc.api({ ...types, name: `here${i}` }, (value: unknown) => value as never)
      svc.api({ ...types, name: `there${i}` }, async (value: unknown, ctx) => {
        const before = plain(value)
        const back = await echo.echo(value, ctx)
        expect(plain(back)).toStrictEqual(before)
        return back as never
      })
    }
    beforeAll(() => svc.start())
    afterAll(() => svc.stop())

    for (const [i, { name, body, type }] of kinds.entries()) {
      it(name, async () => {
        const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type }
        const here = await svc.inject({ path: `/here${i}`, headers, body: body as string })
        const there = await svc.inject({ path: `/there${i}`, headers, body: body as string })
        const failures = [here, there].map(
          ({ error }) => error && `${error.message} ${error.cause}`,
        )
        expect(failures).toEqual([undefined, undefined])
        if (!(body instanceof FormData)) expect(Buffer.compare(there.body, here.body)).toBe(0)
      })
    }
  })
}
