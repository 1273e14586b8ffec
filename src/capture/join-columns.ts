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

/**
 * @param like - A column of the type and name of the result.
 * @returns the rows of all pieces, in memory of their own.
 */
export function joinColumns(like: AnyColumn, given: readonly Piece[]): AnyColumn {
  const pieces = given.map(({ column, rows }) => ({
    rows,
    column: column && firstRows(column, rows),
  }))
  const { name, kind, time, isBinary, items, fields } = like as Parts
  const isWhole = pieces.every(({ column }) => column && column.validity === undefined)
  const joined = (
    child: AnyColumn,
    of: (parts: Parts) => AnyColumn | undefined,
    rows: readonly number[],
  ) =>
    joinColumns(
      child,
      pieces.map(({ column }, i) => ({ column: column && of(column), rows: rows[i] })),
    )
  return {
    name,
    ...(!isWhole && { validity: joinBits(pieces, (column) => column) }),
    ...(kind && { kind, data: joinData(kind, pieces) }),
    ...(time && { time }),
    ...(isBinary && { isBinary }),
    ...((items || kind === 'str') && { offsets: joinOffsets(pieces) }),
    ...(items && { items: joined(items, (parts) => parts.items, pieces.map(itemsIn)) }),
    ...(fields && {
      fields: fields.map((field, i) =>
        joined(
          field,
          (parts) => parts.fields?.[i],
          given.map(({ rows }) => rows),
        ),
      ),
    }),
  } as AnyColumn
}

function firstRows(column: AnyColumn, rows: number): Parts {
  const isText = 'kind' in column && column.kind === 'str'
  return sliceColumn(isText ? contiguousText(column, rows) : column, 0, rows)
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
  const flags = pieces.flatMap(({ column, rows }) =>
    Array.from({ length: rows }, (_, row) => column !== undefined && isValid(of(column), row)),
  )
  return packBits(flags)
}

const itemsIn = ({ column, rows }: Rows) => column?.offsets?.[rows] ?? 0

function joinOffsets(pieces: readonly Rows[]): Int32Array {
  const offsets = new Int32Array(pieces.reduce((sum, { rows }) => sum + rows, 1))
  let row = 0
  for (const { column, rows } of pieces) {
    const end = offsets[row]
    for (let i = 1; i <= rows; i++) offsets[row + i] = end + (column?.offsets?.[i] ?? 0)
    row += rows
  }
  return offsets
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
