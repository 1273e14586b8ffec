/**
 * Writes columns as CSV, to the letter as Polars does: RFC 4180 with newlines; lists and objects are JSON text, bytes
 * base64, durations ISO 8601.
 * @module
 */
import { floatText } from '../../../core/text/number-text.ts'
import { type AnyColumn, bytesAt, type Column, columnNumbers, isValid } from '../columns.ts'
import { type CellText, TextPieces } from '../json/write-frame.ts'
import { requireTable } from '../message.ts'
import type { Polars } from '../polars/polars.ts'
import type { DataFrame } from '../polars/polars-package.ts'
import { unnestColumns } from '../polars/unnest.ts'
import { exactTimes } from '../times.ts'

/** Writes a frame as CSV. **Errors**: BadOutput for a column that cannot be text. */
export function encodeFrameCsv(polars: Polars, frame: DataFrame): Uint8Array {
  // The frame has others than flat columns: decimals keep their digits as text.
  const flat = polars.flatColumns(frame)
  const source = flat === undefined ? polars.decimalsAsText(frame) : frame
  const { rows, columns } = flat ?? requireTable(polars.toVectors(source), 'PandasDataFrame')
  const out = new TextPieces()
  out.add(`${columns.map(({ name }) => quoted(name)).join()}\n`)
  const cells = columns.map((column, i) => {
    const text = isZoned(column) ? zonedText(polars, source, i) : cellOf(column, rows)
    return column.validity === undefined ? text : (row: number) => (isValid(column, row) ? text(row) : '')
  })
  for (let row = 0; row < rows; row++) {
    let line = ''
    for (let i = 0; i < cells.length; i++) line += i === 0 ? cells[i](row) : `,${cells[i](row)}`
    out.add(`${line}\n`)
  }
  return out.bytes()
}

function isZoned(column: AnyColumn): boolean {
  return 'kind' in column && column.time?.type === 'datetime' && column.time.zone !== undefined
}

/** Instants in the time of their zone, which Polars knows. */
function zonedText(polars: Polars, frame: DataFrame, column: number): CellText {
  const lines = polars
    .writeCsv(polars.rename(polars.pick(frame, [column]), ['c']))
    .toString()
    .split('\n')
  return (row) => lines[row + 1]
}

function cellOf(column: AnyColumn, rows: number): CellText {
  const [flat] = unnestColumns({ rows, columns: [column] }, exactTimes).columns
  const { kind, data } = flat
  if ('kind' in column && column.time?.type === 'time') {
    const text = textOf(flat)
    return (row) => `${text(row).slice(0, 8)}.${text(row).slice(9).padEnd(9, '0')}`
  }
  if (kind === 'str') {
    const text = textOf(flat)
    return (row) => quoted(text(row))
  }
  if (kind === 'bool') return (row) => (data[row >> 3] & (1 << (row & 7)) ? 'true' : 'false')
  const numbers = columnNumbers(flat, rows)
  if (kind === 'float32' || kind === 'float64') return (row) => decimalOf(numbers[row] as number, kind)
  return (row) => String(numbers[row])
}

function textOf(column: Column): CellText {
  return (row) => Buffer.from(bytesAt(column, row)).toString()
}

function quoted(text: string): string {
  return text === '' || /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Exponents of ten from which, and up to which, floats are written without them. */
const plainRange = { float32: [1e-6, 1e13], float64: [1e-5, 1e16] } as const

function decimalOf(value: number, kind: 'float32' | 'float64'): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value < 0 ? '-inf' : 'inf'
  const text = floatText(value, kind === 'float32' ? 4 : 8)
  const size = Math.abs(Number(text))
  const [low, high] = plainRange[kind]
  return size === 0 || (size >= low && size < high) ? text : Number(text).toExponential()
}
