/**
 * The index of a frame that pandas wrote as Parquet, as row labels.
 *
 * @see pandas' developer guide.
 * @module
 */
import { castToKind } from '../cast-to-kind.ts'
import {
  type AnyColumn,
  type Column,
  type ColumnTable,
  columnOf,
  contiguousText,
  firstNull,
} from '../columns.ts'
import { isLabelKind } from '../polars/labels.ts'
import { findKeyValue, footerBytes } from './parquet-metadata.ts'

/** A level of an index: the name of its column, or numbers at equal steps, which have no name. */
type Level = string | { readonly name: string; readonly start: number; readonly step: number }

/** The columns of a file, and the labels of its rows; undefined: 0, 1, 2, … */
export interface IndexedFile {
  readonly table: ColumnTable<AnyColumn>
  readonly labels?: Column | undefined
}

const indexKey = '"index_columns":'
const levelList = /^\s*\[(?:[^"[\]]|"(?:[^"\\]|\\.)*")*\]/
/** Longest list of levels that is read. **Units**: bytes. */
const maxListBytes = 2 ** 12

/**
 * @returns the levels of the index that pandas states in a file's footer; an empty list for other
 * files.
 */
export function indexLevels(file: Uint8Array): readonly Level[] {
  const footer = footerBytes(file)
  const found = findKeyValue(footer, 'pandas')
  if (found === undefined) return []
  const value = footer.subarray(found.start, found.start + found.size)
  // The first one: pandas writes it before all that may hold such a text.
  const at = value.indexOf(indexKey)
  if (at === -1) return []
  const start = at + indexKey.length
  const [text] = levelList.exec(value.toString('utf8', start, start + maxListBytes)) ?? []
  let list: unknown
  try {
    list = JSON.parse(text ?? '[]')
  } catch {
    return []
  }
  return (list as unknown[]).flatMap((level) => levelOf(level) ?? [])
}

function levelOf(level: unknown): Level | undefined {
  if (typeof level === 'string') return level
  const { kind, name, start, step } = (level ?? {}) as Readonly<Record<string, unknown>>
  if (kind !== 'range' || !Number.isSafeInteger(start) || !Number.isSafeInteger(step))
    return undefined
  // pandas' default index, which needs no list of labels.
  if (start === 0 && step === 1 && typeof name !== 'string') return undefined
  return {
    name: typeof name === 'string' ? name : '',
    start: start as number,
    step: step as number,
  }
}

/** Takes the index out of the columns of a file. Labels are texts or numbers of one level; others are left out. */
export function withoutIndex(levels: readonly Level[], table: ColumnTable<AnyColumn>): IndexedFile {
  const [level] = levels
  const { rows, columns } = table
  if (level === undefined) return { table }
  if (typeof level !== 'string') return { table, labels: rangeLabels(level, rows) }
  const own = columns.filter(({ name }) => levels.includes(name))
  const others = columns.filter(({ name }) => !levels.includes(name))
  if (own.length === 0 || others.length === 0) return { table }
  const labels = own.length === 1 ? labelsOf(own[0], rows) : undefined
  return { table: { rows, columns: others }, labels }
}

function rangeLabels({ name, start, step }: Exclude<Level, string>, rows: number): Column {
  return columnOf(
    name,
    'int64',
    Array.from({ length: rows }, (_, row) => start + row * step),
  )
}

function labelsOf(column: AnyColumn, rows: number): Column | undefined {
  if (!('kind' in column) || column.time !== undefined || column.isBinary) return undefined
  if (column.kind === 'bool' || firstNull(column, rows) !== -1) return undefined
  const kind = column.kind === 'float32' ? 'float64' : 'int64'
  const labels = isLabelKind(column.kind) ? column : castToKind(column, rows, kind)
  if (labels === undefined || 'failure' in labels) return undefined
  const { validity: _, polarsType: __, ...whole } = contiguousText(labels, rows)
  return { ...whole, name: /^__index_level_\d+__$/.test(column.name) ? '' : column.name }
}
