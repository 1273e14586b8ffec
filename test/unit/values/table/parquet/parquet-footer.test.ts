import { BadInput } from 'serving'
import { describe, expect, it } from 'vitest'
import { decodeFile } from '../../../../../src/values/table/file-decoder.ts'
import {
  aboveLimit,
  parquetLimits,
  readParquetFooter,
} from '../../../../../src/values/table/parquet/parquet-footer.ts'
import { withFooter } from '../../../../fuzz/parquet-corpus.ts'
import { fixture, frameOf, polars } from '../../../descriptors/frames.ts'

const file = polars.writeParquet(
  frameOf([['a', 'float64', Array.from({ length: 1000 }, (_, i) => i / 3)]]),
)

describe('a Parquet footer', () => {
  it("tells rows and columns as pyarrow's and Polars' files have them", () => {
    expect(readParquetFooter(fixture('small.parquet'))).toMatchObject({ rows: 3, columns: 4 })
    expect(readParquetFooter(fixture('groups.parquet'))).toMatchObject({ rows: 20000, columns: 2 })
    expect(readParquetFooter(file)).toMatchObject({ rows: 1000, columns: 1 })
    expect(readParquetFooter(fixture('../parquet/nested.parquet'))).toMatchObject({
      ...{ rows: 64, columns: 6, depth: 4, schemaElements: 17 },
    })
    expect(readParquetFooter(fixture('../parquet/bombs/elements.parquet'))).toMatchObject({
      rows: 1,
      values: 50e6,
    })
  })

  it('is refused above any limit before anything is decoded', async () => {
    const footer = {
      rows: 10,
      columns: 10,
      unpackedBytes: 10,
      values: 100,
      depth: 0,
      schemaElements: 11,
    }
    expect(aboveLimit(footer, parquetLimits)).toBeUndefined()
    expect(aboveLimit({ ...footer, rows: 60_000_000 }, parquetLimits)).toBe('60000000 rows')
    expect(aboveLimit({ ...footer, columns: 20_000 }, parquetLimits)).toBe('20000 columns')
    expect(aboveLimit({ ...footer, rows: 20_000_000 }, parquetLimits)).toBe('200000000 cells')
    expect(aboveLimit({ ...footer, unpackedBytes: 2 ** 31 }, parquetLimits)).toBe(
      '2147483648 bytes unpacked',
    )
    expect(aboveLimit({ ...footer, values: 2e8 }, parquetLimits)).toBe('200000000 cells')
    expect(aboveLimit({ ...footer, depth: 17 }, parquetLimits)).toBe('columns 17 groups deep')
    expect(aboveLimit({ ...footer, schemaElements: 40_000 }, parquetLimits)).toBe(
      '40000 columns and groups',
    )
    await expect(decodeFile(file, 'the tests', 'Parquet', { maxRows: 999 })).rejects.toMatchObject({
      reason: 'size',
    })
  })

  it('of megabytes is refused', async () => {
    // A group of 600,000 column chunks of nothing.
    const chunks = Buffer.concat([
      Buffer.from([
        0x29, 0x1c, 0x35, 2, 0x15, 2, 0, 0x16, 0, 0x19, 0x1c, 0x19, 0xfc, 0xc0, 0xcf, 0x24,
      ]),
      Buffer.alloc(3_000_000, Buffer.from([0x3c, 0x56, 0, 0, 0])),
      Buffer.from([0, 0]),
    ])
    await expect(decodeFile(withFooter(file, chunks), 'the tests', 'Parquet')).rejects.toThrow(
      BadInput,
    )
  })

  it('of any bytes is read or refused, never more', () => {
    let state = 1
    const good = fixture('small.parquet')
    for (let i = 0; i < 20_000; i++) {
      const bad = Uint8Array.from(good)
      for (let j = 0; j < 4; j++) {
        state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
        bad[bad.length - 9 - (state % 1500)] = state >> 16
      }
      const footer = readParquetFooter(bad)
      expect('failure' in footer || footer.rows >= 0).toBe(true)
    }
    const deep = Buffer.concat([
      Buffer.from('PAR1'),
      Buffer.alloc(100_000, 0x1c),
      Buffer.alloc(4),
      Buffer.from('PAR1'),
    ])
    deep.writeUInt32LE(100_000, deep.length - 8)
    expect(readParquetFooter(deep)).toEqual({ failure: 'a Parquet footer that cannot be read' })
  })
})
