import { createHash } from 'node:crypto'
import { BadInput, io } from 'serving'
import { describe, expect, it } from 'vitest'
import type { DataFrame } from '../../src/values/table/polars/polars-package.ts'
import { type PlainColumn, plain } from '../unit/descriptors/frames.ts'
import { requestOf } from '../unit/descriptors/requests.ts'
import { filesBelow, madeCorpus, publicCorpus } from './corpus.ts'

/** What Polars for Python reads in a file; see parquet.py beside parquet.json. */
interface ParquetRow {
  readonly file: string
  readonly rows?: number
  readonly columns?: readonly string[]
  readonly sha256?: Readonly<Record<string, string>>
}

// https://github.com/apache/parquet-testing, Apache-2.0
const corpus = publicCorpus('parquet-testing')
const files = new Map(filesBelow(corpus, /\.parquet(\.encrypted)?$/))
const expected = madeCorpus<ParquetRow>('parquet.json')

/** Files that Polars for Python (2.1) reads and parquet-wasm 0.8.0 does not, with what the client is told. */
const unread: Readonly<Record<string, RegExp>> = {
  // pyarrow refuses both, too.
  'bad_data/ARROW-GH-45185.parquet': /first repetition level of batch must be 0/,
  'bad_data/ARROW-RS-GH-6229-LEVELS.parquet': /Insufficient repetition levels/,
  'data/int96_from_spark.parquet':
    /column "a" that has a time of 96 bits before 1677 or after 2262/,
  'data/large_string_map.brotli.parquet': /2147483827 bytes unpacked/,
  'data/repeated_no_annotation.parquet': /row groups have 6 rows where its footer says 0/,
}

/** What the client is told of files that neither reads. */
const told: readonly (readonly [file: RegExp, message: RegExp])[] = [
  [
    /^data\/(aes256\/)?(encrypt_columns_and|uniform|external).*encrypted$/,
    /received an encrypted Parquet file/,
  ],
  [/^data\/(aes256\/)?encrypt_columns_plain/, /column "\w+_field" encrypted/],
  [/unknown-logical-type/, /of a type that is not supported, a newer version of Parquet/],
]

/**
 * Read here and not by Polars for Python: the key of a map may be missing, VARIANT and shapes are the bytes that hold
 * them, as for pyarrow.
 */
const isReadHere = (file: string) =>
  /^data\/incorrect_map_schema|^shredded_variant\/case-|^data\/geospatial\/|byte_stream_split_extended/.test(
    file,
  )
const readHere = expected.map(({ file }) => file).filter(isReadHere)

const descriptor = new io.PandasDataFrame({ defaultFormat: 'parquet' })

async function decode(file: string): Promise<DataFrame | BadInput> {
  try {
    return await descriptor.fromHttpRequest(
      requestOf(files.get(file) as Buffer, 'application/octet-stream'),
    )
  } catch (error) {
    if (error instanceof BadInput) return error
    throw error
  }
}

function digest({ kind, values }: PlainColumn): string {
  const line = (value: unknown) => {
    if (typeof value === 'string') return Buffer.from(value).toString('hex')
    if (typeof value !== 'number' || !kind.startsWith('float')) return String(value)
    const bytes = Buffer.alloc(8)
    bytes.writeDoubleBE(value)
    return Number.isNaN(value) ? 'nan' : bytes.toString('hex')
  }
  return createHash('sha256').update(values.map(line).join('\n')).digest('hex')
}

describe.skipIf(corpus === undefined)('parquet-testing', () => {
  const readable = expected.filter(({ file, rows }) => rows !== undefined && !(file in unread))

  it.each(readable)(
    '$file holds what Polars for Python reads',
    async ({ file, rows, columns, sha256 }) => {
      const frame = await decode(file)
      if (frame instanceof BadInput) throw frame
      expect({ rows: frame.height, columns: frame.columns }).toEqual({ rows, columns })
      const names = Object.keys(sha256 ?? {})
      const { columns: plainColumns } = plain(frame.select(...names))
      expect(
        Object.fromEntries(plainColumns.map((column) => [column.name, digest(column)])),
      ).toEqual(sha256)
    },
  )

  const others = expected.filter(
    ({ file, rows }) => (rows === undefined || file in unread) && !isReadHere(file),
  )
  it.each(others)('$file is refused with what it is that cannot be read', async ({ file }) => {
    const refusal = await decode(file)
    expect(refusal).toBeInstanceOf(BadInput)
    const message = unread[file] ?? told.find(([name]) => name.test(file))?.[1]
    if (message !== undefined) expect((refusal as BadInput).message).toMatch(message)
  })

  it.each([
    ...expected.filter(({ rows }) => rows !== undefined).map(({ file }) => file),
    ...readHere,
  ])('%s is written in every format, or refused with the column that has no text', async (file) => {
    const frame = await decode(file)
    if (frame instanceof BadInput) return
    for (const defaultFormat of ['json', 'csv', 'parquet'] as const) {
      try {
        await new io.PandasDataFrame({ defaultFormat }).toHttpResponse(frame)
      } catch (error) {
        expect((error as Error).message).toMatch(/column/)
      }
    }
  })

  it('is known as a whole', () => {
    expect([...files.keys()].filter((file) => !expected.some((row) => row.file === file))).toEqual(
      [],
    )
  })
})
