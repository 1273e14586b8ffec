import pl from 'nodejs-polars'
import { type HttpResponse, io } from 'serving'
import { describe, expect, it } from 'vitest'
import { readParquetMetadata } from '../../../src/values/table/parquet/parquet-metadata.ts'
import { fixture, polars } from './frames.ts'
import { requestOf } from './requests.ts'

interface Case {
  readonly name: string
  readonly file: string
  readonly columns: readonly string[]
  readonly a: readonly number[]
  readonly labels: readonly (string | number)[]
}
const cases: readonly Case[] = JSON.parse(fixture('index.json').toString())
const type = 'application/vnd.apache.parquet'
const read = async (file: Uint8Array, descriptor = new io.PandasDataFrame()) =>
  descriptor.fromHttpRequest(requestOf(file, type))

describe('Parquet of pandas', () => {
  it.each(cases)(
    'has its index as labels, not as columns: $name',
    async ({ file, columns, a, labels }) => {
      const shaped = new io.PandasDataFrame({ shape: [-1, columns.length], enforceShape: true })
      for (const descriptor of [new io.PandasDataFrame(), shaped]) {
        const frame = await read(Buffer.from(file, 'base64'), descriptor)
        expect(polars.names(frame)).toEqual(columns)
        expect(frame.getColumn('a').toArray()).toEqual(a)
        expect(io.labels(frame)).toEqual(labels)
        const split = new io.PandasDataFrame({ orient: 'split' })
        const { body } = (await split.toHttpResponse(frame)) as HttpResponse
        expect(JSON.parse(Buffer.from(body as Uint8Array).toString()).index).toEqual(labels)
      }
    },
  )

  it('keeps the labels where columns are renamed and cast', async () => {
    for (const name of ['filtered', 'nested']) {
      const { file, labels } = cases.find((one) => one.name === name) as Case
      const options = { columns: ['x', 'y'], applyColumnNames: true, dtype: { x: 'int64' } }
      const frame = await read(Buffer.from(file, 'base64'), new io.PandasDataFrame(options))
      expect([polars.names(frame), io.labels(frame)]).toEqual([['x', 'y'], labels])
    }
  })

  it('has its index as labels of a series', async () => {
    const { file } = cases.find((one) => one.name === 'texts') as Case
    const series = await new io.PandasSeries().fromProto(Buffer.from(file, 'base64'))
    expect([[...series], io.labels(series)]).toEqual([
      [1, 2, 3, 4],
      ['w', 'x', 'y', 'z'],
    ])
  })

  it('is read or refused whatever the list of index columns says', async () => {
    const { file } = cases.find((one) => one.name === 'filtered') as Case
    const bytes = Buffer.from(file, 'base64')
    const list = '["__index_level_0__"]'
    const at = bytes.lastIndexOf(list)
    for (const other of [
      '["a","b","a","a"',
      '[{"kind":"range"}]',
      '[[[[[[',
      'null',
      '["nothing"]',
      '"',
      '[1,null,{}]',
    ]) {
      const copy = Buffer.from(bytes)
      copy.write(other.padEnd(list.length), at)
      expect(polars.height(await read(copy)), other).toBe(3)
    }
  })
})

describe('Parquet of pyarrow', () => {
  it('has times of seconds as they are, alone, in lists and in structs', async () => {
    const descriptor = new io.PandasDataFrame()
    const { body } = (await descriptor.toHttpResponse(
      await read(fixture('seconds.parquet')),
    )) as HttpResponse
    expect(JSON.parse(Buffer.from(body as Uint8Array).toString())).toEqual([
      {
        flat: '00:00:01',
        list: ['00:00:01'],
        struct: { t: '00:00:01' },
        millis: '00:00:01',
        span: 1000,
      },
      {
        flat: '01:02:03',
        list: [null, '01:02:03'],
        struct: { t: '01:02:03' },
        millis: '01:02:03',
        span: 2000,
      },
    ])
  })

  it.each(['twice.parquet', 'twice-nested.parquet'])(
    'is refused with two columns of one name: %s',
    async (name) => {
      await expect(read(fixture(name))).rejects.toMatchObject({
        reason: 'syntax',
        message: 'expected a Parquet file for PandasDataFrame, received one with two columns "a"',
      })
    },
  )
})

describe('Parquet answers', () => {
  it.each([undefined, null, 'snappy', 'gzip', 'zstd', 'none'] as const)(
    'are compressed as is asked: %s',
    async (given) => {
      const descriptor = new io.PandasDataFrame({ defaultFormat: 'parquet', compression: given })
      const { body } = await descriptor.toHttpResponse(pl.DataFrame({ a: [1.5, 2.5] }))
      // Numbers of the enum CompressionCodec.
      const codec = { none: 0, snappy: 1, gzip: 2, zstd: 6 }[given ?? 'snappy']
      expect(readParquetMetadata(body as Uint8Array)?.groups[0].chunks[0].codec).toBe(codec)
      expect((await read(body as Uint8Array)).toRecords()).toEqual([{ a: 1.5 }, { a: 2.5 }])
    },
  )

  it('have no other compression', () => {
    expect(() => new io.PandasDataFrame({ compression: 'lz4' as never })).toThrow(
      'expected one of snappy, gzip, zstd, none for compression',
    )
  })
})
