import { readdirSync, readFileSync } from 'node:fs'
import * as zlib from 'node:zlib'
import pl from 'nodejs-polars'
import { HeaderList, HttpRequest, io } from 'serving'
import { expect, it } from 'vitest'
import type { Column, ColumnTable } from '../../../../../src/values/table/columns.ts'
import { readFlatParquet } from '../../../../../src/values/table/parquet/parquet-reader.ts'
import { loadPolars } from '../../../../../src/values/table/polars/polars.ts'
import type { DataFrame } from '../../../../../src/values/table/polars/polars-package.ts'
import { craftedPage, parquetCodecs, sharedPages } from '../../../../fuzz/parquet-pages.ts'
import { describeNative } from '../../../../native-only.ts'

const polars = loadPolars('the tests')
const folder = new URL('../../../../fixtures/parquet/', import.meta.url)
const fixtures = readdirSync(folder).filter((name) => name.endsWith('.parquet'))
const bytesOf = (name: string) => readFileSync(new URL(name, folder))

const fileOf = (frame: DataFrame, compression = 'snappy') =>
  Buffer.from(frame.writeParquet({ compression } as never) as unknown as Buffer)

/** What is compared: names, types, values and nulls. */
const shown = (frame: DataFrame) => [frame.columns, frame.dtypes.map(String), frame.rows()]

const day = new Date('2020-02-29')
const rows = 1000
const rich = () => {
  const frame = pl.DataFrame({
    i: Array.from({ length: rows }, (_, i) => (i % 7 === 0 ? null : i - 500)),
    f: Array.from({ length: rows }, (_, i) => (i % 11 === 0 ? null : i / 3)),
    b: Array.from({ length: rows }, (_, i) => (i % 5 === 0 ? null : i % 2 === 0)),
    t: Array.from({ length: rows }, (_, i) => (i % 3 === 0 ? null : `é${i % 40}`)),
    long: Array.from({ length: rows }, (_, i) => 'x'.repeat(i % 30) + i),
    none: Array.from({ length: rows }, () => null as number | null),
    d: Array.from({ length: rows }, (_, i) => new Date(day.getTime() + i * 864e5)),
  })
  return frame.withColumns(
    pl.col('d').cast(pl.Date),
    pl.col('none').cast(pl.Float64),
    ...(['Int8', 'Int16', 'Int32', 'Int64', 'Float32'] as const).map((kind) =>
      pl.col('b').cast(pl.Int8).cast(pl[kind]).alias(kind),
    ),
    ...(['UInt8', 'UInt16', 'UInt32', 'UInt64'] as const).map((kind) =>
      pl.col('b').cast(pl.Int8).cast(pl[kind]).alias(kind),
    ),
  ) as DataFrame
}

