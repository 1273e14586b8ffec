/** Columns to JSON and CSV text, for use without the native add-on. @module */
import { floatBytes } from '../../../core/dtype.ts'
import { floatText } from '../../../core/text/number-text.ts'
import { TextWriter } from '../../../core/text/text-writer.ts'
import {
  type AnyColumn,
  type Column,
  type ColumnTable,
  isValid,
  type ListColumn,
  type StructColumn,
  valueReader,
} from '../columns.ts'
import type { PlanStep, RowsStep } from './frame-plan.ts'

interface CellForm {
  readonly missing: string
  text(value: string, column: Column): string
  float(value: number, bytes: number): string
}

function cellTexts(column: AnyColumn, form: CellForm): (row: number) => string {
  const text = 'kind' in column ? flatTexts(column, form) : nestedTexts(column)
  return (row) => (isValid(column, row) ? text(row) : form.missing)
}

function flatTexts(column: Column, form: CellForm): (row: number) => string {
  const read = valueReader(column)
  const bytes = floatBytes(column.kind)
  return (row) => {
    const value = read(row)
    if (typeof value === 'string') return form.text(value, column)
    if (bytes > 0) return form.float(value as number, bytes)
    return String(value)
  }
}

function nestedTexts(column: ListColumn | StructColumn): (row: number) => string {
  if ('items' in column) {
    const { offsets } = column
    const item = cellTexts(column.items, json)
    return (row) => {
      const texts: string[] = []
      for (let i = offsets[row]; i < offsets[row + 1]; i++) texts.push(item(i))
      return `[${texts.join()}]`
    }
  }
  const fields = column.fields.map((field) => {
    const text = cellTexts(field, json)
    return (row: number) => `${JSON.stringify(field.name)}:${text(row)}`
  })
  return (row) => `{${fields.map((field) => field(row)).join()}}`
}

const json: CellForm = {
  missing: 'null',
  text: (value, { isJson }) => (isJson ? value : JSON.stringify(value)),
  // null, as pandas writes: JSON has no words for NaN and the infinities.
  float: (value, bytes) => (Number.isFinite(value) ? floatText(value, bytes) : 'null'),
}

/** Writes the steps of a plan; rows without `labels` are numbered from 0. */
export function writeFrame(
  { rows, columns }: ColumnTable<AnyColumn>,
  steps: readonly PlanStep[],
  labels?: Column,
): Uint8Array {
  const out = new TextWriter()
  const cells = columns.map((column) => cellTexts(column, json))
  const keys = columns.map(({ name }) => `${JSON.stringify(name)}:`)
  const label = labels === undefined ? String : cellTexts(labels, json)
  const quote = labels?.kind === 'str' ? '' : '"'
  const rowText = (row: number, step: RowsStep) => {
    const { before, after, first, count, close } = step
    let text = before
    if (step.label === 'value') text += label(row)
    else if (step.label === 'text') text += `${quote}${label(row)}${quote}`
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
    else
      for (let row = 0; row < rows; row++) {
        if (row > 0) out.add(',')
        out.add(rowText(row, step))
      }
  }
  return out.bytes()
}

/** @returns the first line of CSV. */
export function csvHeader({ columns }: ColumnTable): string {
  return `${columns.map(({ name }) => quoted(name)).join()}\n`
}

/** See `FrameCodec`. */
export function writeCsv(table: ColumnTable): Uint8Array {
  const { rows, columns } = table
  const out = new TextWriter()
  out.add(csvHeader(table))
  // Readers skip a blank line, and with it a row of one column.
  const form = columns.length === 1 ? { ...csv, missing: '""' } : csv
  const cells = columns.map((column) => cellTexts(column, form))
  for (let row = 0; row < rows; row++) out.add(`${cells.map((text) => text(row)).join()}\n`)
  return out.bytes()
}

/** Quotes a blank text also, since pandas skips blank lines. */
function quoted(text: string): string {
  if (/^[ \t]*$|[",\n\r]/.test(text)) return `"${text.replaceAll('"', '""')}"`
  return text
}

/** Of single and of double floats: sizes from which, and up to which, they are written without an exponent. */
const [singles, doubles] = [
  [1e-6, 1e13],
  [1e-5, 1e16],
]

function decimalOf(value: number, bytes: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value < 0 ? '-inf' : 'inf'
  const text = floatText(value, bytes)
  const size = Math.abs(Number(text))
  const [low, high] = bytes === 4 ? singles : doubles
  if (size === 0 || (size >= low && size < high)) return text
  return Number(text).toExponential()
}

const csv: CellForm = { missing: '', text: quoted, float: decimalOf }
