/** Columns to JSON text, for use without the native add-on. @module */
import { floatText } from '../../../core/text/number-text.ts'
import { bytesAt, type Column, type ColumnTable, columnNumbers, isValid } from '../columns.ts'
import type { PlanStep, RowsStep } from './frame-plan.ts'

/** Text that grows; its beginning is kept as bytes, since a string has at most half a gigabyte. */
export class TextPieces {
  readonly #pieces: Buffer[] = []
  #text = ''

  add(text: string): void {
    this.#text += text
    if (this.#text.length < pieceCharacters) return
    this.#pieces.push(Buffer.from(this.#text))
    this.#text = ''
  }

  bytes(): Uint8Array {
    const last = Buffer.from(this.#text)
    return this.#pieces.length === 0 ? last : Buffer.concat([...this.#pieces, last])
  }
}

const pieceCharacters = 2 ** 22

/** Returns the text of the element of a row. */
export type CellText = (row: number) => string

/** Writes the steps of a plan; rows without `labels` are numbered from 0. */
export function writeFrame({ rows, columns }: ColumnTable, steps: readonly PlanStep[], labels?: Column): Uint8Array {
  const out = new TextPieces()
  const cells = columns.map((column) => {
    const text = cellOf(column, rows)
    return column.validity === undefined ? text : (row: number) => (isValid(column, row) ? text(row) : 'null')
  })
  const keys = columns.map(({ name }) => `${JSON.stringify(name)}:`)
  const label = labels === undefined ? String : cellOf(labels, rows)
  const quote = labels?.kind === 'str' ? '' : '"'
  const rowText = (row: number, step: RowsStep) => {
    const { before, after, first, count, close } = step
    let text = before
    if (step.label === 1) text += label(row)
    else if (step.label === 2) text += `${quote}${label(row)}${quote}`
    text += after
    for (let i = first; i < first + count; i++) {
      if (i > first) text += ','
      if (step.keys) text += keys[i]
      text += cells[i](row)
    }
    return text + close
  }
  for (const step of steps) {
    if (typeof step === 'string') out.add(step)
    else for (let row = 0; row < rows; row++) out.add(row === 0 ? rowText(row, step) : `,${rowText(row, step)}`)
  }
  return out.bytes()
}

function cellOf(column: Column, rows: number): CellText {
  const { kind, data } = column
  if (kind === 'str') {
    const text = (row: number) => Buffer.from(bytesAt(column, row)).toString()
    return column.isJson ? text : (row) => JSON.stringify(text(row))
  }
  if (kind === 'bool') return (row) => (data[row >> 3] & (1 << (row & 7)) ? 'true' : 'false')
  const numbers = columnNumbers(column, rows)
  if (kind !== 'float32' && kind !== 'float64') return (row) => String(numbers[row])
  const width = kind === 'float32' ? 4 : 8
  return (row) => {
    const value = numbers[row] as number
    // null, as pandas writes: JSON has no words for NaN and the infinities.
    return Number.isFinite(value) ? floatText(value, width) : 'null'
  }
}
