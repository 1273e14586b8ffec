/** What a Polars frame holds, as columns. @module */
import { type ColumnKind, isWideInteger } from '../../../core/dtype.ts'
import { decodeArrow, decodeFlatArrow, holdBytesOrHalves } from '../arrow/arrow.ts'
import { type AnyColumn, type Column, type ColumnTable, columnOf } from '../columns.ts'
import { type FrameType, kindOfType } from '../frame-dtype.ts'
import type { FieldType } from '../json/table-schema.ts'
import type { TimeForm } from '../times.ts'
import { tableBehind } from './lazy-frame.ts'
import type { DataFrame, pl } from './polars-package.ts'
import { unnestColumns } from './unnest.ts'

/** Names a column that cannot be represented as columns are. */
export interface ColumnFailure {
  readonly failure: 'type'
  readonly column: string
}

/** Returns the column names, even if a column is called `columns`. */
export function namesOf(frame: DataFrame): string[] {
  const table = tableBehind(frame)
  if (table !== undefined) return table.columns.map(({ name }) => name)
  const names: unknown = frame.columns
  return Array.isArray(names) ? names : (Reflect.ownKeys(frame) as string[])
}

/**
 * Returns a member of a frame. A frame is a Proxy: with a column called `width`, `frame.width` is a Series. The columns
 * of such a frame are renamed during the look-up.
 */
export function member<K extends keyof DataFrame>(frame: DataFrame, name: K): DataFrame[K] {
  const found: unknown = frame[name]
  if (typeof found !== 'object' || Array.isArray(found)) return found as DataFrame[K]
  const names = namesOf(frame)
  frame.columns = names.map((_, i) => `\0${i}`)
  try {
    return frame[name]
  } finally {
    frame.columns = names
  }
}

/** Writes a frame as an Arrow file, in one chunk if its own chunks cannot be written. */
export function arrowOf<T>(frame: DataFrame, write: (frame: DataFrame) => T): T {
  try {
    return write(frame)
  } catch {
    // Each chunk of a category column has its own dictionary; an Arrow file can hold only one per column.
    return write(member(frame, 'rechunk')())
  }
}

/** Writes a frame as an Arrow file. */
export function ipcOf(frame: DataFrame): Buffer {
  return arrowOf(frame, (whole) => member(whole, 'writeIPC')())
}

const maxSmallCells = 64

const kindOfVariant = (variant: string): ColumnKind | undefined =>
  kindOfType((variant === 'String' ? 'Utf8' : variant) as FrameType)

/** Stands for the types of bytes and float16, at whose names nodejs-polars panics. */
const unnamed = 'unnamed'

/** Returns the names of the column types. */
export function variantsOf(frame: DataFrame): string[] {
  const areUnnamed = holdBytesOrHalves(ipcOf(member(frame, 'slice')(0, 0)))
  if (!areUnnamed.includes(true)) return member(frame, 'dtypes').map(({ variant }) => variant)
  return namesOf(frame).map((name, i) => (areUnnamed[i] ? unnamed : member(frame, 'getColumn')(name).dtype.variant))
}

/** Returns the columns of a small frame; undefined for others, for nulls alone, and for integers beyond ±2^53. */
function smallColumns(frame: DataFrame): ColumnTable | undefined {
  const names = namesOf(frame)
  const rows = member(frame, 'height')
  if (rows === 0 || rows * names.length > maxSmallCells) return undefined
  let values: (number | bigint | boolean | string | null)[][]
  let kinds: (ColumnKind | undefined)[]
  try {
    values = member(frame, 'rows')()
    // Asked first for values, which refuses bytes without a panic, unless all are null.
    if (names.some((_, i) => values.every((row) => row[i] === null))) return undefined
    kinds = member(frame, 'dtypes').map(({ variant }) => kindOfVariant(variant))
  } catch {
    return undefined
  }
  if (kinds.includes(undefined)) return undefined
  const columns: Column[] = []
  for (const [i, name] of names.entries()) {
    const kind = kinds[i] as ColumnKind
    const column = values.map((row) => row[i])
    if (isWideInteger(kind) && !column.every((value) => value === null || Number.isSafeInteger(value))) return undefined
    columns.push(columnOf(name, kind, column))
  }
  return { rows, columns }
}

const nestedVariants: ReadonlySet<string> = new Set(['List', 'Array', 'FixedSizeList', 'Struct', unnamed])

/** See `Polars`. */
export function toColumns(polars: typeof pl, frame: DataFrame, times: TimeForm): ColumnTable | ColumnFailure {
  const own = tableBehind(frame)
  if (own !== undefined) return unnestColumns(own, times)
  const small = smallColumns(frame)
  if (small !== undefined) return small
  const table = toVectors(polars, frame)
  return 'failure' in table ? table : unnestColumns(table, times)
}

/** See `Polars`. */
export function toVectors(polars: typeof pl, frame: DataFrame): ColumnTable<AnyColumn> | ColumnFailure {
  const own = tableBehind(frame)
  if (own !== undefined) return own
  const direct = decodeArrow(ipcOf(frame))
  if (direct !== undefined) return direct
  const plain = member(frame, 'clone')()
  const variants = variantsOf(frame)
  const names = namesOf(frame)
  for (const [i, name] of names.entries()) {
    const type = plainTypes.get(variants[i])
    if (type === undefined) continue
    member(plain, 'replaceAtIdx')(i, member(frame, 'getColumn')(name).cast(polars[type]))
  }
  const whole = decodeArrow(member(member(plain, 'rechunk')(), 'writeIPC')())
  if (whole !== undefined) return whole
  const other = names.find((_, i) => variants[i] === 'Object' || nestedVariants.has(variants[i]))
  return { failure: 'type', column: other ?? '' }
}

/** See `Polars`. */
export function flatColumns(frame: DataFrame): ColumnTable | undefined {
  const own = tableBehind(frame)
  if (own !== undefined) return own.columns.every((column) => 'kind' in column) ? (own as ColumnTable) : undefined
  return decodeFlatArrow(ipcOf(frame)) ?? decodeFlatArrow(ipcOf(member(frame, 'rechunk')()))
}

const plainTypes: ReadonlyMap<string, 'Utf8' | 'Float64'> = new Map([
  ['Categorical', 'Utf8'],
  ['Enum', 'Utf8'],
  ['Decimal', 'Float64'],
] as const)

/** See `Polars`. */
export function fieldTypes(polars: typeof pl, frame: DataFrame): readonly FieldType[] {
  const table = toVectors(polars, member(frame, 'slice')(0, 0))
  const variants = variantsOf(frame)
  const names = namesOf(frame)
  return names.map((name, i) => {
    if (variants[i] === 'Categorical' || variants[i] === 'Enum') {
      const texts = member(frame, 'getColumn')(name).dropNulls().unique().cast(polars.Utf8)
      return { categories: (texts.toArray() as string[]).sort() }
    }
    const column = 'failure' in table ? undefined : table.columns[i]
    return column !== undefined && 'time' in column && column.time !== undefined ? { time: column.time } : {}
  })
}
