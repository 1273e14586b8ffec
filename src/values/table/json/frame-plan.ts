/** The JSON layouts of a frame as steps, which the add-on and `write-frame.ts` carry out. @module */
import type { labelMode } from '../../../core/native/shared-numbers.ts'
import type { AnyColumn, Column, ColumnTable } from '../columns.ts'

/**
 * Layouts of pandas' `orient`.
 *
 * @see SPEC "Orient values and their JSON layouts".
 */
export const orients = ['records', 'columns', 'values', 'index', 'split', 'table'] as const

/** Name of a JSON layout. */
export type Orient = (typeof orients)[number]

/** The layout, labels and names to write with the values. */
export interface FrameText {
  /** Of one column, `series` writes a list, `series-index` an object by label, `lines` a line for each value. */
  readonly layout: Orient | 'series' | 'series-index' | 'series-split' | 'lines'
  /** Row labels (int64, float64 or str); undefined: 0, 1, 2, … */
  readonly labels?: Column
  readonly name?: string
  readonly schema?: string
  /** table: key of the labels in each row. */
  readonly labelKey?: string
}

/** A step of a plan: literal text, or all rows separated by commas. */
export type PlanStep = string | RowsStep

/** The text of each row: `before`, the label, `after`, the elements separated by commas, `close`. */
export interface RowsStep {
  readonly before: string
  /** How the label is written. */
  readonly label: keyof typeof labelMode
  readonly after: string
  readonly first: number
  readonly count: number
  readonly keys: boolean
  readonly close: string
}

/** The elements of the first column, without labels and brackets. */
export const elements: RowsStep = {
  before: '',
  label: 'none',
  after: '',
  first: 0,
  count: 1,
  keys: false,
  close: '',
}
const labels: RowsStep = { ...elements, label: 'value', count: 0 }
const records: RowsStep = { ...elements, before: '{', keys: true, close: '}' }
const lists: RowsStep = { ...elements, before: '[', close: ']' }

const underLabel = { label: 'text', after: ':' } as const

/**
 * See {@link FrameText}.
 *
 * @returns the steps that write a table in a layout.
 */
export function planFrame(
  { columns }: ColumnTable<AnyColumn>,
  text: FrameText,
): readonly PlanStep[] {
  const count = columns.length
  switch (text.layout) {
    case 'records':
      return ['[', { ...records, count }, ']']
    case 'values':
      return ['[', { ...lists, count }, ']']
    case 'index':
      return ['{', { ...records, ...underLabel, count, before: '', after: ':{' }, '}']
    case 'columns':
      if (columns.length === 0) return ['{}']
      return columns.flatMap(({ name }, first) => [
        `${first === 0 ? '{' : '},'}${JSON.stringify(name)}:{`,
        { ...elements, ...underLabel, first },
        ...(first === columns.length - 1 ? ['}}'] : []),
      ])
    case 'split': {
      const names = columns.map(({ name }) => JSON.stringify(name)).join()
      return [`{"columns":[${names}],"index":[`, labels, '],"data":[', { ...lists, count }, ']}']
    }
    case 'table': {
      const start = `{"schema":${text.schema ?? '{}'},"data":[`
      if (text.labelKey === undefined) return [start, { ...records, count }, ']}']
      const before = `{${JSON.stringify(text.labelKey)}:`
      const after = columns.length === 0 ? '' : ','
      return [start, { ...records, count, before, label: 'value', after }, ']}']
    }
    case 'series':
      return ['[', elements, ']']
    case 'lines':
      return [{ ...elements, close: '\n' }]
    case 'series-index':
      return ['{', { ...elements, ...underLabel }, '}']
    case 'series-split': {
      const name = JSON.stringify(text.name ?? null)
      return [`{"name":${name},"index":[`, labels, '],"data":[', elements, ']}']
    }
  }
}
