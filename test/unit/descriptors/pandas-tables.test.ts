import { io } from 'serving'
import { describe, expect, it } from 'vitest'
import { fixture, polars } from './frames.ts'
import { decode, refusal, textOf } from './requests.ts'

interface Case {
  readonly name: string
  readonly json: string
  readonly values: readonly unknown[]
}
const cases: readonly Case[] = JSON.parse(fixture('tables.json').toString())
const descriptor = new io.PandasDataFrame({ orient: 'table' })

describe('orient table', () => {
  it.each(cases)(
    'keeps the values of object columns as pandas does: $name',
    ({ name, json, values }) => {
      const frame = decode(descriptor, json)
      const { data } = JSON.parse(textOf(descriptor.toHttpResponse(frame)))
      expect(data.map((row: Record<string, unknown>) => row[name])).toEqual(values)
    },
  )

  it('reads a column of type string without any value as text', () => {
    const { json } = cases.find(({ name }) => name === 'nulls') as Case
    expect(polars.dtypes(decode(descriptor, json)).map(({ variant }) => variant)).toEqual([
      'String',
    ])
  })

  const tableOf = (tz: string) =>
    JSON.stringify({
      schema: { fields: [{ name: 'a', type: 'datetime', tz }], primaryKey: [] },
      data: [{ a: '2020-01-31T00:00:00.000Z' }],
    })

  it.each(['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'US/Pacific', 'GMT0', 'Etc/GMT+5'])(
    'reads the zone %s',
    (tz) => {
      const frame = decode(descriptor, tableOf(tz))
      const { schema } = JSON.parse(textOf(descriptor.toHttpResponse(frame)))
      expect(schema.fields[1]).toMatchObject({ name: 'a', tz })
      expect(frame.row(0)).toEqual([new Date('2020-01-31T00:00:00Z')])
    },
  )

  it.each(['uTC', 'europe/berlin', 'Foo/Bar', 'Not a zone', 'UTC)', ''])(
    'refuses the zone %j',
    (tz) => {
      expect(refusal(descriptor, tableOf(tz))).toMatchObject({
        reason: 'schema',
        message: `expected a name of the time zone database for PandasDataFrame, received ${JSON.stringify(tz)}`,
      })
      expect(() => new io.PandasDataFrame({ dtype: { a: `datetime64[ms, ${tz}]` } })).toThrow(
        'datetime64',
      )
    },
  )
})
