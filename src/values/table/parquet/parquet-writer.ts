/**
 * Writes frames of flat columns as Parquet: one row group, one page a column, not compressed; texts and integers that
 * repeat in a dictionary. The add-on writes the pages: Polars' writer calls back for every few bytes. **Source**:
 * parquet-format 2.10. @module
 */
import { type ColumnKind, elementTypes, itemSize } from '../../../core/dtype.ts'
import { parquetAddon } from '../../../core/native/add-on.ts'
import { encodeArrowSchema } from '../arrow/arrow.ts'
import { type AnyColumn, type Column, type ColumnTable, contiguousText } from '../columns.ts'
import { physical } from './parquet-pages.ts'
import { thriftTypes } from './thrift.ts'
import { ThriftWriter } from './thrift-writer.ts'

const magic = Buffer.from('PAR1')
const [optional, plain, rle, rleDictionary, uncompressed] = [1, 0, 3, 8, 0]
const { i64 } = thriftTypes

const maxPageBytes = 2 ** 26

// Words of the program and of a column, as in native/src/parquet_addon.cpp.
const programWords = 2
const columnWords = 7

/** Returns a file; undefined for nested or no columns, more than 64 MiB, and without the add-on. */
export function encodeParquet(
  { rows, columns }: ColumnTable<AnyColumn>,
  allocate: (size: number) => ArrayBuffer = (size) => Buffer.allocUnsafeSlow(size).buffer,
): Uint8Array | undefined {
  if (columns.length === 0 || parquetAddon === undefined || !columns.every(isFlat)) return undefined
  if (rows === 0) return Buffer.concat([magic, tailOf(columns, rows, [])])
  const own = columns.map((column) => (column.kind === 'str' ? contiguousText(column, rows) : column))
  const parts: Uint8Array[] = []
  const program = Float64Array.from([rows, own.length, ...own.flatMap((column) => wordsOf(column, rows, parts))])
  const bound = parquetAddon.boundParquet(program, parts)
  if (bound > maxPageBytes) return undefined
  const memory = Buffer.from(allocate(magic.length + bound + footerBound(columns)))
  memory.set(magic)
  const pages = memory.subarray(magic.length, magic.length + bound)
  if (!parquetAddon.writeParquet(program, parts, pages, 0)) return undefined
  const chunks = chunksOf(program, own.length)
  const { start, bytes } = chunks[chunks.length - 1]
  const tail = tailOf(columns, rows, chunks)
  const end = start + bytes + tail.length
  if (end > memory.length) return Buffer.concat([memory.subarray(0, start + bytes), tail])
  memory.set(tail, start + bytes)
  return memory.subarray(0, end)
}

interface Chunk {
  readonly start: number
  readonly dictionary: number | undefined
  readonly data: number
  readonly bytes: number
}

function chunksOf(program: Float64Array, columns: number): Chunk[] {
  let start = magic.length
  return Array.from({ length: columns }, (_, i) => {
    const at = programWords + i * columnWords
    const [dictionary, data, end] = program.subarray(at + 4, at + 7)
    const chunk = {
      start,
      dictionary: dictionary === -1 ? undefined : magic.length + dictionary,
      data: magic.length + data,
      bytes: magic.length + end - start,
    }
    start = magic.length + end
    return chunk
  })
}

function isFlat(column: AnyColumn): column is Column {
  // Seconds are no unit of Parquet's, and it has no float16 that all readers know.
  return 'kind' in column && !(column.time !== undefined && 'unit' in column.time && column.time.unit === 's')
}

function wordsOf({ kind, data, validity, offsets }: Column, rows: number, parts: Uint8Array[]): number[] {
  const part = (bytes: Uint8Array | undefined) => (bytes === undefined ? -1 : parts.push(bytes) - 1)
  const own = offsets && new Uint8Array(offsets.buffer, offsets.byteOffset, (rows + 1) * 4)
  return [elementTypes[kind].code, part(data), part(validity), part(own), -1, 0, 0]
}

function footerBound(columns: readonly Column[]): number {
  return columns.reduce((sum, { name }) => sum + 6 * name.length + 192, 1024)
}

function tailOf(columns: readonly Column[], rows: number, chunks: readonly Chunk[]): Buffer {
  const footer = footerOf(columns, rows, chunks)
  const end = Buffer.alloc(8, '\0\0\0\0PAR1')
  end.writeUInt32LE(footer.length)
  return Buffer.concat([footer, end])
}

