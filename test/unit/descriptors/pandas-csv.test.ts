import { type HttpResponse, io } from 'serving'
import { describe, expect, it } from 'vitest'
import type { DataFrame } from '../../../src/values/table/polars/polars-package.ts'
import { fixture, plain, polars } from './frames.ts'
import { decode, refusal, requestOf } from './requests.ts'

interface CsvTypes {
  readonly categories: readonly {
    readonly csv: string
    readonly values: readonly (string | null)[]
  }[]
  readonly epochs: Readonly<Record<'numbers' | 's' | 'ms' | 'us' | 'ns', readonly number[]>>
}
const { categories, epochs }: CsvTypes = JSON.parse(fixture('csv-types.json').toString())
const valuesOf = (frame: DataFrame) => plain(frame).columns[0].values

describe('CSV columns of a dtype', () => {
  it.each(categories)(
    'of category are the texts as written, as in pandas: $csv',
    async ({ csv, values }) => {
      const descriptor = new io.PandasDataFrame({ dtype: { a: 'category' } })
      const frame = await descriptor.fromHttpRequest(requestOf(csv, 'text/csv'))
      expect(polars.variants(frame)[0]).toBe('Categorical')
      expect(valuesOf(frame)).toEqual(values)
    },
  )

  it('of bytes are base64, of digits alone too', async () => {
    const frame = await new io.PandasDataFrame({ dtype: { a: 'bytes' } }).fromHttpRequest(
      requestOf('a\n1234\ntrue\n', 'text/csv'),
    )
    expect(valuesOf(frame)).toEqual(['1234', 'true'])
  })

  it('are found by the names that the columns are given', () => {
    const descriptor = new io.PandasDataFrame({
      dtype: { x: 'str' },
      columns: ['x'],
      applyColumnNames: true,
    })
    expect(valuesOf(decode(descriptor, 'a\n007\n', 'text/csv'))).toEqual(['007'])
  })

  it.each(['datetime64[ms]', 'datetime64[ns, UTC]', 'date', 'time', 'timedelta64[ms]'])(
    'of %s are no numbers',
    (dtype) => {
      const descriptor = new io.PandasDataFrame({ dtype: { a: dtype } })
      for (const csv of ['a\n20200131\n', 'a\n2020\n', 'a\n1.5\n', 'a\n2020\n2020-01-31\n']) {
        expect(refusal(descriptor, csv, 'text/csv')).toMatchObject({
          reason: 'dtype',
          path: '[0].a',
          message: expect.stringMatching(
            /^expected elements that fit .*, texts in ISO 8601.*, for column "a" of/,
          ),
        })
      }
    },
  )

  it.each(['s', 'ms', 'us', 'ns'] as const)(
    'of datetime64 count what csvDateUnit says: %s',
    async (unit) => {
      for (const dtype of ['datetime64[ns]', 'datetime64[ms]', 'datetime64[ms, Europe/Berlin]']) {
        const descriptor = new io.PandasDataFrame({
          dtype: { a: dtype, d: 'date' },
          csvDateUnit: unit,
        })
        const csv = `a,d\n${epochs.numbers.map((number) => `${number},2020-01-31`).join('\n')}\n,\n`
        const frame = await descriptor.fromHttpRequest(requestOf(csv, 'text/csv'))
        const rows = JSON.parse(
          Buffer.from(
            ((await descriptor.toHttpResponse(frame)) as HttpResponse).body as Uint8Array,
          ).toString(),
        )
        // Answers are cut toward zero, pandas' casts are cut down.
        const whole = (value: number) =>
          unit === 'us' || unit === 'ns' ? Math.max(0, value) : value
        const days = Array(epochs.numbers.length).fill(1580428800000)
        const at = dtype === 'datetime64[ns]' ? epochs[unit].map(whole) : epochs[unit]
        expect(rows.map(({ a }: { a: unknown }) => a)).toEqual([...at, null])
        expect(rows.map(({ d }: { d: unknown }) => d)).toEqual([...days, null])
      }
    },
  )

  it('of times may be text beside csvDateUnit, and must fit', () => {
    const descriptor = new io.PandasDataFrame({
      dtype: { a: 'datetime64[ns]', d: 'timedelta64[ms]' },
      csvDateUnit: 's',
    })
    const frame = decode(descriptor, 'a,d\n2020-01-31T00:00:00Z,5\n', 'text/csv')
    expect(frame.row(0)).toEqual([new Date('2020-01-31T00:00:00Z'), 5000])
    for (const text of [
      'a\n1e30\n',
      'a\n18446744073709551615\n',
      'a\n9223372036854775807\n',
      'a\ntrue\n',
    ])
      expect(refusal(descriptor, text, 'text/csv').reason).toBe('dtype')
    expect(() => new io.PandasDataFrame({ csvDateUnit: 'days' as never })).toThrow('csvDateUnit')
  })
})

describe('dtype of numbers', () => {
  it('reads or refuses a long text in linear time', () => {
    // In quadratic time this would take an hour.
    const descriptor = new io.PandasDataFrame({ dtype: { a: 'float64' } })
    const body = JSON.stringify([{ a: `${'1'.repeat(900_000)}x` }])
    expect(refusal(descriptor, body).reason).toBe('dtype')
  })
})

describe('names in the header of CSV', () => {
  // As pandas 3.1.1 names the columns of these texts.
  it.each([
    ['"a"b"c,d"', ['ab"c', 'd"']],
    ['"a"b,c', ['ab', 'c']],
    ['a"b,"c""d"', ['a"b', 'c"d']],
  ])('have their quotes as fields have them: %s', async (header, names) => {
    const frame = await new io.PandasDataFrame().fromHttpRequest(
      requestOf(`${header}\n1,2\n`, 'text/csv'),
    )
    expect(frame.columns).toEqual(names)
  })
})
