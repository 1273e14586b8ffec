/**
 * Reads small Parquet files of flat columns in this process, where a malformed one cannot do harm: JavaScript checks
 * every index, and the work of all pages together is bounded. All others go to Polars in the sandbox, which takes 1 ms
 * more.
 * @module
 */
import { FlatTable } from '../array/flatbuffer.ts'
import { type ColumnKind, dataConstructor, isNumeric, itemSize } from '../dtype.ts'
import { type ArrowType, arrowTypeOf } from './arrow-types.ts'
import type { Column, ColumnTable } from './columns.ts'
import { footerLength, readParquetFooter } from './parquet-footer.ts'
import { type ParquetColumn, type ParquetMetadata, readParquetMetadata } from './parquet-metadata.ts'
import { ColumnPages, physical } from './parquet-pages.ts'
import { WorkBudget } from './parquet-unpack.ts'
import { Unreadable } from './thrift.ts'

/** Bounds of what is read here. **Units**: bytes; rows times columns; columns. */
const maxFileBytes = 2 ** 19
const maxFooterBytes = 2 ** 16
const maxUnpackedBytes = 2 ** 21
const maxCells = 2 ** 17
const maxColumns = 512
/** What pages may cost, whatever the footer says of them: a file may have many, and columns may share them. */
const maxWork = 2 * maxUnpackedBytes

/**
 * Returns the columns of a small file. Undefined for a larger file, for types, encodings and compressions that are not
 * read here, and for anything that is wrong with it: Polars decides about those. **Cost**: at most 20 ms, whatever the
 * file holds; see test/unit/frame/parquet-work.test.ts.
 */
export function readSmallParquet(file: Uint8Array): ColumnTable | undefined {
  if (file.length > maxFileBytes || footerLength(file) > maxFooterBytes) return undefined
  const footer = readParquetFooter(file)
  if ('failure' in footer) return undefined
  const { rows, columns, values, unpackedBytes } = footer
  if (columns > maxColumns || Math.max(rows * columns, values) > maxCells) return undefined
  if (unpackedBytes > maxUnpackedBytes) return undefined
  try {
    const metadata = readParquetMetadata(file)
    return metadata === undefined ? undefined : readColumns(file, metadata, rows)
  } catch {
    // Unreadable, or what zlib and Snappy throw.
    return undefined
  }
}

function readColumns(file: Uint8Array, metadata: ParquetMetadata, rows: number): ColumnTable | undefined {
  const { groups, columns } = metadata
  const total = groups.reduce((sum, group) => sum + group.rows, 0)
  const isWhole = groups.every((group) => group.rows >= 0 && group.chunks.every(({ values }) => values === group.rows))
  if (!isWhole || total !== rows || new Set(columns.map(({ name }) => name)).size !== columns.length) return undefined
  const types = typesOf(metadata)
  if (types === undefined) return undefined
  const work = new WorkBudget(maxWork)
  const made = columns.map((column, i): Column => {
    const pages = new ColumnPages(column.type, column.isOptional, rows, work)
    for (const { chunks } of groups) {
      const chunk = chunks[i]
      if (chunk.values === 0) continue
      if (chunk.start < 4 || chunk.end < chunk.start || chunk.end > file.length) throw new Unreadable()
      pages.add(file, chunk)
    }
    return columnOf(column, types[i], pages, rows)
  })
  return { rows, columns: made }
}

type Plain = Extract<ArrowType, { readonly layout: 'flat' | 'text' | 'views' }>

/** Returns the types of the columns: those of the Arrow schema, if there is one. Undefined if one is not read here. */
function typesOf({ columns, arrowSchema }: ParquetMetadata): Plain[] | undefined {
  const fields = arrowSchema === undefined ? undefined : fieldsOf(arrowSchema)
  if (fields !== undefined && fields.length !== columns.length) return undefined
  const types: Plain[] = []
  for (const [i, column] of columns.entries()) {
    const told = typeOf(column)
    const type = fields === undefined ? told : arrowTypeOf(fields[i])
    if (told === undefined || type === undefined || fields?.[i].string(0) !== (fields && column.name)) return undefined
    if (type.layout === 'flat') {
      // A time whose unit the file does not say, and durations.
      if (type.time !== undefined && type.time.type !== 'date') return undefined
      if (told.layout !== 'flat' || !holds(column.type, type.kind)) return undefined
    } else if ((type.layout !== 'text' && type.layout !== 'views') || type.isBinary || told.layout !== 'text') {
      return undefined
    }
    types.push(type)
  }
  return types
}

