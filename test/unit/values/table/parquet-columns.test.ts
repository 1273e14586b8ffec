import { readFileSync } from 'node:fs'
import { io } from 'serving'
import { describe, expect, it } from 'vitest'
import { diagnoseParquet } from '../../../../src/values/table/parquet/parquet-diagnosis.ts'
import { decodeParquet } from '../../../../src/values/table/parquet/parquet-sandbox.ts'
import { emptyParquet, group } from '../../../fuzz/parquet-corpus.ts'

const fixture = (name: string) => readFileSync(new URL(`../../../fixtures/parquet/${name}`, import.meta.url))

// 1 type BYTE_ARRAY, 3 repetition_type, 4 name, 10 logicalType: a union with one field.
const leafOf = (name: string, logicalType: number) => {
  const head = Buffer.from([0x15, 0x0c, 0x25, 0x02, 0x18, name.length])
  return Buffer.concat([head, Buffer.from(name), Buffer.from([0x6c, 0x0c, 2 * logicalType, 0, 0, 0])])
}

describe('a Parquet column of bytes', () => {
  // nodejs-polars 0.24.1 panics where its type is asked for.
  const file = fixture('texts-plain.parquet')

  it('is read, and is base64 in JSON', async () => {
    const frame = await decodeParquet(file, 'the tests')
    expect(frame.columns).toEqual(['word', 'long', 'bytes', 'fixed'])
    const { body } = await new io.PandasDataFrame().toHttpResponse(frame)
    const [, second] = JSON.parse(Buffer.from(body as Uint8Array).toString()) as { bytes: string; fixed: string }[]
    expect(second).toMatchObject({ bytes: 'Af4=', fixed: 'AQEBAQE=' })
  })

  it('is read where characters are counted', async () => {
    expect((await decodeParquet(file, 'the tests', { maxDecodedBytes: 1e6 })).height).toBe(64)
  })
})

describe('a Parquet column of maps', () => {
  it('is read as DuckDB writes it: lists of keys and values', async () => {
    const frame = await decodeParquet(fixture('duckdb/map.parquet'), 'the tests')
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
    ['duckdb/decimal256.parquet', 'column "wide" of decimals of more than 38 digits, which are not supported'],
  ])('names the column and why: %s', async (name, told) => {
    await expect(decodeParquet(fixture(name), 'the tests')).rejects.toThrow(
      `expected a Parquet file for the tests, received one with ${told}`,
    )
  })

  it.each([
    [16, 'one with column "v" of a type that is not supported, VARIANT'],
    [17, 'one with column "v" of a type that is not supported, GEOMETRY'],
    [18, 'one with column "v" of a type that is not supported, GEOGRAPHY'],
    [40, 'one with column "v" of a type that is not supported, a newer version of Parquet'],
    [1, 'one that cannot be decoded'],
  ])('is told by its column, for logical type %d', (type, told) => {
    expect(diagnoseParquet(emptyParquet([group(1), leafOf('v', type)]), 'Invalid thrift: bad data')).toBe(told)
  })

  it('is told by what Polars says where the footer says nothing', () => {
    const file = fixture('numbers-snappy.parquet')
    expect(diagnoseParquet(file, 'Arrow datatype Decimal256(7, 3) not supported by Polars.')).toMatch(
      /Decimal256\(7, 3\)/,
    )
    expect(diagnoseParquet(fixture('numbers-gzip.parquet'), 'failed to fill whole buffer')).toMatch(
      /column "i" in gzip/,
    )
    expect(diagnoseParquet(fixture('nested.parquet'), 'MapArray expects')).toMatch(/column ".*", a map within others/)
  })

  it('is any bytes with a footer', () => {
    const file = fixture('numbers-snappy.parquet')
    for (let at = file.length - 9; at > file.length - 400; at--) {
      const bad = Buffer.from(file)
      bad[at] ^= 0xff
      expect(diagnoseParquet(bad, '')).toMatch(/^(one|an) /)
    }
  })
})
