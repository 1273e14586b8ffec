import { readFileSync } from 'node:fs'
import pl from 'nodejs-polars'
import { expect, it } from 'vitest'
import { addon } from '../../../../../src/core/native/add-on.ts'
import {
  parquetChunkWord,
  parquetLeafWord,
  parquetWord,
  wordsOf,
} from '../../../../../src/core/native/shared-numbers.ts'
import {
  type AnyColumn,
  type Column,
  type ColumnTable,
  cellsOf,
  columnOf,
  valueReader,
} from '../../../../../src/values/table/columns.ts'
import { readParquetMetadata } from '../../../../../src/values/table/parquet/parquet-metadata.ts'
import { readFlatParquet } from '../../../../../src/values/table/parquet/parquet-reader.ts'
import {
  compressions,
  encodeParquet,
} from '../../../../../src/values/table/parquet/parquet-writer.ts'
import type { DataFrame } from '../../../../../src/values/table/polars/polars-package.ts'
import {
  integers,
  repeatedColumns,
  repeatedRows,
  writtenColumns,
} from '../../../../fixtures/parquet/written/write.ts'
import { describeNative } from '../../../../native-only.ts'
import { polars } from '../../../descriptors/frames.ts'

const folder = new URL('../../../../fixtures/parquet/written/', import.meta.url)

const bytesOf = (columns: readonly AnyColumn[], rows: number) =>
  encodeParquet({ rows, columns }) as Uint8Array

/** What Polars prints: types, and bytes, too, which nodejs-polars does not give out. */
const printed = (frame: DataFrame) => {
  const names = frame.columns
  return names.map((name) => frame.getColumn(name).toString())
}

const cellsIn = (column: Column, rows: number) => cellsOf(column, rows, valueReader(column))

