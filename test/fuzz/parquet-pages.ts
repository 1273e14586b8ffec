/**
 * Parquet files of one kind of column whose pages are given byte by byte.
 * @module
 */
import { varintOf } from './thrift.ts'

const number = (value: number) => varintOf(BigInt(value) * 2n)

/** A struct of fields in ascending order. */
function struct(
  fields: Readonly<Record<number, readonly [type: number, value: Buffer] | undefined>>,
): Buffer {
  const parts: Buffer[] = []
  let last = 0
  for (const [id, field] of Object.entries(fields)) {
    if (field === undefined) continue
    const [type, value] = field
    parts.push(Buffer.from([((Number(id) - last) << 4) | type]), value)
    last = Number(id)
  }
  return Buffer.concat([...parts, Buffer.from([0])])
}

const i32 = (value: number) => [5, number(value)] as const
const i64 = (value: number) => [6, number(value)] as const
const within = (value: Buffer) => [12, value] as const
const text = (value: string) =>
  [8, Buffer.concat([varintOf(BigInt(value.length)), Buffer.from(value)])] as const
const list = (items: readonly Buffer[]) =>
  [9, Buffer.concat([Buffer.from([0xfc]), varintOf(BigInt(items.length)), ...items])] as const

/** A page: of data, or of a dictionary. */
export interface CraftedPage {
  readonly packed: Buffer
  readonly unpackedBytes: number
  readonly values: number
  readonly isDictionary?: boolean
  /** Number in the enum Encoding. Default: plain. */
  readonly encoding?: number
}

/** The page and its header. */
export function craftedPage({
  packed,
  unpackedBytes,
  values,
  isDictionary,
  encoding = 0,
}: CraftedPage): Buffer {
  const sizes = { 1: i32(isDictionary ? 2 : 0), 2: i32(unpackedBytes), 3: i32(packed.length) }
  const own = struct({
    1: i32(values),
    2: i32(encoding),
    ...(!isDictionary && { 3: i32(3), 4: i32(3) }),
  })
  return Buffer.concat([struct({ ...sizes, [isDictionary ? 7 : 5]: within(own) }), packed])
}

/** Numbers in the enum CompressionCodec. */
export const parquetCodecs = { none: 0, snappy: 1, gzip: 2, brotli: 4, zstd: 6, lz4: 7 } as const

/** A file whose columns, all of them required and of this type, share one chunk of pages. */
export function sharedPages(
  pages: Buffer,
  {
    columns,
    rows,
    codec,
    type,
  }: { columns: number; rows: number; codec: number; type: 'int64' | 'text' },
): Buffer {
  const physical = i32(type === 'text' ? 6 : 2)
  const leaf = (i: number) =>
    struct({ 1: physical, 3: i32(0), 4: text(`c${i}`), ...(type === 'text' && { 6: i32(0) }) })
  const chunk = struct({
    2: i64(4),
    3: within(
      struct({
        1: physical,
        4: i32(codec),
        5: i64(rows),
        6: i64(64),
        7: i64(pages.length),
        9: i64(4),
      }),
    ),
  })
  const root = struct({ 4: text('schema'), 5: i32(columns) })
  const footer = struct({
    1: i32(2),
    2: list([root, ...Array.from({ length: columns }, (_, i) => leaf(i))]),
    3: i64(rows),
    4: list([
      struct({ 1: list(new Array(columns).fill(chunk)), 2: i64(64 * columns), 3: i64(rows) }),
    ]),
  })
  const length = Buffer.alloc(4)
  length.writeUInt32LE(footer.length)
  const magic = Buffer.from('PAR1')
  return Buffer.concat([magic, pages, footer, length, magic])
}
