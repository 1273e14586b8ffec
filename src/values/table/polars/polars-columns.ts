/** What a Polars frame holds, as columns. @module */
import { decodeArrow, decodeFlatArrow, holdBytesOrHalves } from '../arrow/arrow-reader.ts'
import type { AnyColumn, ColumnTable } from '../columns.ts'
import type { FieldType } from '../json/table-schema.ts'
import { tableBehind } from './lazy.ts'
import type { DataFrame, pl, Series } from './polars-package.ts'

/** Names a column that cannot be represented as columns are. */
export interface ColumnFailure {
  readonly failure: 'type'
  readonly column: string
}

/** @returns the column names, even if a column is called `columns`. */
export function namesOf(frame: DataFrame): string[] {
  return Reflect.ownKeys(frame) as string[]
}

/** @returns a column, even if one is called `getColumn`. */
export function columnAt(frame: DataFrame, at: number): Series {
  return Reflect.get(frame, namesOf(frame)[at])
}

/** Calls `work` with columns called `c0`, `c1`, …: `*` is a pattern, and a column `select` hides the method. */
export function underPlainNames<T>(frame: DataFrame, letter: string, work: () => T): T {
  const names = namesOf(frame)
  frame.columns = names.map((_, i) => `${letter}${i}`)
  try {
    return work()
  } finally {
    frame.columns = names
  }
}

/**
 * @returns a member of a frame, a Proxy: with a column called `width`, `frame.width` would be a
 * Series.
 */
export function member<K extends keyof DataFrame>(frame: DataFrame, name: K): DataFrame[K] {
  const found: unknown = frame[name]
  if (typeof found !== 'object' || Array.isArray(found)) return found as DataFrame[K]
  return underPlainNames(frame, '\0', () => frame[name])
}

/** Writes a frame as an Arrow file or stream, in one chunk if its own chunks cannot be written. */
export function arrowOf(
  frame: DataFrame,
  write: 'writeIPC' | 'writeIPCStream' = 'writeIPC',
): Buffer {
  try {
    return member(frame, write)()
  } catch {
    // Each chunk of a category column has its own dictionary; an Arrow file can hold only one per column.
    return member(member(frame, 'rechunk')(), write)()
  }
}

/** Stands for the types of bytes and float16, at whose names nodejs-polars panics. */
const unnamed = 'unnamed'

/** @returns the names of the column types. */
export function variantsOf(frame: DataFrame): string[] {
  const areUnnamed = holdBytesOrHalves(arrowOf(member(frame, 'slice')(0, 0)))
  if (!areUnnamed.includes(true)) return member(frame, 'dtypes').map(({ variant }) => variant)
  return areUnnamed.map((isUnnamed, i) => (isUnnamed ? unnamed : columnAt(frame, i).dtype.variant))
}

const nestedVariants: ReadonlySet<string> = new Set([
  'List',
  'Array',
  'FixedSizeList',
  'Struct',
  unnamed,
])

/** See `Polars`. */
export function toVectors(
  frame: DataFrame,
  keepsDigits = false,
): ColumnTable<AnyColumn> | ColumnFailure {
  const own = tableBehind(frame)
  if (own !== undefined) return own
  const table = decodeArrow(arrowOf(frame), keepsDigits)
  if (table !== undefined) return table
  const variants = variantsOf(frame)
  const other = namesOf(frame).find(
    (_, i) => variants[i] === 'Object' || nestedVariants.has(variants[i]),
  )
  return { failure: 'type', column: other ?? '' }
}

/** See `Polars`. */
export function flatColumns(frame: DataFrame): ColumnTable | undefined {
  const own = tableBehind(frame)
  if (own !== undefined)
    return own.columns.every((column) => 'kind' in column) ? (own as ColumnTable) : undefined
  return decodeFlatArrow(arrowOf(frame))
}

/** See `Polars`. */
export function fieldTypes(polars: typeof pl, frame: DataFrame): readonly FieldType[] {
  const table = toVectors(member(frame, 'slice')(0, 0))
  const variants = variantsOf(frame)
  return variants.map((variant, i) => {
    if (variant === 'Categorical' || variant === 'Enum') {
      const texts = columnAt(frame, i).dropNulls().unique().cast(polars.Utf8)
      return { categories: (texts.toArray() as string[]).sort() }
    }
    const column = 'failure' in table ? undefined : table.columns[i]
    if (column !== undefined && 'time' in column && column.time !== undefined)
      return { time: column.time }
    return {}
  })
}
