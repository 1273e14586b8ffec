/**
 * Writes frames of flat columns as Parquet: one row group, one page a column, packed by Snappy or not; values that
 * repeat in a dictionary. The add-on writes the pages: Polars' writer calls back for every few bytes. **Source**:
 * parquet-format 2.10. @module
 */
import { type ColumnKind, elementTypes, itemSize } from '../../../core/dtype.ts'
import { addon } from '../../../core/native/add-on.ts'
import { encodeArrowSchema } from '../arrow/arrow.ts'
import { type AnyColumn, type Column, type ColumnTable, contiguousText, type TimeType } from '../columns.ts'
import { fileMetadata, schemaElement } from './parquet-metadata.ts'
import { firstInteger, integerKinds, physicalKinds, physicalOf } from './parquet-pages.ts'
import { codecs } from './parquet-unpack.ts'
import { type ThriftStruct, writeThrift } from './thrift.ts'

const magic = Buffer.from('PAR1')
const [optional, plain, rle, rleDictionary] = [1, 0, 3, 8]

const maxPageBytes = 2 ** 26

// Words of the program and of a column, as in native/src/parquet_addon.cpp.
const programWords = 3
const columnWords = 8

/** How the pages of a file are compressed, in pandas' names; `none` is pandas' `None`. */
export const compressions = ['snappy', 'gzip', 'zstd', 'none'] as const

/** Name of a compression. */
export type ParquetCompression = (typeof compressions)[number]

/** Returns a file; undefined for nested or no columns, gzip, zstd, more than 64 MiB, and without the add-on. */
export function encodeParquet(
  { rows, columns }: ColumnTable<AnyColumn>,
  compression: ParquetCompression = 'snappy',
  allocate: (size: number) => ArrayBuffer = (size) => Buffer.allocUnsafeSlow(size).buffer,
): Uint8Array | undefined {
  if (columns.length === 0 || addon === undefined || !columns.every(isFlat)) return undefined
  if (compression === 'gzip' || compression === 'zstd') return undefined
  const codec = codecs[compression]
  if (rows === 0) return Buffer.concat([magic, tailOf(columns, rows, codec, [])])
  const own = columns.map((column) => (column.kind === 'str' ? contiguousText(column, rows) : column))
  const parts: Uint8Array[] = []
  const program = new Float64Array([rows, own.length, codec, ...own.flatMap((column) => wordsOf(column, rows, parts))])
  const bound = addon.writeParquet(program, parts, new Uint8Array(0))
  if (bound > maxPageBytes) return undefined
  const memory = Buffer.from(allocate(magic.length + bound + footerBound(columns)))
  memory.set(magic)
  const pages = memory.subarray(magic.length, magic.length + bound)
  if (addon.writeParquet(program, parts, pages) === -1) return undefined
  const chunks = chunksOf(program, own.length)
  const { start, bytes } = chunks[chunks.length - 1]
  const tail = tailOf(columns, rows, codec, chunks)
  const end = start + bytes + tail.length
  if (end > memory.length) return Buffer.concat([memory.subarray(0, start + bytes), tail])
  memory.set(tail, start + bytes)
  return memory.subarray(0, end)
}

type Chunk = ReturnType<typeof chunksOf>[number]

