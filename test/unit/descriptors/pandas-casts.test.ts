import { io } from 'serving'
import { describe, expect, it } from 'vitest'
import type { DataFrame } from '../../../src/frame/polars-package.ts'
import { plain, polars } from './frames.ts'
import { requestOf } from './requests.ts'

const descriptor = new io.PandasDataFrame({ dtype: { c: 'category' } })

async function elements(body: string, type = 'application/json'): Promise<unknown[]> {
  const frame: DataFrame = await descriptor.fromHttpRequest(requestOf(body, type))
  return polars.isDataFrame(frame) ? (plain(frame).columns[0].values as unknown[]) : []
}

describe('dtype category', () => {
  const secrets = '[{"c":"alice@example.com"},{"c":"4111-1111-1111-1111"}]'

  it('takes numbers as the categories themselves, never as codes of categories that another request made', async () => {
    expect(await elements(secrets)).toEqual(['alice@example.com', '4111-1111-1111-1111'])
    expect(await elements('[{"c":0},{"c":1}]')).toEqual(['0', '1'])
    expect(await elements('c\n0\n1\n', 'text/csv')).toEqual(['0', '1'])
    expect(await elements('[{"c":true},{"c":null}]')).toEqual(['true', null])
    expect(await elements('[{"c":0.5},{"c":1}]')).toEqual(['0.5', '1.0'])
    const series = new io.PandasSeries({ dtype: 'category' })
    const held = series.fromHttpRequest(requestOf('["alice@example.com","4111-1111-1111-1111"]', 'application/json'))
    expect([...series.fromHttpRequest(requestOf('[0,1]', 'application/json'))]).toEqual(['0', '1'])
    expect(held.length).toBe(2)
  })

  it('does so for the columns of a Parquet file', async () => {
    const held = await descriptor.fromHttpRequest(requestOf(secrets, 'application/json'))
    const plainNumbers = await new io.PandasDataFrame().fromHttpRequest(
      requestOf('[{"c":0},{"c":1}]', 'application/json'),
    )
    const file = polars.writeParquet(plainNumbers)
    const frame = await descriptor.fromHttpRequest(requestOf(file, 'application/octet-stream'))
    expect(plain(frame).columns[0].values).toEqual(['0', '1'])
    expect(polars.height(held)).toBe(2)
  })

  it('comes out as the text of the categories, in every form', async () => {
    const words = Array.from({ length: 100 }, (_, i) => ({ c: `w${i % 7}` }))
    const frame = await descriptor.fromHttpRequest(requestOf(JSON.stringify(words), 'application/json'))
    expect(JSON.parse(Buffer.from(descriptor.toHttpResponse(frame).body as Uint8Array).toString())).toEqual(words)
    expect(plain(frame).columns[0].values).toEqual(words.map(({ c }) => c))
    const short = await descriptor.fromHttpRequest(requestOf('[{"c":"x"},{"c":"y"}]', 'application/json'))
    expect(Buffer.from(descriptor.toHttpResponse(short).body as Uint8Array).toString()).toBe('[{"c":"x"},{"c":"y"}]')
    expect(descriptor.toProto(short)).toMatchObject({ columns: [{ stringValues: ['x', 'y'] }] })
  })
})
