/** Rows of columns picked by their places, and columns one below another. @module */
import { itemSize } from '../../core/dtype.ts'
import { bitsOf, isBit } from './bits.ts'
import { type AnyColumn, type Column, contiguousText, isValid, sliceColumn } from './columns.ts'

/** Takes bytes before they are made; throws if they are too many. */
export type TakeBytes = (bytes: number) => void

/**
 * Its texts have offsets.
 *
 * @returns the rows of a column at places, where -1 is a null.
 */
export function takeRows(column: AnyColumn, places: Int32Array, take: TakeBytes): AnyColumn {
  const rows = places.length
  const isThere = (row: number) => places[row] >= 0 && isValid(column, places[row])
  take(rows >> 3)
  const rest = { ...column, validity: bitsOf(rows, isThere) }
  if ('fields' in column)
    return { ...rest, fields: column.fields.map((field) => takeRows(field, places, take)) }
  if (column.offsets === undefined)
    return { ...rest, data: takeData(column as Column, places, take) } as Column
  const offsets = new Int32Array(rows + 1)
  let total = 0
  for (let row = 0; row < rows; row++) {
    if (isThere(row)) total += column.offsets[places[row] + 1] - column.offsets[places[row]]
    // Beyond 32 bits, the sum below is refused before the offsets are used.
    offsets[row + 1] = total
  }
  if ('items' in column) {
    take(total * 4 + rows * 4)
    const inner = new Int32Array(total)
    for (let row = 0; row < rows; row++) {
      const from = column.offsets[places[row]]
      for (let at = offsets[row]; at < offsets[row + 1]; at++) inner[at] = from + at - offsets[row]
    }
    return { ...rest, offsets, items: takeRows(column.items, inner, take) }
  }
  take(total + rows * 4)
  const data = new Uint8Array(total)
  for (let row = 0; row < rows; row++) {
    const from = column.offsets[places[row]]
    const size = offsets[row + 1] - offsets[row]
    for (let i = 0; i < size; i++) data[offsets[row] + i] = column.data[from + i]
  }
  return { ...rest, offsets, data }
}

function takeData({ kind, data }: Column, places: Int32Array, take: TakeBytes): Uint8Array {
  if (kind === 'bool')
    return bitsOf(places.length, (row) => places[row] >= 0 && isBit(data, places[row]))
  const size = itemSize(kind)
  take(places.length * size)
  const taken = new Uint8Array(places.length * size)
  for (let row = 0; row < places.length; row++) {
    const from = places[row] * size
    if (from >= 0) for (let i = 0; i < size; i++) taken[row * size + i] = data[from + i]
  }
  return taken
}

/** A column and its rows. */
export interface Piece<C extends AnyColumn = AnyColumn> {
  readonly column: C
  readonly rows: number
}

/**
 * @returns columns of one type, one below another: a single one itself, more in memory of their own, whose texts have
 * offsets.
 */
export function joinColumns(pieces: readonly Piece[]): AnyColumn {
  const [{ column: first }] = pieces
  if (pieces.length === 1) return first
  if ('heaps' in first) {
    const texts = pieces as readonly Piece<Column>[]
    return joinColumns(
      texts.map(({ column, rows }) => ({ column: contiguousText(column, rows), rows })),
    )
  }
  const rows = pieces.reduce((sum, piece) => sum + piece.rows, 0)
  const hasNulls = pieces.some((piece) => piece.rows > 0 && piece.column.validity !== undefined)
  const valid = hasNulls ? joinBits(pieces, ({ validity }) => validity) : undefined
  const { validity: _, ...plain } = first
  const rest = { ...plain, validity: valid }
  if ('fields' in first) {
    const structs = pieces as readonly Piece<typeof first>[]
    const fields = first.fields.map((_, i) =>
      joinColumns(structs.map((struct) => ({ ...struct, column: struct.column.fields[i] }))),
    )
    return { ...rest, fields }
  }
  if (first.offsets === undefined) {
    const flat = pieces as readonly Piece<Column>[]
    const { kind } = first as Column
    if (kind === 'bool') return { ...rest, data: joinBits(flat, ({ data }) => data) } as Column
    const size = itemSize(kind)
    const parts = flat.map(({ column, rows: own }) => column.data.subarray(0, own * size))
    return { ...rest, data: joinBytes(parts) } as Column
  }
  const offsets = new Int32Array(rows + 1)
  let row = 0
  for (const { column, rows: own } of pieces) {
    const { offsets: from } = column as Column & { readonly offsets: Int32Array }
    for (let i = 0; i < own; i++, row++) offsets[row + 1] = offsets[row] + from[i + 1] - from[i]
  }
  if ('items' in first) {
    const lists = pieces.map(({ column: list, rows: own }) => {
      const { items, offsets: from } = list as typeof first
      // Of those that begin at the first one, the number of rows says which they are.
      const column = from[0] === 0 ? items : sliceColumn(items, from[0], from[own])
      return { column, rows: from[own] - from[0] }
    })
    return { ...rest, offsets, items: joinColumns(lists) }
  }
  const texts = pieces.map(({ column, rows: own }) => {
    const { data, offsets: from } = column as Column & { readonly offsets: Int32Array }
    return data.subarray(from[0], from[own])
  })
  return { ...rest, offsets, data: joinBytes(texts) }
}

function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  // Not Buffer.concat, whose shared memory cannot go to another thread.
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}

/** Joins bits; a piece without bits has ones. */
function joinBits<C extends AnyColumn>(
  pieces: readonly Piece<C>[],
  bitsIn: (column: C) => Uint8Array | undefined,
): Uint8Array {
  const rows = pieces.reduce((sum, piece) => sum + piece.rows, 0)
  const joined = new Uint8Array((rows + 7) >> 3)
  let at = 0
  for (const { column, rows: own } of pieces) {
    const bits = bitsIn(column)
    for (let i = 0; i < own; i++, at++)
      if (bits === undefined || isBit(bits, i)) joined[at >> 3] |= 1 << (at & 7)
  }
  return joined
}
