/**
 * Columns to CSV text, for use without the native add-on.
 * @module
 */
import { floatText } from '../../../core/text/number-text.ts'
import { bytesAt, type Column, type ColumnTable, columnNumbers, isValid } from '../columns.ts'
import { type CellText, TextPieces } from '../json/write-frame.ts'

/** Returns the first line of CSV. */
export function csvHeader({ columns }: ColumnTable): string {
  return `${columns.map(({ name }) => quoted(name)).join()}\n`
}

/** Writes columns of numbers, booleans and text; see CsvWriter. */
export function typescriptCsvWriter(table: ColumnTable): Uint8Array {
  const { rows, columns } = table
  const out = new TextPieces()
  out.add(csvHeader(table))
  const cells = columns.map((column) => {
    const text = cellOf(column, rows)
    return column.validity === undefined ? text : (row: number) => (isValid(column, row) ? text(row) : '')
  })
  for (let row = 0; row < rows; row++) {
    let line = ''
    for (let i = 0; i < cells.length; i++) line += i === 0 ? cells[i](row) : `,${cells[i](row)}`
    out.add(`${line}\n`)
  }
  return out.bytes()
}

function cellOf(column: Column, rows: number): CellText {
  const { kind, data } = column
  if (kind === 'str') return (row) => quoted(Buffer.from(bytesAt(column, row)).toString())
  if (kind === 'bool') return (row) => (data[row >> 3] & (1 << (row & 7)) ? 'true' : 'false')
  const numbers = columnNumbers(column, rows)
  if (kind === 'float32' || kind === 'float64') return (row) => decimalOf(numbers[row] as number, kind)
  return (row) => String(numbers[row])
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