/** Whether values of a physical type are read as elements of a kind. */
function holds(type: number, kind: ColumnKind): boolean {
  if (kind === 'bool') return type === physical.bool
  if (kind === 'float32') return type === physical.float
  if (kind === 'float64') return type === physical.double
  return kind === 'int64' || kind === 'uint64' ? type === physical.int64 : type === physical.int32 && kind !== 'str'
}

// By their number in the enum ConvertedType.
const integers: Readonly<Record<number, ColumnKind>> = {
  11: 'uint8',
  12: 'uint16',
  13: 'uint32',
  14: 'uint64',
  15: 'int8',
  16: 'int16',
  17: 'int32',
  18: 'int64',
}
const utf8 = 0
const date = 6
const logicalString = 1
const logicalDate = 6
const logicalInteger = 10

/** Returns the type that the file's own schema says. */
function typeOf({ type, converted, logical }: ParquetColumn): Plain | undefined {
  if (type === physical.bytes) {
    const isText = logical === logicalString || (logical === undefined && converted === utf8)
    return isText ? { layout: 'text', offsetBytes: 4, isBinary: undefined } : undefined
  }
  if (type === physical.int32 && (logical === logicalDate || (logical === undefined && converted === date))) {
    return { layout: 'flat', kind: 'int32', time: { type: 'date' } }
  }
  if (type === physical.int32 || type === physical.int64) {
    const plain = type === physical.int32 ? 'int32' : 'int64'
    if (logical === undefined && converted === undefined) return { layout: 'flat', kind: plain }
    // Writers of logical integers write the converted type, too.
    const kind = converted === undefined ? undefined : integers[converted]
    if (kind === undefined || (logical !== undefined && logical !== logicalInteger)) return undefined
    return holds(type, kind) ? { layout: 'flat', kind } : undefined
  }
  if (logical !== undefined || converted !== undefined) return undefined
  if (type === physical.bool) return { layout: 'flat', kind: 'bool' }
  if (type === physical.float) return { layout: 'flat', kind: 'float32' }
  return type === physical.double ? { layout: 'flat', kind: 'float64' } : undefined
}

/** Returns the fields of an Arrow schema: a message without a body. **Errors**: Unreadable. */
function fieldsOf(base64: string): FlatTable[] {
  const message = Buffer.from(base64, 'base64')
  // A marker and the length come first; older writers leave the marker out.
  const start = message.length >= 4 && message.readInt32LE(0) === -1 ? 8 : 4
  const root = FlatTable.root(new Uint8Array(message.subarray(start)), () => new Unreadable())
  return root.table(2)?.tables(1) ?? []
}

function columnOf({ name }: ParquetColumn, type: Plain, pages: ColumnPages, rows: number): Column {
  const validity = pages.nulls > 0 ? { validity: pages.validity } : {}
  if (type.layout !== 'flat') {
    pages.finishTexts()
    const { offsets, data, textBytes } = pages
    return { name, kind: 'str', data: data.subarray(0, textBytes), offsets: offsets as Int32Array, ...validity }
  }
  const { kind, time } = type
  return { name, kind, data: elementsOf(kind, pages.data, rows), ...validity, ...(time !== undefined && { time }) }
}

/** Returns the elements of a kind: booleans packed in bits, narrow integers in their own width. */
function elementsOf(kind: ColumnKind, data: Uint8Array, rows: number): Uint8Array {
  if (kind === 'bool') {
    const bits = new Uint8Array((rows + 7) >> 3)
    for (let row = 0; row < rows; row++) bits[row >> 3] |= data[row] << (row & 7)
    return bits
  }
  if (!isNumeric(kind) || itemSize(kind) >= 4) return data
  const wide = new Int32Array(data.buffer, data.byteOffset, rows)
  const narrow = new (dataConstructor(kind))(rows) as Int8Array
  for (let row = 0; row < rows; row++) {
    narrow[row] = wide[row]
    if (narrow[row] !== wide[row]) throw new Unreadable()
  }
  return new Uint8Array(narrow.buffer)
}
