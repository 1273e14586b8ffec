/**
 * Writes frames as CSV, to the letter as Polars does but for blank lines, which readers skip: blank texts are quoted,
 * and so is a null of a frame of one column. RFC 4180 with newlines; lists and objects are JSON text, bytes base64,
 * durations ISO 8601. @module
 */
import { type AnyColumn, type Column, cellsOf, columnOf, textAt, zoneOf } from '../columns.ts'
import { frameCodec } from '../json/native-codec.ts'
import { requireTable } from '../message.ts'
import type { Polars } from '../polars/polars.ts'
import type { DataFrame } from '../polars/polars-package.ts'
import { unnestColumns } from '../polars/unnest.ts'
import { exactTimes } from '../times.ts'

/**
 * Writes a frame as CSV.
 *
 * @throws BadOutput for a column that cannot be text.
 */
export function encodeFrameCsv(polars: Polars, frame: DataFrame, codec = frameCodec): Uint8Array {
  const { rows, columns } =
    polars.flatColumns(frame) ?? requireTable(polars.toVectors(frame, true), 'PandasDataFrame')
  return codec.writeCsv({
    rows,
    columns: columns.map((column, i) =>
      zoneOf(column) ? zonedColumn(polars, frame, i, column) : plainColumn(column, rows),
    ),
  })
}

/** Instants in the time of their zone, which Polars knows. */
function zonedColumn(
  polars: Polars,
  frame: DataFrame,
  place: number,
  { name, validity }: AnyColumn,
): Column {
  const lines = polars
    .writeCsv(polars.rename(polars.pick(frame, [place]), ['c']))
    .toString()
    .split('\n')
  return { ...columnOf(name, 'str', lines.slice(1, -1)), validity }
}

function plainColumn(column: AnyColumn, rows: number): Column {
  const [flat] = unnestColumns({ rows, columns: [column] }, exactTimes).columns
  if (!('kind' in column) || column.time?.type !== 'time') return flat
  const texts = cellsOf(flat, rows, (row) => {
    const text = textAt(flat, row)
    return `${text.slice(0, 8)}.${text.slice(9).padEnd(9, '0')}`
  })
  return columnOf(flat.name, 'str', texts)
}
