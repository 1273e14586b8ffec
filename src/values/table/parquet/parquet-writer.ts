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
import { fileColumnWord, fileWord, wordsOf } from '../../../core/native/shared-numbers.ts'
import { encodeArrowSchema } from '../arrow/arrow-writer.ts'
import {
  type AnyColumn,
  type Column,
  type ColumnTable,
  contiguousText,
  type TimeUnit,
  timeUnits,
  zoneOf,
} from '../columns.ts'
import { isPhysical } from './parquet-kinds.ts'

const maxFileBytes = 2 ** 26
/** What a file takes besides its columns' bytes, nearly always: levels, Snappy's growth, headers and metadata. */
const maxSnappyGrowth = 33 / 32
const maxColumnBytes = 512
const [headWords, columnWords] = [wordsOf(fileWord), wordsOf(fileColumnWord)]

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
  const needsArrow = columns.some((column) => column.time?.type === 'duration' || zoneOf(column))
  const schema = needsArrow ? encodeArrowSchema(columns).toString('base64') : ''
  const texts = Buffer.from(schema + columns.map(({ name }) => name).join(''))
  // No record for each column: V8 would keep the objects of many requests until it collects its whole heap.
  const words = new Float64Array(headWords + columns.length * columnWords)
  words[fileWord.rows] = rows
  words[fileWord.columns] = columns.length
  words[fileWord.isSnappy] = Number(compression === 'snappy')
  words[fileWord.schemaEnd] = schema.length
  const parts: Uint8Array[] = []
  let nameAt = schema.length
  for (const [i, column] of columns.entries()) {
    const own = words.subarray(headWords + i * columnWords)
    own[fileColumnWord.nameAt] = nameAt
    nameAt += Buffer.byteLength(column.name)
    own[fileColumnWord.nameEnd] = nameAt
    setParts(own, contiguousText(column, rows), rows, parts)
    setType(own, column)
  }
  const levels = columns.length * ((rows + 7) >> 3)
  const bytes = parts.reduce((sum, { length }) => sum + length, texts.length * 2 + levels)
  let room = Math.ceil(bytes * maxSnappyGrowth) + (columns.length + 1) * maxColumnBytes
  while (room <= maxFileBytes) {
    const memory = Buffer.from(allocate(room), 0, room)
    const size = addon.writeParquet(words, parts, texts, memory)
    if (size === -1) return undefined
    if (size <= room) return memory.subarray(0, size)
    // It asks for more: narrow integers are written in 32 bits.
    room = size
  }
  return undefined
}

function isFlat(column: AnyColumn): column is Column {
  // Seconds are no unit of Parquet's, and it has no float16 that all readers know.
  return 'kind' in column && unitOf(column) !== 's'
}

function unitOf({ time }: Column): TimeUnit | undefined {
  if (time && 'unit' in time) return time.unit
  return undefined
}

/** Adds the buffers of a column to the parts, and sets their numbers. */
function setParts(
  words: Float64Array,
  { kind, data, validity, offsets }: Column,
  rows: number,
  parts: Uint8Array[],
): void {
  const part = (bytes: Uint8Array | undefined) => (bytes === undefined ? -1 : parts.push(bytes) - 1)
  const ends = offsets && new Uint8Array(offsets.buffer, offsets.byteOffset, (rows + 1) * 4)
  words[fileColumnWord.kind] = elementTypes[kind].code
  words[fileColumnWord.data] = part(data)
  words[fileColumnWord.validity] = part(validity)
  words[fileColumnWord.offsets] = part(ends)
}

/** Fields of the union LogicalType; Parquet has no durations, which the Arrow schema states. */
const logicalTypes = { text: 1, date: 6, time: 7, datetime: 8, integer: 10, duration: 0 } as const

/** Sets the logical type, the unit as a field of the union TimeUnit, and whether a time is UTC. */
function setType(words: Float64Array, column: Column): void {
  const { kind, time, isBinary } = column
  if (time !== undefined) {
    words[fileColumnWord.logical] = logicalTypes[time.type]
    words[fileColumnWord.unit] = timeUnits.indexOf(unitOf(column) ?? 's')
    words[fileColumnWord.isUtc] = Number(zoneOf(column) !== undefined)
  } else if (kind === 'str') words[fileColumnWord.logical] = isBinary ? 0 : logicalTypes.text
  else if (!isPhysical(kind)) words[fileColumnWord.logical] = logicalTypes.integer
}
