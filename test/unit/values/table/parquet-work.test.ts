import { brotliCompressSync, gzipSync } from 'node:zlib'
import { snappyCompress } from 'hysnappy'
import { expect, it } from 'vitest'
import { readFlatParquet } from '../../../../src/values/table/parquet/parquet-reader.ts'
import { withFooter } from '../../../fuzz/parquet-corpus.ts'
import {
  type CraftedPage,
  craftedPage,
  parquetCodecs,
  sharedPages,
} from '../../../fuzz/parquet-pages.ts'
import { describeNative } from '../../../native-only.ts'

const { none, snappy, gzip, brotli, zstd, lz4 } = parquetCodecs
const mebibyte = 2 ** 20
const largest = 500_000

const pagesOf = (...pages: CraftedPage[]) => Buffer.concat(pages.map(craftedPage))
const int64 = { columns: 1, rows: 1, type: 'int64' } as const
const repeated = (bytes: readonly number[], length: number) =>
  Buffer.alloc(length, Buffer.from(bytes))

const dictionaryOf = (texts: Buffer[]) =>
  Buffer.concat(
    texts.flatMap((text) => {
      const length = Buffer.alloc(4)
      length.writeUInt32LE(text.length)
      return [length, text]
    }),
  )

/** What one file of at most 512 KB may ask for, by what it repeats. */
const hostile = (): Record<string, Buffer> => {
  const zeros = Buffer.alloc(4 * mebibyte)
  const claimed = (packed: Buffer) => ({ packed, unpackedBytes: zeros.length, values: 1 })
  const long = Buffer.alloc(60_000, 0x78)
  // Length 60,000 at distance 1 and again; 255 more for each byte.
  const lz4Bomb = Buffer.concat([
    Buffer.from([0x1f, 0, 1, 0]),
    Buffer.alloc(largest - 100, 255),
    Buffer.from([0, 0]),
  ])
  const dictionary = {
    packed: gzipSync(zeros),
    unpackedBytes: zeros.length,
    values: 1,
    isDictionary: true,
  }
  // An RLE block of 128 KB in four bytes: 16 GB.
  const zstdBomb = Buffer.concat([
    Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58]),
    repeated([0x02, 0x00, 0x10, 0], largest - 200),
    Buffer.from([0x03, 0x00, 0x10, 0]),
  ])
  const chunks = Buffer.concat([
    Buffer.from([
      0x29, 0x1c, 0x35, 2, 0x15, 2, 0, 0x16, 0, 0x19, 0x1c, 0x19, 0xfc, 0xa0, 0x8d, 0x06,
    ]),
    repeated([0x3c, 0x56, 0, 0, 0], largest),
    Buffer.from([0, 0]),
  ])
  return {
    'dictionaries one after another': sharedPages(
      pagesOf(...new Array(100).fill(dictionary), claimed(gzipSync(zeros))),
      { ...int64, codec: gzip },
    ),
    'columns that share a page': sharedPages(pagesOf(claimed(gzipSync(zeros))), {
      ...int64,
      columns: 500,
      codec: gzip,
    }),
    'columns that share a page of Snappy': sharedPages(
      pagesOf(claimed(Buffer.from(snappyCompress(zeros)))),
      {
        ...int64,
        columns: 500,
        codec: snappy,
      },
    ),
    'columns that share a page that is not packed': sharedPages(
      pagesOf({
        packed: Buffer.alloc(largest - 40_000),
        unpackedBytes: largest - 40_000,
        values: 1,
      }),
      { ...int64, columns: 500, codec: none },
    ),
    'columns that share a long header of a page': sharedPages(
      Buffer.concat([
        repeated([0x11], 400_000),
        pagesOf({ packed: Buffer.alloc(8), unpackedBytes: 8, values: 1 }),
      ]),
      { ...int64, columns: 500, codec: none },
    ),
    'columns that share many small pages': sharedPages(
      pagesOf(
        ...new Array(200).fill({ packed: gzipSync(Buffer.alloc(8)), unpackedBytes: 8, values: 1 }),
      ),
      { ...int64, columns: 500, rows: 200, codec: gzip },
    ),
    'columns that repeat a long text': sharedPages(
      pagesOf(
        {
          packed: dictionaryOf([long]),
          unpackedBytes: long.length + 4,
          values: 1,
          isDictionary: true,
        },
        // One run of 0 in a width of 1.
        { packed: Buffer.from([1, 128, 1, 0]), unpackedBytes: 4, values: 64, encoding: 8 },
      ),
      { columns: 500, rows: 64, codec: none, type: 'text' },
    ),
    'more in gzip than is said': sharedPages(
      pagesOf({ packed: gzipSync(Buffer.alloc(256 * mebibyte)), unpackedBytes: 8, values: 1 }),
      { ...int64, codec: gzip },
    ),
    'more in Brotli than is said': sharedPages(
      pagesOf({
        packed: brotliCompressSync(Buffer.alloc(16 * mebibyte)),
        unpackedBytes: 8,
        values: 1,
      }),
      { ...int64, codec: brotli },
    ),
    'more in Zstandard than is said': sharedPages(
      pagesOf({ packed: zstdBomb, unpackedBytes: 8, values: 1 }),
      {
        ...int64,
        codec: zstd,
      },
    ),
    'more in LZ4 than is said': sharedPages(
      pagesOf({ packed: lz4Bomb, unpackedBytes: 8, values: 1 }),
      {
        ...int64,
        codec: lz4,
      },
    ),
    'a footer of 100,000 chunks': withFooter(
      sharedPages(Buffer.alloc(0), { ...int64, codec: none }),
      chunks,
    ),
  }
}

describeNative('a small Parquet file, by the add-on,', () => {
  const honest = sharedPages(
    pagesOf({
      packed: gzipSync(Buffer.alloc(mebibyte, 'abcdefgh')),
      unpackedBytes: mebibyte,
      values: 2 ** 17,
    }),
    { ...int64, rows: 2 ** 17, codec: gzip },
  )

  it('of one page of a megabyte is read', async () => {
    expect((await readFlatParquet(honest))?.rows).toBe(2 ** 17)
  })

  it.each(Object.entries(hostile()))('is left to the decoder if it repeats %s', async (_, file) => {
    expect(file.length).toBeLessThan(2 ** 19)
    expect(await readFlatParquet(file)).toBeUndefined()
  })

  it('is never given bytes of the file before', async () => {
    const secret = Buffer.from('a secret of the client before '.repeat(100))
    const packed = Buffer.from(snappyCompress(dictionaryOf([secret])))
    const text = { columns: 1, rows: 1, type: 'text', codec: snappy } as const
    const before = sharedPages(
      pagesOf({ packed, unpackedBytes: secret.length + 4, values: 1 }),
      text,
    )
    expect((await readFlatParquet(before))?.columns[0].data).toEqual(new Uint8Array(secret))
    // A text of 1000 bytes, of which Snappy unpacks the length alone.
    const short = Buffer.from([4, 3 << 2, 0xe8, 3, 0, 0])
    const page = { packed: short, unpackedBytes: 1004, values: 1 }
    expect(await readFlatParquet(sharedPages(pagesOf(page), text))).toBeUndefined()
  })
})
