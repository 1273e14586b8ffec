/**
 * Columns to CSV text, for use without the native add-on.
 * @module
 */
import { floatText } from '../../../core/text/number-text.ts'
import type { ColumnTable } from '../columns.ts'
import { type CellForm, cellTexts, TextPieces } from '../json/write-frame.ts'

/** Returns the first line of CSV. */
export function csvHeader({ columns }: ColumnTable): string {
  return `${columns.map(({ name }) => quoted(name)).join()}\n`
}

/** See `FrameCodec`. */
export function writeCsv(table: ColumnTable): Uint8Array {
  const { rows, columns } = table
  const out = new TextPieces()
  out.add(csvHeader(table))
  const cells = columns.map((column) => cellTexts(column, csv))
  for (let row = 0; row < rows; row++) {
    let line = ''
    for (let i = 0; i < cells.length; i++) line += i === 0 ? cells[i](row) : `,${cells[i](row)}`
    out.add(`${line}\n`)
  }
  return out.bytes()
}

function quoted(text: string): string {
  return text === '' || /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Of single and of double floats: sizes from which, and up to which, they are written without an exponent. */
const [singles, doubles] = [
  [1e-6, 1e13],
  [1e-5, 1e16],
]

function decimalOf(value: number, bytes: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value < 0 ? '-inf' : 'inf'
  const text = floatText(value, bytes)
  const size = Math.abs(Number(text))
  const [low, high] = bytes === 4 ? singles : doubles
  return size === 0 || (size >= low && size < high) ? text : Number(text).toExponential()
}

const csv: CellForm = { missing: '', text: quoted, float: decimalOf }
