/** Columns as Polars holds them → columns that JSON can hold, and their texts. @module */
import {
  type AnyColumn,
  bytesAt,
  type Column,
  type ColumnTable,
  cellsOf,
  columnOf,
  isValid,
  mapFlat,
} from '../columns.ts'
import { frameCodec } from '../json/native-codec.ts'
import { printTimes, type TimeForm } from '../times.ts'

/** @returns a table whose times are as `times` says, and whose bytes are base64, in nested columns, too. */
export function printableColumns<C extends AnyColumn>(
  { rows, columns }: ColumnTable<C>,
  times: TimeForm,
): ColumnTable<C> {
  const print = (flat: Column, count: number) =>
    flat.isBinary ? base64Column(flat, count) : printTimes(flat, count, times)
  return { rows, columns: columns.map((column) => mapFlat(column, rows, print) as C) }
}

function base64Column(column: Column, rows: number): Column {
  const texts = cellsOf(column, rows, (row) => Buffer.from(bytesAt(column, row)).toString('base64'))
  return columnOf(column.name, 'str', texts)
}

/** @returns a table of JSON text for lists and objects, for formats of flat columns. */
export function unnestColumns(table: ColumnTable<AnyColumn>, times: TimeForm): ColumnTable {
  const { rows, columns } = printableColumns(table, times)
  return { rows, columns: columns.map((column) => jsonTexts(column, rows)) }
}

function jsonTexts(column: AnyColumn, rows: number): Column {
  if ('kind' in column) return column
  const { name, validity } = column
  const lines = frameCodec.encodeFrame({ rows, columns: [column] }, { layout: 'lines' })
  const offsets = new Int32Array(rows + 1)
  const data = Buffer.allocUnsafeSlow(lines.length)
  for (let row = 0, at = 0, end = 0; row < rows; row++) {
    // No text of JSON has an end of line in it, and a comma follows.
    const next = lines.indexOf(0x0a, at)
    if (isValid(column, row)) {
      data.set(lines.subarray(at, next), end)
      end += next - at
    }
    at = next + 2
    offsets[row + 1] = end
  }
  const text = data.subarray(0, offsets[rows])
  return { name, kind: 'str', isJson: true, data: text, offsets, validity }
}
