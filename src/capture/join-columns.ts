/** Puts rows of columns of one type behind one another. @module */
import { itemSize } from '../core/dtype.ts'
import {
  type AnyColumn,
  type Column,
  contiguousText,
  isValid,
  type ListColumn,
  packBits,
  type StructColumn,
  sliceColumn,
} from '../values/table/columns.ts'

/** Rows of a column; without one they are null. */
export interface Piece {
  readonly column: AnyColumn | undefined
  readonly rows: number
}

/** What columns of any type may have. */
type Parts = Partial<Column & ListColumn & StructColumn>

type Rows = { readonly column: Parts | undefined; readonly rows: number }

/** @returns the first rows of a column in memory of its own, which {@link joinColumns} takes. */
export function copyColumn(column: AnyColumn, rows: number): AnyColumn {
  const first = firstRows(column, rows)
  const isSimple = 'kind' in first && first.kind !== 'str' && first.validity === undefined
  if (isSimple) return { ...first, data: new Uint8Array(first.data) }
  return joinColumns(column, [{ column: first, rows }])
}

function firstRows(column: AnyColumn, rows: number): AnyColumn {
  const isText = 'kind' in column && column.kind === 'str'
  const first = sliceColumn(isText ? contiguousText(column, rows) : column, 0, rows)
  if ('items' in first) return { ...first, items: firstRows(first.items, first.offsets[rows]) }
  if (!('fields' in first)) return first
  return { ...first, fields: first.fields.map((field) => firstRows(field, rows)) }
}

/**
 * @param like - A column of the type and name of the result.
 * @param pieces - Of columns that have no more than these rows.
 * @returns the rows of all pieces, in memory of their own.
 */
export function joinColumns(like: AnyColumn, pieces: readonly Piece[]): AnyColumn {
  const { name, kind, time, isBinary, items, fields } = like as Parts
  const isWhole = pieces.every(({ column }) => column && column.validity === undefined)
  const joined = (child: AnyColumn, of: (parts: Parts) => AnyColumn | undefined) =>
    joinColumns(
      child,
      pieces.map(({ column, rows }) => ({
        column: column && of(column),
        rows: items ? itemsIn(column, rows) : rows,
      })),
    )
  return {
    name,
    ...(!isWhole && { validity: joinBits(pieces, (column) => column) }),
    ...(kind && { kind, data: joinData(kind, pieces) }),
    ...(time && { time }),
    ...(isBinary && { isBinary }),
    ...((items || kind === 'str') && { offsets: joinOffsets(pieces) }),
    ...(items && { items: joined(items, (parts) => parts.items) }),
    ...(fields && { fields: fields.map((field, i) => joined(field, ({ fields }) => fields?.[i])) }),
  } as AnyColumn
}

function joinData(kind: Column['kind'], pieces: readonly Rows[]): Uint8Array {
  if (kind === 'bool') return joinBits(pieces, ({ data }) => ({ validity: data }))
  const size = kind === 'str' ? 0 : itemSize(kind)
  const parts = pieces.map(({ column, rows }) => column?.data ?? new Uint8Array(rows * size))
  // Not by Buffer.concat, whose memory may be shared.
  const data = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    data.set(part, at)
    at += part.length
  }
  return data
}

function joinBits(
  pieces: readonly Rows[],
  of: (parts: Parts) => Pick<Column, 'validity'>,
): Uint8Array {
  const flags = new Uint8Array(rowsOf(pieces))
  let at = 0
  for (const { column, rows } of pieces) {
    const bits = column && of(column)
    for (let row = 0; row < rows; row++) flags[at++] = bits && isValid(bits, row) ? 1 : 0
  }
  return packBits(flags)
}

/** @returns how many rows pieces have together. */
export const rowsOf = (pieces: readonly Rows[]) => pieces.reduce((sum, { rows }) => sum + rows, 0)

const itemsIn = (column: Parts | undefined, rows: number) => column?.offsets?.[rows] ?? 0

function joinOffsets(pieces: readonly Rows[]): Int32Array {
  const offsets = new Int32Array(rowsOf(pieces) + 1)
  let row = 0
  for (const { column, rows } of pieces) {
    const end = offsets[row]
    const ends = column?.offsets
    for (let i = 1; i <= rows; i++) offsets[row + i] = end + (ends === undefined ? 0 : ends[i])
    row += rows
  }
  return offsets
}

/** Whether two columns have one type. Makes no names where that is common. */
export function hasTypeOf(one: AnyColumn, other: AnyColumn): boolean {
  if ('items' in one && 'items' in other) return hasTypeOf(one.items, other.items)
  if (!('kind' in one) || !('kind' in other) || one.time || other.time)
    return typeName(one) === typeName(other)
  return one.kind === other.kind && one.isBinary === other.isBinary
}

/** @returns the name of a type, equal for equal types. */
export function typeName(column: AnyColumn): string {
  if ('items' in column) return `list<${typeName(column.items)}>`
  if ('fields' in column)
    return `struct<${column.fields.map((field) => `${JSON.stringify(field.name)}: ${typeName(field)}`)}>`
  const { kind, time, isBinary } = column
  if (time !== undefined) return Object.values(time).join(' ')
  return isBinary ? 'bytes' : kind
}