describeNative('a small Parquet file, by the add-on,', () => {
  // Node 22.15 and later.
  const hasZstd = 'zstdDecompressSync' in zlib

  it.each(['uncompressed', 'snappy', 'gzip', 'zstd', 'brotli', 'lz4'] as const)(
    'of Polars in %s is read as by Polars, or left to it',
    async (compression) => {
      const file = fileOf(rich(), compression)
      const table = await readFlatParquet(file)
      expect(table === undefined).toBe(
        compression === 'lz4' || (compression === 'zstd' && !hasZstd),
      )
      if (table !== undefined)
        expect(shown(polars.fromColumns(table))).toEqual(shown(polars.readParquet(file)))
    },
  )

  it.each(fixtures)('of pyarrow is read as by Polars, or left to it: %s', async (name) => {
    const table = await readFlatParquet(bytesOf(name))
    const isLeft =
      /^nested|^times|^texts|^words|split|lz4/.test(name) || (/zstd/.test(name) && !hasZstd)
    expect(table === undefined).toBe(isLeft)
    if (table !== undefined)
      expect(shown(polars.fromColumns(table))).toEqual(shown(polars.readParquet(bytesOf(name))))
  })

  it.each([0, 1, 7, 8, 9])('of %d rows is read', async (count) => {
    const file = fileOf(rich().slice(0, count))
    expect(shown(polars.fromColumns((await readFlatParquet(file)) as never))).toEqual(
      shown(polars.readParquet(file)),
    )
  })

  it.each(Array.from({ length: 25 }, (_, width) => width))(
    'has codes of a dictionary in %d bits',
    async (width) => {
      const entries = Math.min(2 ** width, 100)
      const codes = Array.from({ length: 200 }, (_, i) => (i * 37) % entries)
      const bits = codes.reduce((sum, code, i) => sum | (BigInt(code) << BigInt(i * width)), 0n)
      const packed = Buffer.alloc((codes.length * width) / 8)
      for (let i = 0; i < packed.length; i++) packed[i] = Number((bits >> BigInt(i * 8)) & 255n)
      const numbers = BigInt64Array.from({ length: entries }, (_, i) => -(7n ** BigInt(i % 22)))
      const dictionary = Buffer.from(numbers.buffer)
      // Bytes: the width; how many groups of eight follow, as an odd number; the groups.
      const page = Buffer.concat([Buffer.from([width, (25 << 1) | 1]), packed])
      const pages = [
        {
          packed: dictionary,
          values: entries,
          unpackedBytes: dictionary.length,
          isDictionary: true,
        },
        { packed: page, values: 200, unpackedBytes: page.length, encoding: 8 },
      ]
      const file = sharedPages(Buffer.concat(pages.map(craftedPage)), {
        columns: 1,
        rows: 200,
        type: 'int64',
        codec: parquetCodecs.none,
      })
      const { columns } = (await readFlatParquet(file)) as ColumnTable
      const [{ data }] = columns as Column[]
      const read = new BigInt64Array(data.buffer, data.byteOffset, 200)
      expect([...read]).toEqual(codes.map((code) => numbers[code]))
    },
  )

  it('is not made by Polars, and does not keep the body', async () => {
    const file = fileOf(rich())
    const frame = await new io.PandasDataFrame().fromHttpRequest(
      new HttpRequest(HeaderList.from({ 'content-type': 'application/octet-stream' }), file),
    )
    file.fill(0)
    expect(shown(frame as DataFrame)).toEqual(shown(rich()))
  })

  it('is left to the decoder when little makes much, or much text is repeated', async () => {
    const many = fileOf(pl.DataFrame({ a: Array.from({ length: 2 ** 20 }, () => 1) }))
    expect(many.length).toBeLessThan(2 ** 19)
    expect(await readFlatParquet(many)).toBeUndefined()
    const bomb = fileOf(pl.DataFrame({ a: Array.from({ length: 10_000 }, () => 'x'.repeat(2000)) }))
    expect(bomb.length).toBeLessThan(100_000)
    expect(await readFlatParquet(bomb)).toBeUndefined()
  })

  it('that is damaged is left to the decoder, or is columns of the lengths that it says', async () => {
    let state = 1
    const random = (below: number) => {
      state = (Math.imul(state, 1103515245) + 12345) >>> 0
      return (state >>> 8) % below
    }
    const sources = [fileOf(rich().slice(0, 50) as DataFrame, 'uncompressed'), fileOf(rich())]
    let read = 0
    for (let round = 0; round < 4000; round++) {
      const file = Buffer.from(sources[round % 2])
      const changes = 1 + random(4)
      for (let i = 0; i < changes; i++) file[random(file.length)] = random(256)
      const table = await readFlatParquet(
        random(4) === 0 ? file.subarray(0, random(file.length)) : file,
      )
      if (table === undefined) continue
      read++
      for (const column of table.columns) expectWhole(column, table.rows)
    }
    // Most changes are in values.
    expect(read).toBeGreaterThan(100)
  }, 60_000)
})

describeNative('a large Parquet file, by the add-on,', () => {
  const count = 150_000
  const wide = () =>
    pl.DataFrame({
      i: Array.from({ length: count }, (_, i) => (i % 7 === 0 ? null : i * 3)),
      few: Array.from({ length: count }, (_, i) => i % 50),
      f: Array.from({ length: count }, (_, i) => (i % 11 === 0 ? null : i / 3)),
      b: Array.from({ length: count }, (_, i) => (i % 5 === 0 ? null : i % 2 === 0)),
      t: Array.from({ length: count }, (_, i) => (i % 3 === 0 ? null : `é${i % 40}`)),
      own: Array.from({ length: count }, (_, i) => `${'x'.repeat(i % 30)}${i}`),
    })

  it.each(['uncompressed', 'snappy'] as const)(
    'of %s is read beside the event loop, as by Polars',
    async (packing) => {
      const file = fileOf(wide(), packing)
      expect(file.length).toBeGreaterThan(2 ** 20)
      const reading = readFlatParquet(file)
      expect(reading).toBeInstanceOf(Promise)
      const table = (await reading) as ColumnTable
      expect(polars.fromColumns(table).frameEqual(polars.readParquet(file), true)).toBe(true)
    },
  )

  it('that zlib would have to unpack is left to the decoder', async () => {
    expect(await readFlatParquet(fileOf(wide(), 'gzip'))).toBeUndefined()
  })

  it('that is damaged is left to the decoder, or is columns of the lengths that it says', async () => {
    const file = fileOf(wide(), 'snappy')
    for (let round = 0; round < 20; round++) {
      const broken = Buffer.from(file)
      for (let i = 0; i < 20; i++)
        broken[(round * 7919 + i * 104_729) % (file.length - 5000)] ^= 1 + ((round + i) % 255)
      const table = await readFlatParquet(broken)
      if (table !== undefined) for (const column of table.columns) expectWhole(column, table.rows)
    }
  })
})

function expectWhole(column: Column, count: number): void {
  if (column.kind === 'str') {
    const offsets = column.offsets as Int32Array
    expect(offsets.length).toBe(count + 1)
    let last = 0
    for (const at of offsets) {
      if (at < last || at > column.data.length) throw new Error(`an offset of ${at} after ${last}`)
      last = at
    }
    return
  }
  const width = {
    bool: 1 / 8,
    int8: 1,
    uint8: 1,
    int16: 2,
    uint16: 2,
    int64: 8,
    uint64: 8,
    float64: 8,
  }[column.kind as 'bool']
  expect(column.data.length).toBe(Math.ceil(count * (width ?? 4)))
}