/** FileMetaData: 1 version, 2 schema, 3 num_rows, 4 row_groups, 5 key_value_metadata, 6 created_by. */
function footerOf(columns: readonly Column[], rows: number, chunks: readonly Chunk[]): Uint8Array {
  const out = new ThriftWriter()
  const needsArrow = columns.some(({ time }) => time?.type === 'duration' || (time?.type === 'datetime' && time.zone))
  out.integer(1, 1)
  out.structs(2, [undefined, ...columns], (column) => {
    if (column !== undefined) return writeElement(out, column)
    out.text(4, 'root')
    out.integer(5, columns.length)
  })
  out.integer(3, rows, i64)
  out.structs(4, chunks.length === 0 ? [] : [chunks], () => writeGroup(out, columns, rows, chunks))
  if (needsArrow) {
    out.structs(5, [encodeArrowSchema(columns)], (schema) => {
      out.text(1, 'ARROW:schema')
      out.text(2, schema.toString('base64'))
    })
  }
  out.text(6, 'serving')
  out.end()
  return out.bytes
}

/** RowGroup: 1 columns, 2 total_byte_size, 3 num_rows. ColumnChunk: 2 file_offset, 3 meta_data. */
function writeGroup(out: ThriftWriter, columns: readonly Column[], rows: number, chunks: readonly Chunk[]): void {
  let column = 0
  out.structs(1, chunks, ({ start, dictionary, data, bytes }) => {
    const own = columns[column++]
    out.integer(2, start, i64)
    // ColumnMetaData: 1 type, 2 encodings, 3 path, 4 codec, 5 num_values, 6 and 7 sizes, 9 data_page_offset,
    // 11 dictionary_page_offset.
    out.struct(3, () => {
      out.integer(1, physicalOf(own))
      out.integers(2, dictionary === undefined ? [plain, rle] : [plain, rle, rleDictionary])
      out.texts(3, [own.name])
      out.integer(4, uncompressed)
      out.integer(5, rows, i64)
      out.integer(6, bytes, i64)
      out.integer(7, bytes, i64)
      out.integer(9, data, i64)
      if (dictionary !== undefined) out.integer(11, dictionary, i64)
    })
  })
  const total = chunks.reduce((sum, { bytes }) => sum + bytes, 0)
  out.integer(2, total, i64)
  out.integer(3, rows, i64)
}

function physicalOf({ kind }: Column): number {
  if (kind === 'str') return physical.bytes
  if (kind === 'bool') return physical.bool
  if (kind === 'float32') return physical.float
  if (kind === 'float64') return physical.double
  return itemSize(kind) === 8 ? physical.int64 : physical.int32
}

const logical = { text: 1, date: 6, time: 7, timestamp: 8, integer: 10 } as const
const units = { ms: 1, us: 2, ns: 3 } as const
const converted: Readonly<Partial<Record<ColumnKind | 'date', number>>> = {
  str: 0,
  date: 6,
  uint8: 11,
  uint16: 12,
  uint32: 13,
  uint64: 14,
  int8: 15,
  int16: 16,
}

function writeElement(out: ThriftWriter, column: Column): void {
  const { name, kind, time, isBinary } = column
  out.integer(1, physicalOf(column))
  out.integer(3, optional)
  out.text(4, name)
  const type = isBinary ? undefined : converted[time === undefined ? kind : (time.type as 'date')]
  if (type !== undefined) out.integer(6, type)
  if (time?.type === 'duration' || isBinary || (time === undefined && type === undefined)) return
  out.struct(10, () => {
    if (time?.type === 'date') out.struct(logical.date, () => undefined)
    else if (time !== undefined) {
      out.struct(time.type === 'time' ? logical.time : logical.timestamp, () => {
        out.flag(1, time.type === 'datetime' && time.zone !== undefined)
        out.struct(2, () => out.struct(units[time.unit as keyof typeof units], () => undefined))
      })
    } else if (kind === 'str') out.struct(logical.text, () => undefined)
    else {
      out.struct(logical.integer, () => {
        out.byte(1, itemSize(kind) * 8)
        out.flag(2, elementTypes[kind].kind === 'i')
      })
    }
  })
}
