/** Columns ⇄ Series and DataFrame messages, and frames in serialized bytes. @module */

import { type ColumnKind, type DataOf, type DType, elementTypes } from '../../core/dtype.ts'
import { type BadInput, BadOutput, badInput } from '../../core/errors.ts'
import { bufferPool, PooledBody } from '../../core/memory/buffer-pool.ts'
import { bytesOf } from '../../core/memory/byte-copy.ts'
import { isAscii, latin1Text } from '../../core/platform.ts'
import { type MaybePromise, whenReady } from '../../core/promise.ts'
import {
  type DataFrameMessage,
  type ListField,
  type SeriesMessage,
  valueLists,
} from '../../messages/messages.ts'
import { onlyList } from '../array/message.ts'
import { isArrowStream } from './arrow/arrow-reader.ts'
import { packBits, unpackBits } from './bits.ts'
import {
  type AnyColumn,
  type Column,
  type ColumnTable,
  columnNumbers,
  columnOf,
  contiguousText,
  isValid,
  textAt,
} from './columns.ts'
import { decodeFile } from './file-decoder.ts'
import { type IndexedFile, indexLevels, withoutIndex } from './parquet/parquet-index.ts'
import { readFlatParquet } from './parquet/parquet-reader.ts'
import type { ParquetCompression } from './parquet/parquet-writer.ts'
import { isLabelKind } from './polars/labels.ts'
import type { Polars } from './polars/polars.ts'
import type { ColumnFailure } from './polars/polars-columns.ts'
import type { DataFrame } from './polars/polars-package.ts'

/** A frame's columns and its row labels. */
export interface LabelledTable<C extends AnyColumn = Column> {
  readonly table: ColumnTable<C>
  readonly labels?: Column | undefined
}

/**
 * Decodes a Parquet or Arrow IPC file or stream, by its first bytes; undefined for others.
 *
 * @throws BadInput.
 */
export function decodeFrameFile(
  bytes: Uint8Array,
  name: string,
): MaybePromise<IndexedFile> | undefined {
  const magic = latin1Text(bytes, 0, Math.min(bytes.length, 6))
  if (magic === 'ARROW1' || isArrowStream(bytes)) return readArrow(bytes, name)
  if (magic.startsWith('PAR1')) return readParquet(bytes, name)
  return undefined
}

/**
 * Decodes Arrow IPC in the thread of files. `bytes` must not change until then.
 *
 * @throws BadInput.
 */
export async function readArrow(bytes: Uint8Array, name: string): Promise<IndexedFile> {
  return { table: await decodeFile(bytes, name, 'Arrow') }
}

/** Decodes Parquet: here if its columns are flat, else in the thread of files. A pandas index becomes labels. */
export function readParquet(bytes: Uint8Array, name: string): MaybePromise<IndexedFile> {
  const levels = indexLevels(bytes)
  const whole = whenReady<ColumnTable | undefined, ColumnTable<AnyColumn>>(
    readFlatParquet(bytes),
    (table) => table ?? decodeFile(bytes, name, 'Parquet'),
  )
  return whenReady(whole, (table) => withoutIndex(levels, table))
}

interface ParquetBody {
  readonly body: Uint8Array
  readonly pooled?: PooledBody
}

/**
 * Encodes a frame as Parquet, in memory of the pool where it is made from columns.
 *
 * @throws of Polars.
 */
export function encodeParquet(
  polars: Polars,
  frame: DataFrame,
  compression: ParquetCompression,
): ParquetBody {
  let taken: ArrayBuffer | undefined
  const body = polars.writeParquet(frame, compression, (size) => {
    if (taken !== undefined) bufferPool.give(taken)
    taken = bufferPool.take(size)
    return taken
  })
  if (body.buffer === taken) return { body, pooled: new PooledBody() }
  return { body }
}

/**
 * Converts a DataFrame message to columns.
 *
 * @throws BadInput `columns`, `dtype`.
 */
export function fromDataFrameMessage(message: DataFrameMessage, name: string): LabelledTable {
  const { columnNames = [], columns = [], index } = message
  if (columns.length < columnNames.length) {
    throw badColumns(
      `${columnNames.length} columns, as there are names,`,
      name,
      String(columns.length),
    )
  }
  if (new Set(columnNames).size !== columnNames.length)
    throw badColumns('names that differ', name, 'one of them twice')
  const made = columnNames.map((column, i) =>
    fromSeriesMessage(
      columns[i],
      column,
      `column ${JSON.stringify(column.slice(0, 80))} of ${name}`,
    ),
  )
  const rows = made[0]?.rows ?? 0
  for (const [i, column] of made.entries()) {
    // The reference pads short columns with nulls, so that one row beside a million would allocate a million.
    if (column.rows !== rows) {
      throw badColumns(
        `${rows} rows in column ${JSON.stringify(columnNames[i].slice(0, 80))}`,
        name,
        String(column.rows),
      )
    }
  }
  return {
    table: { rows, columns: made.map(({ column }) => column) },
    labels: labelsOf(index, rows, name),
  }
}