function chunksOf(program: Float64Array, columns: number) {
  let start = magic.length
  return Array.from({ length: columns }, (_, i) => {
    const at = programWords + i * columnWords
    const [dictionary, data, end, unpackedBytes] = program.subarray(at + 4, at + columnWords)
    const chunk = {
      start,
      dictionary: dictionary === -1 ? undefined : magic.length + dictionary,
      data: magic.length + data,
      bytes: magic.length + end - start,
      unpackedBytes,
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
  return [elementTypes[kind].code, part(data), part(validity), part(own), -1, 0, 0, 0]
}

function footerBound(columns: readonly Column[]): number {
  return columns.reduce((sum, { name }) => sum + 6 * name.length + 192, 1024)
}

function tailOf(columns: readonly Column[], rows: number, codec: number, chunks: readonly Chunk[]): Buffer {
  const footer = footerOf(columns, rows, codec, chunks)
  const end = Buffer.alloc(8, '\0\0\0\0PAR1')
  end.writeUInt32LE(footer.length)
  return Buffer.concat([footer, end])
}

function footerOf(columns: readonly Column[], rows: number, codec: number, chunks: readonly Chunk[]): Uint8Array {
  const needsArrow = columns.some(({ time }) => time?.type === 'duration' || (time?.type === 'datetime' && time.zone))
  const schema = { key: 'ARROW:schema', value: needsArrow ? encodeArrowSchema(columns).toString('base64') : '' }
  const group = {
    chunks: chunks.map((chunk, i) => ({ offset: chunk.start, meta: metaOf(columns[i], rows, codec, chunk) })),
    bytes: chunks.reduce((sum, { unpackedBytes }) => sum + unpackedBytes, 0),
    rows,
  }
  return writeThrift(writtenMetadata, {
    version: 1,
    elements: [{ name: 'root', children: columns.length }, ...columns.map(elementOf)],
    rows,
    groups: chunks.length === 0 ? [] : [group],
    keyValues: needsArrow ? [schema] : undefined,
    createdBy: 'serving',
  })
}

function metaOf(column: Column, rows: number, codec: number, { dictionary, data, bytes, unpackedBytes }: Chunk) {
  return {
    type: physicalOf(column.kind),
    encodings: dictionary === undefined ? [plain, rle] : [plain, rle, rleDictionary],
    path: [column.name],
    codec,
    values: rows,
    unpackedBytes,
    packedBytes: bytes,
    data,
    dictionary,
  }
}

const [empty, unit] = [{}, { 1: ['ms', {}], 2: ['us', {}], 3: ['ns', {}] }] as const
const timeType = { 1: ['isUtc', 'flag'], 2: ['unit', unit] } as const
const logicalType = {
  1: ['text', empty],
  6: ['date', empty],
  7: ['time', timeType],
  8: ['datetime', timeType],
  10: ['integer', { 1: ['bits', 'byte'], 2: ['isSigned', 'flag'] }],
} as const
const writtenElement = { ...schemaElement, 10: ['logical', logicalType] } as const
const writtenMetadata = { ...fileMetadata, 2: ['elements', [writtenElement]] } as const

/** Returns the type in the enum ConvertedType; undefined for kinds that their physical type says, and other times. */
function convertedOf({ kind, time, isBinary }: Column): number | undefined {
  if (isBinary) return undefined
  if (time !== undefined) return time.type === 'date' ? 6 : undefined
  if (kind === 'str') return 0
  const narrow = integerKinds.findIndex((own) => own === kind && physicalKinds.indexOf(own) === -1)
  return narrow === -1 ? undefined : firstInteger + narrow
}

function elementOf(column: Column): ThriftStruct<typeof writtenElement> {
  const { name, kind, time, isBinary } = column
  const type = convertedOf(column)
  const element = { type: physicalOf(column.kind), repetition: optional, name, converted: type }
  if (time?.type === 'duration' || isBinary || (time === undefined && type === undefined)) return element
  return { ...element, logical: logicalOf(kind, time) }
}

function logicalOf(kind: ColumnKind, time: TimeType | undefined): ThriftStruct<typeof logicalType> {
  if (time?.type === 'date') return { date: {} }
  if (time !== undefined) {
    const isUtc = time.type === 'datetime' && time.zone !== undefined
    return { [time.type]: { isUtc, unit: { [time.unit]: {} } } }
  }
  if (kind === 'str') return { text: {} }
  return { integer: { bits: itemSize(kind) * 8, isSigned: elementTypes[kind].kind === 'i' } }
}
