import fc from 'fast-check'
import pl from 'nodejs-polars'
import { io } from 'serving'
import { describe, expect, it } from 'vitest'
import { type ColumnKind, dtypes } from '../../../src/core/dtype.ts'
import { type Column, columnOf, type TimeType } from '../../../src/values/table/columns.ts'
import { polars } from './frames.ts'

const rows = 6
const csv = new io.PandasDataFrame({ defaultFormat: 'csv' })

async function written(columns: readonly Column[]): Promise<readonly string[]> {
  const table = { rows: columns[0].data.length === 0 ? 0 : rows, columns }
  const texts = [polars.lazyFrame(table), polars.fromColumns(table)].map(async (frame) => {
    const { body } = await csv.toHttpResponse(frame)
    return Buffer.from(body as Uint8Array).toString()
  })
  return [...(await Promise.all(texts)), polars.fromColumns(table).writeCSV().toString()]
}

const text = fc.oneof(
  fc.string({ unit: 'grapheme' }).filter((value) => value.isWellFormed()),
  fc.constantFrom('', ' ', '"', ',', '\n', '\r', 'a\r\nb', '\t', "'", '#', '1', 'null'),
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

describe('PandasDataFrame writes CSV', () => {
  it('to the letter as Polars does', async () => {
    const named = fc
      .array(fc.tuple(text, fc.oneof(plainColumn, timeColumn)), { minLength: 1, maxLength: 4 })
      .map((list) => list.map(([name, column], i) => ({ ...column, name: `${name}${i}` })))
    await fc.assert(
      fc.asyncProperty(named, async (columns) => {
        const [lazy, made, expected] = await written(columns)
        expect(lazy).toBe(expected)
        expect(made).toBe(expected)
      }),
      { numRuns: 500 },
    )
  })

  it('of no rows and of no columns', async () => {
    expect(await written([columnOf('a,b', 'str', [])])).toEqual(Array(3).fill('"a,b"\n'))
    const { body } = await csv.toHttpResponse(pl.DataFrame([]))
    expect(Buffer.from(body as Uint8Array).toString()).toBe('\n')
  })

  it('of floats at the ends of their ranges', async () => {
    for (const kind of ['float32', 'float64'] as const) {
      for (let exponent = -46; exponent < 39; exponent++) {
        const values = [1, 1.5, 9.999999, 1.23456789, -1, 2].map((digits) => digits * 10 ** exponent)
        const [lazy, , expected] = await written([
          columnOf('a', kind, values.map(kind === 'float32' ? Math.fround : Number)),
        ])
        expect(lazy).toBe(expected)
      }
    }
  })
})
