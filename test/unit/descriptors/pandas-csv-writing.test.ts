import fc from 'fast-check'
import pl from 'nodejs-polars'
import { io } from 'serving'
import { describe, expect, it } from 'vitest'
import { type ColumnKind, dtypes } from '../../../src/core/dtype.ts'
import { type Column, columnOf, type TimeType } from '../../../src/values/table/columns.ts'
import { encodeFrameCsv } from '../../../src/values/table/csv/write-csv.ts'
import type { FrameCodec } from '../../../src/values/table/json/frame-codec.ts'
import {
  nativeFrameCodec,
  typescriptFrameCodec,
} from '../../../src/values/table/json/native-codec.ts'
import { polars } from './frames.ts'
import { requestOf } from './requests.ts'

const rows = 6
const csv = new io.PandasDataFrame({ defaultFormat: 'csv' })

const codecs = { 'in the add-on': nativeFrameCodec, 'without the add-on': typescriptFrameCodec }

/**
 * Returns what a codec makes of a frame whose columns Polars does not hold yet, of one that it holds; and what Polars
 * writes, but for blank lines.
 */
function written(columns: readonly Column[], codec: FrameCodec): readonly string[] {
  const table = { rows: columns[0].data.length === 0 ? 0 : rows, columns }
  const frames = [polars.lazyFrame(table), polars.fromColumns(table)]
  const texts = frames.map((frame) => Buffer.from(encodeFrameCsv(polars, frame, codec)).toString())
  const own = columns.length === 1 ? { nullValue: '""' } : {}
  return [...texts, polars.fromColumns(table).writeCSV(own).toString()]
}

const text = fc.oneof(
  fc
    .string({ unit: 'grapheme' })
    .filter((value) => value.isWellFormed() && !/^[ \t]+$/.test(value)),
  fc.constantFrom('', '"', ',', '\n', '\r', 'a\r\nb', "'", '#', '1', 'null'),
)
const small = fc.integer({ min: 0, max: 127 })
const valueOf: Partial<Record<ColumnKind, fc.Arbitrary<number | bigint | boolean | string>>> = {
  bool: fc.boolean(),
  str: text,
  float32: fc.oneof(fc.float(), fc.float({ noNaN: true, min: -100, max: 100 })),
  float64: fc.oneof(fc.double(), fc.double({ noNaN: true, min: -100, max: 100 })),
  int64: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  uint64: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
}
const times: readonly TimeType[] = [
  { type: 'date' },
  { type: 'time', unit: 'ns' },
  ...(['ms', 'us', 'ns'] as const).flatMap((unit) => [
    { type: 'datetime', unit } as const,
    { type: 'datetime', unit, zone: 'Europe/Berlin' } as const,
  ]),
]
const perDay = { ms: 86_400_000n, us: 86_400_000_000n, ns: 86_400_000_000_000n, s: 86_400n }

function valuesOf(values: fc.Arbitrary<number | bigint | boolean | string>) {
  return fc.array(fc.option(values), { minLength: rows, maxLength: rows })
}

const plainColumn = fc
  .constantFrom(...dtypes.filter((dtype): dtype is ColumnKind => dtype !== 'float16'))
  .chain((kind) => valuesOf(valueOf[kind] ?? small).map((values) => columnOf('', kind, values)))
const timeColumn = fc.constantFrom(...times).chain((time) => {
  const day = 'unit' in time ? perDay[time.unit] : 1n
  const max = time.type === 'time' ? day - 1n : 50_000n * day
  return valuesOf(fc.bigInt({ min: time.type === 'time' ? 0n : -max, max })).map((values) => ({
    ...columnOf('', time.type === 'date' ? 'int32' : 'int64', values),
    time,
  }))
})

