import pl from 'nodejs-polars'
import type { HttpResponse } from 'serving'
import { io } from 'serving'
import { describe, expect, it } from 'vitest'
import { columnOf } from '../../../src/values/table/columns.ts'
import type { DataFrame } from '../../../src/values/table/polars/polars-package.ts'
import { frameOf, plain, polars } from './frames.ts'
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
    const held = await series.fromHttpRequest(
      requestOf('["alice@example.com","4111-1111-1111-1111"]', 'application/json'),
    )
    expect([...(await series.fromHttpRequest(requestOf('[0,1]', 'application/json')))]).toEqual([
      '0',
      '1',
    ])
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
    const frame = await descriptor.fromHttpRequest(
      requestOf(JSON.stringify(words), 'application/json'),
    )
    expect(
      JSON.parse(
        Buffer.from(
          (descriptor.toHttpResponse(frame) as HttpResponse).body as Uint8Array,
        ).toString(),
      ),
    ).toEqual(words)
    expect(plain(frame).columns[0].values).toEqual(words.map(({ c }) => c))
    const short = await descriptor.fromHttpRequest(
      requestOf('[{"c":"x"},{"c":"y"}]', 'application/json'),
    )
    expect(
      Buffer.from((descriptor.toHttpResponse(short) as HttpResponse).body as Uint8Array).toString(),
    ).toBe('[{"c":"x"},{"c":"y"}]')
    expect(descriptor.toProto(short)).toMatchObject({ columns: [{ stringValues: ['x', 'y'] }] })
  })
})

describe('dtype of one column', () => {
  const day = new Date('2020-01-02T03:04:05.678Z')
  const rich = pl
    .DataFrame({ a: [1.5, 2.5], t: [day, day], l: ['x', 'y'] })
    .withColumns(
      pl.col('t').cast(pl.Datetime('ns', 'Europe/Berlin')),
      pl.col('a').cast(pl.Decimal(10, 3)).alias('decimal'),
      pl.col('a').cast(pl.Int64).cast(pl.Duration('us')).alias('duration'),
      pl.col('l').cast(pl.Categorical).alias('category'),
      pl.col('t').cast(pl.Date).alias('date'),
      pl.concatList(['a', 'a']).alias('list'),
    )

  it.each([
    ['Parquet', polars.writeParquet(rich)],
    ['Arrow', polars.writeIpc(rich)],
  ])('leaves the others of a %s body as they are', async (_, body) => {
    const read = await new io.PandasDataFrame().fromProto(body)
    const cast = await new io.PandasDataFrame({ dtype: { a: 'int64' } }).fromProto(body)
    expect(cast.columns).toEqual(read.columns)
    expect(cast.getColumn('a').toArray()).toEqual([1, 2])
    expect(cast.dtypes.map(String)).toEqual([
      'DataType(Int64)',
      ...read.dtypes.slice(1).map(String),
    ])
    expect(cast.drop('a').toString()).toBe(read.drop('a').toString())
    const both = new io.PandasDataFrame({ dtype: { a: 'int64', list: 'int64' } })
    await expect(both.fromProto(body)).rejects.toMatchObject({ reason: 'dtype', path: '[0].list' })
    // The zone, which nothing above shows.
    const schema = (frame: DataFrame) => polars.writeIpc(frame).includes('Europe/Berlin')
    expect([schema(read), schema(cast)]).toEqual([true, true])
  })

  it('goes by the name of a column, whatever it is', async () => {
    const names = ['*', '^a$', 'width', 'columns', '', 'c0']
    const frame = pl.DataFrame(Object.fromEntries(names.map((name, i) => [name, [i, i + 1]])))
    const descriptor = new io.PandasDataFrame({
      dtype: { '^a$': 'str', columns: 'int8', c0: 'float32' },
    })
    const cast = await descriptor.fromProto(polars.writeParquet(frame))
    expect(plain(cast).columns.map(({ name, kind }) => [name, kind])).toEqual([
      ['*', 'float64'],
      ['^a$', 'str'],
      ['width', 'float64'],
      ['columns', 'int8'],
      ['', 'float64'],
      ['c0', 'float32'],
    ])
  })

  it('takes dates between its forms without a way through text', async () => {
    const body = polars.writeParquet(rich)
    const descriptor = new io.PandasDataFrame({
      dtype: { t: 'datetime64[us]', date: 'datetime64[ms]', category: 'category' },
    })
    const cast = await descriptor.fromProto(body)
    expect(cast.dtypes[1].variant).toBe('Datetime')
    expect(cast.getColumn('date').toArray()).toEqual([
      new Date('2020-01-02'),
      new Date('2020-01-02'),
    ])
    expect(cast.getColumn('category').toArray()).toEqual(['x', 'y'])
  })

  it('names the column and the row of an element that does not fit', async () => {
    const descriptor = new io.PandasDataFrame({ dtype: { l: 'int64' }, enforceDtype: true })
    await expect(descriptor.fromProto(polars.writeParquet(rich))).rejects.toMatchObject({
      path: '[0].l',
    })
  })
})

