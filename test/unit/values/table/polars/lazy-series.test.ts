import { inspect } from 'node:util'
import pl from 'nodejs-polars'
import { io } from 'serving'
import { describe, expect, it } from 'vitest'
import { tableBehind } from '../../../../../src/values/table/polars/lazy.ts'
import { decode, textOf } from '../../../descriptors/requests.ts'

type Series = pl.Series
const json = 'application/json'
const descriptor = new io.PandasSeries()
const bodies = [
  '[1,2,null]',
  '[1,2,3]',
  '[1.5,-2.5]',
  '["a","é",null]',
  '[true,false]',
  '[]',
  '[9007199254740993]',
]
const received = (body: string) => decode(descriptor, body, json) as Series
const isUntouched = (series: Series) => tableBehind(series) !== undefined

/** The same series as nodejs-polars' own object. */
const ownOf = (body: string) => received(body).clone()

const readers: Record<string, (series: Series) => unknown> = {
  name: (series) => series.name,
  length: (series) => series.length,
  toArray: (series) => series.toArray(),
  isSeries: (series) => pl.Series.isSeries(series),
}
const others: Record<string, (series: Series) => unknown> = {
  dtype: (series) => String(series.dtype),
  iteration: (series) => [...series],
  hasNulls: (series) => series.hasNulls(),
  nullCount: (series) => series.nullCount(),
  sum: (series) => series.sum(),
  min: (series) => series.min(),
  max: (series) => series.max(),
  mean: (series) => series.mean(),
}

describe('A series that was received', () => {
  it.each(Object.entries(readers))(
    'is read by %s as nodejs-polars reads its own, and stays as it came',
    (_, read) => {
      for (const body of bodies) {
        const series = received(body)
        expect(read(series)).toEqual(read(ownOf(body)))
        expect(isUntouched(series)).toBe(true)
      }
    },
  )

  it.each(Object.entries(others))('has the same %s', (_, read) => {
    for (const body of ['[1,2,null]', '[1.5,-2.5]'])
      expect(read(received(body))).toEqual(read(ownOf(body)))
  })

  it('is awaited and sent without becoming another object', async () => {
    for (const body of bodies) {
      const series = await received(body)
      expect(textOf(descriptor.toHttpResponse(series))).toBe(body)
      expect(isUntouched(series)).toBe(true)
    }
  })

  it('becomes a typed array, or says that it holds nulls', () => {
    expect(received('[1.5,2.5]').toTypedArray()).toEqual(Float64Array.of(1.5, 2.5))
    expect(() => received('[1.5,null]').toTypedArray()).toThrow(/nulls/)
  })

  it('has all other members, too', () => {
    const series = received('[1,2,3]')
    expect(Object.keys(series)).toEqual(Object.keys(ownOf('[1,2,3]')))
    expect('rechunk' in series).toBe(true)
    expect(series[1]).toBe(2)
    expect(inspect(series)).toBe(inspect(ownOf('[1,2,3]')))
    expect([...received('[1.5,2.5]').mul(2)]).toEqual([3, 5])
  })

  it('is taken by the functions of Polars', () => {
    const frame = pl.DataFrame({ a: [1, 2] })
    expect(frame.withColumn(received('[3,4]').rename('b')).columns).toEqual(['a', 'b'])
    expect([...pl.concat([received('[1]'), received('[2]')])]).toEqual([1, 2])
    expect([...received('[1,2]').add(received('[10,20]'))]).toEqual([11, 22])
  })

  it('is sent as it was changed in place', () => {
    const series = received('[1,2,3]')
    expect(series.length).toBe(3)
    ;(series as unknown as number[])[1] = 20
    expect([...series]).toEqual([1, 20, 3])
    expect(textOf(descriptor.toHttpResponse(series))).toBe('[1,20,3]')
    const renamed = received('[1]')
    renamed.rename('other', true)
    expect(renamed.name).toBe('other')
    const split = new io.PandasSeries({ orient: 'split' })
    expect(textOf(split.toHttpResponse(renamed))).toBe('{"name":"other","index":[0],"data":[1]}')
  })

  it.each(['_df', 'dtypes', 'columns', 'height', 'getColumns', '__proto__', ''])(
    'may be called %j',
    (name) => {
      const split = new io.PandasSeries({ orient: 'split' })
      const body = `{"name":${JSON.stringify(name)},"index":[0,1],"data":[5,6]}`
      const series = decode(split, body, json) as Series
      expect([series.name, series.length, String(series.dtype)]).toEqual([
        name,
        2,
        'DataType(Int64)',
      ])
      expect([...series]).toEqual([5, 6])
      const sent = JSON.parse(textOf(split.toHttpResponse(series)) as string)
      expect(sent).toEqual({ name: name === '' ? null : name, index: [0, 1], data: [5, 6] })
    },
  )
})
