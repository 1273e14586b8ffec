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
import { encodeArrowSchema } from '../arrow/arrow-writer.ts'
import {
  type AnyColumn,
  type Column,
  type ColumnTable,
  contiguousText,
  timeUnits,
} from '../columns.ts'
import { physicalKinds } from './parquet-pages.ts'
import { codecs } from './parquet-unpack.ts'

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
  // As in native/src/parquet_addon.cpp.
  const program = [rows, columns.length, codecs[compression], 0, schema.length]
  const parts: Uint8Array[] = []
  let nameStart = schema.length
  for (const column of columns) {
    const nameEnd = nameStart + Buffer.byteLength(column.name)
    addWords(program, parts, column.kind === 'str' ? contiguousText(column, rows) : column, rows)
    program.push(nameStart, nameEnd, ...typeWords(column))
    nameStart = nameEnd
  }
  const words = new Float64Array(program)
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

function addWords(
  program: number[],
  parts: Uint8Array[],
  { kind, data, validity, offsets }: Column,
  rows: number,
) {
  const part = (bytes: Uint8Array | undefined) => (bytes === undefined ? -1 : parts.push(bytes) - 1)
  const own = offsets && new Uint8Array(offsets.buffer, offsets.byteOffset, (rows + 1) * 4)
  program.push(elementTypes[kind].code, part(data), part(validity), part(own))
}

/** Fields of the union LogicalType; Parquet has no durations, which the Arrow schema states. */
const logicalTypes = { text: 1, date: 6, time: 7, datetime: 8, integer: 10, duration: 0 } as const

/**
 * @returns the logical type, the unit as a field of the union TimeUnit, and whether a time is UTC.
 */
function typeWords({
  kind,
  time,
  isBinary,
}: Column): readonly [logical: number, unit: number, isUtc: number] {
  if (time !== undefined) {
    const unit = 'unit' in time ? timeUnits.indexOf(time.unit) : 0
    return [
      logicalTypes[time.type],
      unit,
      time.type === 'datetime' && time.zone !== undefined ? 1 : 0,
    ]
  }
  if (kind === 'str') return [isBinary ? 0 : logicalTypes.text, 0, 0]
  return [physicalKinds.includes(kind) ? 0 : logicalTypes.integer, 0, 0]
}