describe.each(Object.entries(codecs))('CSV written %s', (_, given) => {
  const codec = given as FrameCodec

  it.skipIf(given === undefined)('is what Polars writes, to the letter', () => {
    const named = fc
      .array(fc.tuple(text, fc.oneof(plainColumn, timeColumn)), { minLength: 1, maxLength: 4 })
      .map((list) => list.map(([name, column], i) => ({ ...column, name: `${name}${i}` })))
    fc.assert(
      fc.property(named, (columns) => {
        const [lazy, made, expected] = written(columns, codec)
        expect(lazy).toBe(expected)
        expect(made).toBe(expected)
      }),
      { numRuns: 500 },
    )
  })

  it.skipIf(given === undefined)('has a header if there are no rows', () => {
    expect(written([columnOf('a,b', 'str', [])], codec)).toEqual(Array(3).fill('"a,b"\n'))
  })

  // pandas.read_csv keeps all rows of these texts, and none of the two in the middle without quotes.
  it.skipIf(given === undefined)('has no blank lines, which readers skip', () => {
    const column = columnOf('a', 'str', ['x', null, ' \t', '', 'y'])
    const text = Buffer.from(codec.writeCsv({ rows: 5, columns: [column] })).toString()
    expect(text).toBe('a\nx\n""\n" \t"\n""\ny\n')
    const numbers = columnOf(' ', 'float64', [1, null, 3])
    expect(Buffer.from(codec.writeCsv({ rows: 3, columns: [numbers] })).toString()).toBe(
      '" "\n1.0\n""\n3.0\n',
    )
    const pair = [columnOf('a', 'int32', [1, null]), columnOf('b', 'int32', [null, null])]
    expect(Buffer.from(codec.writeCsv({ rows: 2, columns: pair })).toString()).toBe('a,b\n1,\n,\n')
  })

  it.skipIf(given === undefined)('has floats at the ends of their ranges', () => {
    for (const kind of ['float32', 'float64'] as const) {
      for (let exponent = -46; exponent < 39; exponent++) {
        const values = [1, 1.5, 9.999999, 1.23456789, -1, 2].map(
          (digits) => digits * 10 ** exponent,
        )
        const cells = values.map(kind === 'float32' ? Math.fround : Number)
        const [lazy, , expected] = written([columnOf('a', kind, cells)], codec)
        expect(lazy).toBe(expected)
      }
    }
  })
})

describe('PandasDataFrame', () => {
  it('writes CSV', async () => {
    const { body } = await csv.toHttpResponse(
      polars.fromColumns({ rows: 1, columns: [columnOf('a', 'str', ['x,y'])] }),
    )
    expect(Buffer.from(body as Uint8Array).toString()).toBe('a\n"x,y"\n')
  })

  it('reads each row of its own CSV of one column', async () => {
    const frame = polars.fromColumns({ rows: 3, columns: [columnOf('a', 'float64', [1, null, 3])] })
    const { body } = await csv.toHttpResponse(frame)
    const back = await csv.fromHttpRequest(requestOf(body as Uint8Array, 'text/csv'))
    expect(back.toRecords()).toEqual([{ a: 1 }, { a: null }, { a: 3 }])
  })

  it('writes CSV of no columns', async () => {
    const { body } = await csv.toHttpResponse(pl.DataFrame([]))
    expect(Buffer.from(body as Uint8Array).toString()).toBe('\n')
  })
})

it.skipIf(nativeFrameCodec === undefined)(
  'CSV is the same with the add-on and without, in thousands of floats',
  () => {
    const bits = (count: number, bytes: number) =>
      fc
        .uint8Array({ minLength: count * bytes, maxLength: count * bytes, size: 'max' })
        .map((data) => data.slice())
    const table = fc.tuple(
      bits(64, 8),
      bits(64, 4),
      fc.array(text, { minLength: 64, maxLength: 64, size: 'max' }),
    )
    fc.assert(
      fc.property(table, ([float64, float32, texts]) => {
        const columns: Column[] = [
          { name: 'a', kind: 'float64', data: float64 },
          { name: 'b', kind: 'float32', data: float32 },
          columnOf('"', 'str', texts),
          {
            ...columnOf(
              'c',
              'str',
              texts.map((value) => JSON.stringify([value])),
            ),
            isJson: true,
          },
        ]
        const [native, typescript] = [nativeFrameCodec as FrameCodec, typescriptFrameCodec].map(
          (codec) => Buffer.from(codec.writeCsv({ rows: 64, columns })).toString(),
        )
        expect(native).toBe(typescript)
      }),
      { numRuns: 200 },
    )
  },
)

it.skipIf(nativeFrameCodec === undefined)(
  'CSV is the same with the add-on and without, of views and of wrong offsets',
  () => {
    const long = Buffer.from('a "long" text, of more than twelve bytes')
    const views = new Uint8Array(new Uint32Array([long.length, 0, 0, 0, 2, 0x6261, 0, 0]).buffer)
    const tables: readonly Column[][] = [
      [{ name: 'a', kind: 'str', data: views, heaps: [long] }],
      [{ name: 'a', kind: 'str', data: Buffer.from('ab'), offsets: Int32Array.of(0, 1, 900_000) }],
    ]
    const texts = (codec: FrameCodec) =>
      tables.map((columns) => Buffer.from(codec.writeCsv({ rows: 2, columns })).toString())
    expect(texts(typescriptFrameCodec)).toEqual([
      'a\n"a ""long"" text, of more than twelve bytes"\nab\n',
      'a\na\nb\n',
    ])
    expect(texts(nativeFrameCodec as FrameCodec)).toEqual(texts(typescriptFrameCodec))
  },
)