describe('dtype of a frame that Polars read', () => {
  const arrow = (columns: Parameters<typeof frameOf>[0]) => polars.writeIpc(frameOf(columns))
  const read = (dtype: Record<string, string>, body: Uint8Array): Promise<DataFrame> =>
    Promise.resolve(new io.PandasDataFrame({ dtype }).fromProto(body))

  it('reads lists and objects in text, beside other columns and other casts', async () => {
    const body = arrow([
      ['n', 'int64', [1, 2, 3]],
      ['l', 'str', ['[1,2]', null, '[3]']],
      ['s', 'str', ['{"x":1,"y":"one text of many letters"}', '{"x":2}', null]],
      ['t', 'str', ['[1]', '[2]', '[3]']],
    ])
    const frame = await read({ l: 'list[int8]', s: 'struct', n: 'float32' }, body)
    expect(frame.dtypes.map(({ variant }) => variant)).toEqual([
      'Float32',
      'List',
      'Struct',
      'String',
    ])
    expect(frame.toRecords()).toEqual([
      { n: 1, l: [1, 2], s: { x: 1, y: 'one text of many letters' }, t: '[1]' },
      { n: 2, l: null, s: { x: 2, y: null }, t: '[2]' },
      { n: 3, l: [3], s: null, t: '[3]' },
    ])
  })

  it('names the row of a text that is no list', async () => {
    const body = arrow([['l', 'str', ['[1]', 'one']]])
    await expect(read({ l: 'list' }, body)).rejects.toMatchObject({
      reason: 'dtype',
      path: '[1].l',
    })
  })

  it('takes bytes as text if they are UTF-8, and as nothing else', async () => {
    const bytes = { ...columnOf('b', 'str', ['é', '12', null]), isBinary: true } as const
    const words = polars.writeIpc(polars.fromColumns({ rows: 3, columns: [bytes] }))
    const text = await read({ b: 'str' }, words)
    expect(text.dtypes.map(({ variant }) => variant)).toEqual(['String'])
    expect(text.toRecords()).toEqual([{ b: 'é' }, { b: '12' }, { b: null }])
    for (const type of ['int64', 'float64', 'bool', 'date', 'datetime64[ns]']) {
      await expect(read({ b: type }, words)).rejects.toMatchObject({
        reason: 'dtype',
        path: '[0].b',
      })
    }
    const other = { ...bytes, data: Uint8Array.of(0x31, 0xff), offsets: Int32Array.of(0, 1, 2, 2) }
    const file = polars.writeIpc(polars.fromColumns({ rows: 3, columns: [other] }))
    await expect(read({ b: 'str' }, file)).rejects.toMatchObject({ path: '[1].b' })
  })

  it('takes no booleans as times', async () => {
    const flags = arrow([['f', 'bool', [null, true]]])
    for (const type of ['date', 'time', 'datetime64[ms]', 'timedelta64[us]']) {
      await expect(read({ f: type }, flags)).rejects.toMatchObject({
        reason: 'dtype',
        path: '[1].f',
      })
    }
    const nulls = await read({ f: 'date' }, arrow([['f', 'bool', [null, null]]]))
    expect(nulls.toRecords()).toEqual([{ f: null }, { f: null }])
  })
})