function labelsOf(
  index: SeriesMessage | undefined,
  rows: number,
  name: string,
): Column | undefined {
  if (index === undefined) return undefined
  const { column, rows: count } = fromSeriesMessage(index, '', `the index of ${name}`)
  if (count !== rows) throw badColumns(`${rows} labels`, name, String(count))
  if (!isLabelKind(column.kind) || column.validity !== undefined) {
    throw badColumns('labels of strings, int64 or float64', name, column.kind)
  }
  return column
}

/**
 * Converts a Series message to a column and its row labels.
 *
 * @throws BadInput.
 */
export function fromSeriesTable(message: SeriesMessage, name: string): LabelledTable {
  const { column, rows } = fromSeriesMessage(message, message.name ?? '', name)
  return { table: { rows, columns: [column] }, labels: labelsOf(message.index, rows, name) }
}

function fromSeriesMessage(message: SeriesMessage, called: string, name: string) {
  const found = onlyList(message, name) ?? { dtype: 'float64' as const, data: new Float64Array(0) }
  const rows = found.data.length
  const nulls = message.nullPositions ?? []
  const validity = nulls.length === 0 ? undefined : new Uint8Array((rows + 7) >> 3).fill(0xff)
  for (const position of nulls) {
    if (!(position >= 0 && position < rows))
      throw badColumns(`null positions below ${rows}`, name, String(position))
    if (validity !== undefined) validity[position >> 3] &= ~(1 << (position & 7))
  }
  const column = columnFrom(called, found.dtype, found.data)
  return { column: { ...column, validity }, rows }
}

/** @returns elements of an array as a column. */
export function columnFrom(name: string, dtype: DType, data: DataOf<DType>): Column {
  if (dtype === 'str') return columnOf(name, 'str', data as string[])
  if (dtype === 'bool') return { name, kind: 'bool', data: packBits(data) }
  return { name, kind: dtype as Column['kind'], data: bytesOf(data as Float64Array) }
}

function badColumns(what: string, name: string, received: string): BadInput {
  return badInput('columns', `expected ${what} for ${name}, received ${received}`)
}

/**
 * Encodes a frame as a DataFrame message.
 *
 * @throws BadOutput naming the column that cannot be written.
 */
export function encodeFrameMessage(
  polars: Polars,
  frame: DataFrame,
  labels: Column | undefined,
  name: string,
): DataFrameMessage {
  const { rows, columns } = requireTable(polars.toColumns(frame), name)
  return {
    columnNames: columns.map((column) => column.name),
    columns: columns.map((column) => toSeriesMessage(column, rows)),
    index: labels && toSeriesMessage(labels, rows),
  }
}

/** Converts a column and its row labels to a Series message. */
export function toSeriesTable({ table, labels }: LabelledTable): SeriesMessage {
  const [column] = table.columns
  return {
    ...toSeriesMessage(column, table.rows),
    index: labels && toSeriesMessage(labels, table.rows),
    name: column.name || undefined,
  }
}

function toSeriesMessage(column: Column, rows: number): SeriesMessage {
  const { property, dtype } = listFor(column.kind)
  const positions: number[] = []
  if (column.validity !== undefined)
    for (let i = 0; i < rows; i++) if (!isValid(column, i)) positions.push(i)
  return {
    [property]: elementsOf(column, dtype, rows),
    ...(positions.length > 0 && { nullPositions: Uint32Array.from(positions) }),
  }
}

/**
 * Narrow integers have no list of their own and use that of 32 bits.
 *
 * @returns the message's list for a kind.
 */
function listFor(kind: ColumnKind): ListField {
  const wide = elementTypes[kind].kind === 'i' ? 'int32' : 'uint32'
  return (valueLists.find(({ dtype }) => dtype === kind) ??
    valueLists.find(({ dtype }) => dtype === wide)) as ListField
}

function elementsOf(column: Column, dtype: DType, rows: number): DataOf<DType> {
  const { kind, data } = column
  if (kind === 'str') {
    const text = contiguousText(column, rows)
    const offsets = text.offsets as Int32Array
    // One decoding for all of them, where a byte is a character.
    const whole = isAscii(text.data) ? latin1Text(text.data) : ''
    return Array.from({ length: rows }, (_, i) => {
      if (!isValid(column, i)) return ''
      if (whole === '') return textAt(text, i)
      return whole.slice(offsets[i], offsets[i + 1])
    })
  }
  if (kind === 'bool') return unpackBits(data, rows)
  const own = columnNumbers(column, rows) as DataOf<DType>
  if (kind === dtype) return own
  if (dtype === 'uint32') return new Uint32Array(own as Uint8Array)
  return new Int32Array(own as Int8Array)
}

/**
 * @returns the result of `toColumns` if it is a table.
 * @throws BadOutput naming the unsupported column.
 */
export function requireTable<C extends AnyColumn>(
  table: ColumnTable<C> | ColumnFailure,
  name: string,
): ColumnTable<C> {
  if (!('failure' in table)) return table
  throw new BadOutput(
    `expected columns of numbers, booleans, texts or dates for ${name}, received column ${table.column}`,
  )
}
