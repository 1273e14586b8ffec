import { readFileSync } from 'node:fs'
import { BadInput } from 'serving'
import { describe, expect, it } from 'vitest'
import { type Column, columnNumbers } from '../../../../src/values/table/columns.ts'
import { decodeFile, type FileLimits } from '../../../../src/values/table/file-decoder.ts'
import { emptyParquet, group } from '../../../fuzz/parquet-corpus.ts'
import { frameOf, polars } from '../../descriptors/frames.ts'

const fixture = (name: string) =>
  readFileSync(new URL(`../../../fixtures/parquet/${name}`, import.meta.url))
const decode = (file: Uint8Array, limits: Partial<FileLimits> = {}) =>
  decodeFile(file, 'the tests', 'Parquet', limits)
const decodeArrow = (file: Uint8Array, limits: Partial<FileLimits> = {}) =>
  decodeFile(file, 'the tests', 'Arrow', limits)
const small = fixture('numbers-v2.parquet')
const isFine = async () => expect((await decode(small)).rows).toBe(64)

describe('the thread that decodes files', () => {
  it('keeps the columns of files apart that came at once', async () => {
    const numbers = Array.from({ length: 8 }, (_, i) =>
      Array.from({ length: 500 * (i + 1) }, (_, row) => row * i),
    )
    const files = numbers.map((column) => polars.writeParquet(frameOf([['a', 'int64', column]])))
    const tables = await Promise.all(files.map((file) => decode(file)))
    const read = tables.map(({ rows, columns }) =>
      Array.from(columnNumbers(columns[0] as Column, rows), Number),
    )
    expect(read).toEqual(numbers)
  })

  it('is ended at its limit of time, and the files behind it are read', async () => {
    const slow = decode(fixture('bombs/elements.parquet'), { timeoutMs: 1 })
    const behind = decode(small)
    await expect(slow).rejects.toThrow('received one that took more than 1 ms')
    expect((await behind).rows).toBe(64)
  })

  // Sizes that the footer states are let through here: a file may lie about them.
  it.each([
    'dictionary',
    'dictionary-page',
    'elements',
    'page-brotli',
    'page-zstd',
    'rows',
    'runs',
  ])(
    'refuses what unpacks to far more than it is, and reads the next file: %s',
    async (name) => {
      const bomb = decode(fixture(`bombs/${name}.parquet`), {
        maxUnpackedBytes: 2 ** 40,
        maxDecodedBytes: 1e8,
      })
      const behind = decode(small)
      const limits = 'expected a Parquet file within the limits for the tests, received one that '
      await expect(bomb).rejects.toThrow(limits)
      await expect(bomb).rejects.toMatchObject({ reason: 'size', status: 400 })
      expect((await behind).rows).toBe(64)
    },
    60_000,
  )

  it('reads 16,000 columns, and refuses more', async () => {
    const wide = (columns: number) => {
      const leaf = Buffer.from([0x15, 0x02, 0x25, 0x00, 0x18, 0x05])
      const leaves = Array.from({ length: columns }, (_, i) =>
        Buffer.concat([leaf, Buffer.from(String(i).padStart(5, '0')), Buffer.from([0])]),
      )
      return emptyParquet([group(columns), ...leaves])
    }
    expect((await decode(wide(16_000))).columns).toHaveLength(16_000)
    await expect(decode(wide(17_000))).rejects.toThrow('received 17000 columns')
  }, 60_000)

  it('counts a text that rows share once for each row', async () => {
    const shared = {
      rows: 1000,
      columns: [{ name: 'a', kind: 'int8' as const, data: new Uint8Array(1000) }],
    }
    const frame = polars.fromColumns(shared)
    const text = polars.fromColumns({
      rows: 1000,
      columns: [
        { name: 't', kind: 'str', data: Buffer.alloc(1e6, 'x'), offsets: evenly(1000, 1000) },
      ],
    })
    const stream = polars.writeIpcStream(polars.join([frame, text]))
    expect((await decodeArrow(stream)).rows).toBe(1000)
    await expect(decodeArrow(stream, { maxDecodedBytes: 5e5 })).rejects.toMatchObject({
      reason: 'size',
    })
    polars.toPolarsType(text, 0, 'Categorical')
    const category = polars.writeIpcStream(text)
    await expect(decodeArrow(category, { maxDecodedBytes: 5e5 })).rejects.toBeInstanceOf(BadInput)
    await isFine()
  })
})

function evenly(rows: number, size: number): Int32Array {
  return Int32Array.from({ length: rows + 1 }, (_, row) => row * size)
}
