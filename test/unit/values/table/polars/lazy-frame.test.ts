import { inspect } from 'node:util'
import pl from 'nodejs-polars'
import { type DataFrame, HeaderList, HttpRequest, type HttpResponse, io } from 'serving'
import { describe, expect, it } from 'vitest'
import { tableBehind } from '../../../../../src/values/table/polars/lazy.ts'

const json = HeaderList.from({ 'content-type': 'application/json' })
const descriptor = new io.PandasDataFrame({ dtype: { i: 'int32', u: 'uint64', f: 'float32' } })
const body = JSON.stringify([
  { n: 1.5, i: 2 ** 31 - 1, w: 5, u: 7, f: 0.1, b: true, s: 'é', e: null, l: [1, 2] },
  { n: null, i: 1, w: -3, u: 8, f: 2.5, b: false, s: null, e: null, l: [] },
  { n: -2, i: 3, w: null, u: 9, f: 1, b: null, s: '', e: null, l: null },
])
const lazy = (text = body) =>
  descriptor.fromHttpRequest(new HttpRequest(json, Buffer.from(text))) as DataFrame
/** The same frame, made by Polars. */
const real = (text = body) => {
  const frame = lazy(text)
  frame.lazy()
  return frame
}
const plain = JSON.stringify(
  (JSON.parse(body) as Record<string, unknown>[]).map(({ l: _, ...row }) => row),
)
const answer = (frame: DataFrame) =>
  Buffer.from((descriptor.toHttpResponse(frame) as HttpResponse).body as Uint8Array).toString()

describe('a frame of a small body', () => {
  it('is not made by Polars to be read, passed on and answered', async () => {
    const frame = await (async () => lazy(plain))()
    expect([frame.columns, frame.height, frame.width, frame.shape]).toEqual([
      ['n', 'i', 'w', 'u', 'f', 'b', 's', 'e'],
      3,
      8,
      { height: 3, width: 8 },
    ])
    frame.toRecords()
    frame.getColumn('n').toArray()
    expect(pl.DataFrame.isDataFrame(frame)).toBe(true)
    answer(frame)
    expect(tableBehind(frame)).toBeDefined()
  })

  it('reads as the one that Polars makes', () => {
    const [own, other] = [lazy(plain), real(plain)]
    expect(tableBehind(other)).toBeUndefined()
    expect(own.toRecords()).toEqual(other.toRecords())
    expect(Reflect.ownKeys(own)).toEqual(Reflect.ownKeys(other))
    for (const name of own.columns)
      expect(own.getColumn(name).toArray()).toEqual(other.getColumn(name).toArray())
    expect(tableBehind(own)).toBeDefined()
    expect(own.rows()).toEqual(other.rows())
    expect(own.dtypes.map(String)).toEqual(other.dtypes.map(String))
    for (const name of own.columns) {
      const [a, b] = [lazy(plain).getColumn(name), other.getColumn(name)]
      expect([a.name, a.length, String(a.dtype), [...a]]).toEqual([
        b.name,
        b.length,
        String(b.dtype),
        [...b],
      ])
      // Polars refuses the sum of texts.
      if (name === 's') expect(() => a.sum()).toThrow()
      else
        expect([a.sum(), a.min(), a.max(), a.mean()]).toEqual([b.sum(), b.min(), b.max(), b.mean()])
      if (!b.hasNulls() && name !== 'b') expect(a.toTypedArray()).toEqual(b.toTypedArray())
    }
  })

  it('prints, and answers, as the one that Polars makes', () => {
    expect(answer(lazy())).toBe(answer(real()))
    expect(inspect(lazy())).toBe(inspect(real()))
    expect(String(lazy())).toBe(String(real()))
    expect(Buffer.from(lazy(plain).writeCSV()).equals(Buffer.from(real(plain).writeCSV()))).toBe(
      true,
    )
  })

  it('is changed as the one that Polars makes', () => {
    const frame = lazy('[{"a":1,"b":2}]')
    frame.columns = ['x', 'y']
    expect(answer(frame)).toBe('[{"x":1,"y":2}]')
    const other = lazy('[{"a":1,"b":2}]')
    const clone = other.clone()
    other.columns = ['x', 'y']
    expect(answer(clone)).toBe('[{"a":1,"b":2}]')
    expect(answer(pl.concat([lazy('[{"a":1}]'), lazy('[{"a":2}]')]))).toBe('[{"a":1},{"a":2}]')
    expect(answer(lazy('[{"a":1},{"a":2}]').filter(pl.col('a').gt(1)) as DataFrame)).toBe(
      '[{"a":2}]',
    )
  })

  it('gives typed arrays that may be written to', () => {
    const frame = lazy('[{"a":1.5}]')
    const numbers = frame.getColumn('a').toTypedArray() as Float64Array
    numbers[0] = 9
    expect(answer(frame)).toBe('[{"a":1.5}]')
  })

  it('keeps columns whose names are members', () => {
    const text = '[{"height":1,"columns":2,"then":3,"getColumn":4,"toRecords":5}]'
    expect(answer(lazy(text))).toBe(text)
    expect([...(lazy(text) as unknown as { height: pl.Series }).height]).toEqual([1])
    expect(lazy(text).rows()).toEqual(real(text).rows())
  })
})
