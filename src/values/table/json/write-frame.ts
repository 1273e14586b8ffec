/** Columns to JSON text, for use without the native add-on. @module */
import { isFloat, itemSize } from '../../../core/dtype.ts'
import { floatText } from '../../../core/text/number-text.ts'
import { type Column, type ColumnTable, isValid, valueReader } from '../columns.ts'
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

/** How a form of text writes elements. */
export interface CellForm {
  readonly missing: string
  text(value: string, column: Column): string
  float(value: number, bytes: number): string
}

/** Returns a function that returns the text of the element of a row. */
export function cellTexts(column: Column, form: CellForm): (row: number) => string {
  const read = valueReader(column)
  const bytes = isFloat(column.kind) ? itemSize(column.kind) : 0
  return (row) => {
    if (!isValid(column, row)) return form.missing
    const value = read(row)
    if (typeof value === 'string') return form.text(value, column)
    return bytes > 0 ? form.float(value as number, bytes) : String(value)
  }
}

const json: CellForm = {
  missing: 'null',
  text: (value, { isJson }) => (isJson ? value : JSON.stringify(value)),
  // null, as pandas writes: JSON has no words for NaN and the infinities.
  float: (value, bytes) => (Number.isFinite(value) ? floatText(value, bytes) : 'null'),
}

/** Writes the steps of a plan; rows without `labels` are numbered from 0. */
export function writeFrame({ rows, columns }: ColumnTable, steps: readonly PlanStep[], labels?: Column): Uint8Array {
  const out = new TextPieces()
  const cells = columns.map((column) => cellTexts(column, json))
  const keys = columns.map(({ name }) => `${JSON.stringify(name)}:`)
  const label = labels === undefined ? String : cellTexts(labels, json)
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
