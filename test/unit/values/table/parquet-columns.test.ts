import { readFileSync } from 'node:fs'
import { BadInput, io } from 'serving'
import { describe, expect, it } from 'vitest'
import { decodeFile } from '../../../../src/values/table/file-decoder.ts'
import { readParquet } from '../../../../src/values/table/message.ts'
import { emptyParquet, group } from '../../../fuzz/parquet-corpus.ts'
import { polars } from '../../descriptors/frames.ts'

const decode = (file: Uint8Array) => decodeFile(file, 'the tests', 'Parquet')
const frameIn = async (file: Uint8Array) =>
  polars.lazyFrame((await readParquet(file, 'the tests')).table)
const fixture = (name: string) =>
  readFileSync(new URL(`../../../fixtures/parquet/${name}`, import.meta.url))

// 1 type BYTE_ARRAY, 3 repetition_type, 4 name, 10 logicalType: a union with one field.
const leafOf = (name: string, logicalType: number) => {
  const head = Buffer.from([0x15, 0x0c, 0x25, 0x02, 0x18, name.length])
  return Buffer.concat([
    head,
    Buffer.from(name),
    Buffer.from([0x6c, 0x0c, 2 * logicalType, 0, 0, 0]),
  ])
}

describe('a Parquet column of bytes', () => {
  // nodejs-polars 0.24.1 panics where its type is asked for.
  const file = fixture('texts-plain.parquet')

  it('is read, and is base64 in JSON', async () => {
    const frame = await frameIn(file)
    expect(frame.columns).toEqual(['word', 'long', 'bytes', 'fixed'])
    const { body } = await new io.PandasDataFrame().toHttpResponse(frame)
    const [, second] = JSON.parse(Buffer.from(body as Uint8Array).toString()) as {
      bytes: string
      fixed: string
    }[]
    expect(second).toMatchObject({ bytes: 'Af4=', fixed: 'AQEBAQE=' })
  })
})

describe('a Parquet column of maps', () => {
  it('is read as DuckDB writes it: lists of keys and values', async () => {
    const frame = await frameIn(fixture('duckdb/map.parquet'))
    const { body } = await new io.PandasDataFrame().toHttpResponse(frame)
    expect(JSON.parse(Buffer.from(body as Uint8Array).toString())).toEqual([
      {
        a: 1,
        m: [
          { key: 'a', value: 1 },
          { key: 'b', value: null },
        ],
        n: [{ key: 'x', value: [{ key: 'y', value: 2 }] }],
      },
      { a: 2, m: [], n: null },
      { a: 3, m: null, n: [] },
    ])
  })
})

describe('a Parquet file that cannot be decoded', () => {
  it.each([
    ['duckdb/interval.parquet', 'column "span" of a type that is not supported, INTERVAL'],
    [
      'duckdb/decimal256.parquet',
      'column "wide" of a type that is not supported, decimals of more than 38 digits',
    ],
  ])('names the column and why: %s', async (name, told) => {
    await expect(decode(fixture(name))).rejects.toThrow(
      `expected a Parquet file for the tests, received one with ${told}`,
    )
  })

  it('is told by its column, for a logical type of a newer version', async () => {
    const told = 'one with column "v" of a type that is not supported, a newer version of Parquet'
    await expect(decode(emptyParquet([group(1), leafOf('v', 40)]))).rejects.toThrow(told)
  })

  it('is told as its decoder tells it where the footer says nothing', async () => {
    const file = Buffer.from(fixture('texts-dictionary.parquet'))
    // Within the pages of the first column.
    file.fill(0xff, 60, 90)
    await expect(decode(file)).rejects.toThrow(
      /received one that cannot be decoded: Parquet .*: \w/,
    )
  })

  it('is any bytes with a footer', async () => {
    const file = fixture('numbers-snappy.parquet')
    for (let at = file.length - 9; at > file.length - 400; at--) {
      const bad = Buffer.from(file)
      bad[at] ^= 0xff
      await decode(bad).catch((error: Error) => expect(error).toBeInstanceOf(BadInput))
    }
  })
})
