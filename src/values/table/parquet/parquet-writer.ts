/**
 * Writes frames of flat columns as Parquet: one row group, one page a column, packed by Snappy or
 * not; values that repeat in a dictionary. The add-on writes the file: Polars' writer calls back
 * for every few bytes.
 *
 * @see parquet-format 2.10.
 * @module
 */
import { elementTypes } from '../../../core/dtype.ts'
import { addon } from '../../../core/native/add-on.ts'
import { addRecord, fileColumnWord, fileWord } from '../../../core/native/shared-numbers.ts'
import { encodeArrowSchema } from '../arrow/arrow-writer.ts'
import {
  type AnyColumn,
  type Column,
  type ColumnTable,
  contiguousText,
  timeUnits,
} from '../columns.ts'
import { physicalKinds } from './parquet-pages.ts'

const maxFileBytes = 2 ** 26

/** How the pages of a file are compressed, in pandas' names; `none` is pandas' `None`. */
export const compressions = ['snappy', 'gzip', 'zstd', 'none'] as const

/** Name of a compression. */
export type ParquetCompression = (typeof compressions)[number]

/**
 * @returns a file; undefined for nested or no columns, gzip, zstd, more than 64 MiB, and without
 * the add-on.
 */
export function encodeParquet(
  { rows, columns }: ColumnTable<AnyColumn>,
  compression: ParquetCompression = 'snappy',
  allocate: (size: number) => ArrayBuffer = (size) => Buffer.allocUnsafeSlow(size).buffer,
): Uint8Array | undefined {
  if (columns.length === 0 || addon === undefined || !columns.every(isFlat)) return undefined
  if (compression === 'gzip' || compression === 'zstd') return undefined
  const needsArrow = columns.some(
    ({ time }) => time?.type === 'duration' || (time?.type === 'datetime' && time.zone),
  )
  const schema = needsArrow ? encodeArrowSchema(columns).toString('base64') : ''
  const texts = Buffer.from(schema + columns.map(({ name }) => name).join(''))
  const numbers: number[] = []
  addRecord(numbers, fileWord, {
    rows,
    columns: columns.length,
    isSnappy: compression === 'snappy' ? 1 : 0,
    schemaAt: 0,
    schemaEnd: schema.length,
  })
  const parts: Uint8Array[] = []
  let nameAt = schema.length
  for (const column of columns) {
    const nameEnd = nameAt + Buffer.byteLength(column.name)
    addRecord(numbers, fileColumnWord, {
      ...partsOf(column.kind === 'str' ? contiguousText(column, rows) : column, rows, parts),
      nameAt,
      nameEnd,
      ...typeOf(column),
    })
    nameAt = nameEnd
  }
  const words = new Float64Array(numbers)
  const bound = addon.writeParquet(words, parts, texts, new Uint8Array(0))
  if (bound > maxFileBytes) return undefined
  const memory = Buffer.from(allocate(bound), 0, bound)
  const size = addon.writeParquet(words, parts, texts, memory)
  return size === -1 ? undefined : memory.subarray(0, size)
}

function isFlat(column: AnyColumn): column is Column {
  // Seconds are no unit of Parquet's, and it has no float16 that all readers know.
  return (
    'kind' in column &&
    !(column.time !== undefined && 'unit' in column.time && column.time.unit === 's')
  )
}

/** Adds the buffers of a column to the parts; returns their numbers. */
function partsOf({ kind, data, validity, offsets }: Column, rows: number, parts: Uint8Array[]) {
  const part = (bytes: Uint8Array | undefined) => (bytes === undefined ? -1 : parts.push(bytes) - 1)
  const own = offsets && new Uint8Array(offsets.buffer, offsets.byteOffset, (rows + 1) * 4)
  return {
    kind: elementTypes[kind].code,
    data: part(data),
    validity: part(validity),
    offsets: part(own),
  }
}

/** Fields of the union LogicalType; Parquet has no durations, which the Arrow schema states. */
const logicalTypes = { text: 1, date: 6, time: 7, datetime: 8, integer: 10, duration: 0 } as const

/** @returns the logical type, the unit as a field of the union TimeUnit, and whether a time is UTC. */
function typeOf({ kind, time, isBinary }: Column) {
  const plain = { logical: 0, unit: 0, isUtc: 0 }
  if (time !== undefined) {
    const isUtc = time.type === 'datetime' && time.zone !== undefined
    const unit = 'unit' in time ? timeUnits.indexOf(time.unit) : 0
    return { logical: logicalTypes[time.type], unit, isUtc: isUtc ? 1 : 0 }
  }
  if (kind === 'str') return isBinary ? plain : { ...plain, logical: logicalTypes.text }
  return physicalKinds.includes(kind) ? plain : { ...plain, logical: logicalTypes.integer }
}