describeNative('a Parquet file of columns, by the add-on,', () => {
  it.each([0, 1, 7, 8, 9, 64, 1000])('of %d rows is read by Polars as the columns are', (rows) => {
    const columns = writtenColumns(rows)
    const read = polars.readParquet(bytesOf(columns, rows))
    const made = polars.fromColumns({ rows, columns })
    expect(printed(read)).toEqual(printed(made))
    const plain = columns.flatMap(({ isBinary, name }) => (isBinary ? [] : [name]))
    expect(read.select(...plain).frameEqual(made.select(...plain), true)).toBe(true)
  })

  it('is the one that pyarrow and pandas read as the columns are', () => {
    const rows = 20
    const columns = writtenColumns(rows)
    expect(
      Buffer.from(bytesOf(columns, rows)).equals(readFileSync(new URL('columns.parquet', folder))),
    ).toBe(true)
    const { arrow, pandas, values } = JSON.parse(readFileSync(new URL('read.json', folder), 'utf8'))
    expect(Object.keys(arrow)).toEqual(columns.map(({ name }) => name))
    for (const kind of integers) {
      expect([arrow[kind], arrow[`${kind}?`], pandas[kind]]).toEqual([kind, kind, kind])
      expect(values[kind]).toEqual(Array.from({ length: rows }, (_, row) => row))
      expect(values[`${kind}?`].slice(0, 8)).toEqual([0, null, 2, 3, null, 5, 6, null])
    }
    expect(arrow).toMatchObject({
      ...{
        float32: 'float',
        float64: 'double',
        bool: 'bool',
        text: 'string',
        bytes: 'binary',
        date: 'date32[day]',
      },
      ...{
        'datetime ms': 'timestamp[ms]',
        'datetime us': 'timestamp[us]',
        'datetime ns': 'timestamp[ns]',
      },
      ...{ zoned: 'timestamp[us, tz=Europe/Berlin]', utc: 'timestamp[ms, tz=UTC]' },
      ...{ time: 'time64[ns]', duration: 'duration[us]' },
    })
    expect(pandas).toMatchObject({
      zoned: 'datetime64[us, Europe/Berlin]',
      duration: 'timedelta64[us]',
    })
    expect(values.text.slice(0, 3)).toEqual(['é', 'éx', 'éxx'])
    expect(values['bytes?'].slice(0, 3)).toEqual(['30', null, '32'])
    expect(values.date.slice(0, 2)).toEqual(['1969-12-22', '1969-12-23'])
    expect(values['zoned?'].slice(0, 3)).toEqual([
      '1970-01-01 01:00:00+01:00',
      null,
      '1970-01-01 01:00:02.002000+01:00',
    ])
    expect(values.none).toEqual(new Array(rows).fill(null))
  })

  it('with values that repeat is the one that pyarrow, pandas and Polars read as the columns are', () => {
    const columns = repeatedColumns(repeatedRows)
    const file = bytesOf(columns, repeatedRows)
    expect(Buffer.from(file).equals(readFileSync(new URL('repeats.parquet', folder)))).toBe(true)
    const {
      values,
      dictionaries,
      compressions: found,
      sizes,
    } = JSON.parse(readFileSync(new URL('repeats.json', folder), 'utf8'))
    expect(columns.map(({ name }) => values[name])).toEqual(
      columns.map((column) => cellsIn(column, repeatedRows)),
    )
    expect(dictionaries).toEqual(
      columns.map(({ name }) => name).filter((name) => !['ids', 'long', 'flag?'].includes(name)),
    )
    expect(found).toEqual(['SNAPPY'])
    const frame = polars.fromColumns({ rows: repeatedRows, columns })
    for (const compression of compressions) {
      expect(polars.writeParquet(frame, compression).length).toBeLessThan(1.1 * sizes[compression])
    }
  })

  it('packs what repeats within a page, and what does not, so that every reader gets it back', async () => {
    // Lengths around those of literals (60, 256) and copies (64), distances around 2048, and blocks of 65536 bytes.
    const lengths = [
      1, 3, 4, 59, 60, 61, 63, 64, 65, 67, 68, 128, 255, 256, 257, 2047, 2048, 65_535, 65_536,
      65_537,
    ]
    const noise = (length: number, seed: number) =>
      Array.from({ length }, (_, i) =>
        String.fromCharCode(33 + ((((i + seed) * 7919) ** 2 % 1_000_003) % 90)),
      ).join('')
    const texts = lengths.flatMap((length) => [
      noise(length, length),
      noise(length, 1),
      'x'.repeat(length),
      noise(length, 1),
    ])
    const columns = [columnOf('texts', 'str', texts)]
    const [packed, plain] = (['snappy', 'none'] as const).map(
      (compression) => encodeParquet({ rows: texts.length, columns }, compression) as Uint8Array,
    )
    expect(packed.length).toBeLessThan(0.8 * plain.length)
    const read = (await readFlatParquet(packed)) as ColumnTable
    expect(cellsIn(read.columns[0], texts.length)).toEqual(texts)
    expect(polars.readParquet(packed).getColumn('texts').toArray()).toEqual(texts)
    expect(polars.readParquet(plain).getColumn('texts').toArray()).toEqual(texts)
  })

  it.each(compressions)(
    "has the compression that is asked for, as has Polars': %s",
    (compression) => {
      const flat = pl.DataFrame({ a: [1.5, 2.5] })
      const nested = pl.DataFrame({ a: [[1], [2]] })
      const codecs = [flat, nested].map((frame) => {
        const file = polars.writeParquet(frame, compression)
        return readParquetMetadata(file)?.groups[0].chunks[0].codec
      })
      // Numbers of the enum CompressionCodec.
      const number = { none: 0, snappy: 1, gzip: 2, zstd: 6 }[compression]
      expect(codecs).toEqual([number, number])
    },
  )

  it('is made for a frame that is columns still, and read as what Polars writes', () => {
    const columns = writtenColumns(50)
    const lazy = () => polars.lazyFrame({ rows: 50, columns })
    const file = polars.writeParquet(lazy())
    expect(Buffer.from(file).equals(bytesOf(columns, 50))).toBe(true)
    const made = lazy()
    expect(made.slice(0, 1).height).toBe(1)
    expect(printed(polars.readParquet(polars.writeParquet(made)))).toEqual(
      printed(polars.readParquet(file)),
    )
  })

  it('puts texts and integers that repeat in dictionaries, and others not', () => {
    const rows = 5000
    const names = ['few', 'some', 'none']
    const texts = pl
      .DataFrame({
        few: Array.from({ length: rows }, (_, i) => (i % 9 === 0 ? null : `é${i % 3}`)),
        some: Array.from({ length: rows }, (_, i) => 'x'.repeat((i * i) % 997)),
        none: Array.from({ length: rows }, (_, i) => `${i}`),
        ints: Array.from({ length: rows }, (_, i) => (i % 5) * 1000),
        bits: Array.from({ length: rows }, (_, i) => (i % 7 === 0 ? null : i % 2 === 0)),
      })
      .withColumns(pl.col('ints').cast(pl.Int64)) as DataFrame
    const { columns } = polars.toVectors(texts) as ColumnTable<AnyColumn>
    const file = bytesOf(columns, rows)
    expect(polars.readParquet(file).frameEqual(texts, true)).toBe(true)
    const sizes = names.map(
      (name) =>
        bytesOf(
          columns.filter((column) => column.name === name),
          rows,
        ).length,
    )
    expect(sizes[0]).toBeLessThan(rows)
    expect(sizes[2]).toBeGreaterThan(rows * 4)
    const words = addon?.readParquetFooter(file) ?? new Float64Array()
    const chunksAt = wordsOf(parquetWord) + columns.length * wordsOf(parquetLeafWord)
    const isCoded = columns.map(({ name }, i) => {
      const start = words[chunksAt + i * wordsOf(parquetChunkWord) + parquetChunkWord.start]
      return [name, file[start + 1]]
    })
    // The page's type, zigzag: 2 for a dictionary.
    expect(isCoded).toEqual([
      ['few', 4],
      ['some', 4],
      ['none', 0],
      ['ints', 4],
      ['bits', 0],
    ])
  })

  it.each([255, 256, 257, 4095, 4096, 4097, 20_000])(
    'codes any number of entries: %d',
    (entries) => {
      const rows = 3 * entries
      const frame = pl.DataFrame({
        a: Array.from({ length: rows }, (_, i) => `${(i * 7) % entries}`),
      })
      const { columns } = polars.toVectors(frame) as ColumnTable<AnyColumn>
      expect(polars.readParquet(bytesOf(columns, rows)).frameEqual(frame, true)).toBe(true)
    },
  )

  it('of many rows asks for memory once', () => {
    const rows = 100_000
    const numbers = Float64Array.from({ length: rows }, (_, row) => Math.sqrt(row))
    const data = new Uint8Array(numbers.buffer)
    const columns = ['a', 'b', 'c'].map((name): Column => ({ name, kind: 'float64', data }))
    const sizes: number[] = []
    const file = encodeParquet({ rows, columns }, 'snappy', (size) => {
      sizes.push(size)
      return new ArrayBuffer(size)
    })
    expect(file).toBeDefined()
    expect(sizes).toHaveLength(1)
  })

  it('refuses offsets that contradict the text, which Polars then writes', () => {
    const data = Buffer.from('abc')
    for (const offsets of [
      [0, 2, 1, 3],
      [0, 1, 2, 4],
      [-1, 1, 2, 3],
    ]) {
      const column = { name: 'a', kind: 'str', data, offsets: Int32Array.from(offsets) } as const
      expect(encodeParquet({ rows: 3, columns: [column] })).toBeUndefined()
    }
  })

  it("writes texts in Arrow's view layout", () => {
    const texts = Array.from({ length: 50 }, (_, i) =>
      i % 7 === 0 ? null : `${'long '.repeat(i % 9)}${i}`,
    )
    const frame = pl.DataFrame({ texts })
    const { rows, columns } = polars.toVectors(frame) as ColumnTable<AnyColumn>
    expect('heaps' in columns[0]).toBe(true)
    expect(polars.readParquet(bytesOf(columns, rows)).frameEqual(frame, true)).toBe(true)
  })

  it('keeps types that only Polars writes: lists, structs, categories, decimals, nulls', () => {
    const frame = pl
      .DataFrame({ l: [[1], [2, 3]], c: ['a', 'b'], d: [1.5, 2] })
      .withColumns(pl.col('c').cast(pl.Categorical))
    const read = polars.readParquet(polars.writeParquet(frame))
    expect(read.dtypes.map(({ variant }) => variant)).toEqual(['List', 'Categorical', 'Float64'])
    expect(encodeParquet({ rows: 0, columns: [] })).toBeUndefined()
    expect(encodeParquet({ rows: 0, columns: [{ name: 's', fields: [] }] })).toBeUndefined()
  })
})
