/**
 * Options that the frame and the series descriptor share, checked once.
 * @module
 */

import { BadInput, expected, InvalidArgument } from '../errors.ts'
import { castColumn } from './column-cast.ts'
import { type Column, type ColumnTable, isValid } from './columns.ts'
import { type Orient, orients } from './frame-codec.ts'
import { type FrameType, kindOfType, parseFrameType, refusesNulls } from './frame-dtype.ts'
import type { Polars } from './polars.ts'
import type { DataFrame } from './polars-package.ts'

/** A layout's name, checked. **Errors**: InvalidArgument. */
export function parseOrient(orient: unknown): Orient {
  const known = orients.find((name) => name === orient)
  if (known !== undefined) return known
  throw new InvalidArgument(expected(`one of ${orients.join(', ')}`, 'orient', orient))
}

/** Options that enforce something need it. **Errors**: InvalidArgument. */
export function checkEnforced(
  name: string,
  options: {
    readonly dtype?: unknown
    readonly enforceDtype?: boolean
    readonly shape?: unknown
    readonly enforceShape?: boolean
  },
): void {
  for (const option of ['enforceDtype', 'enforceShape'] as const) {
    const value = options[option]
    if (value !== undefined && typeof value !== 'boolean') {
      throw new InvalidArgument(expected('true or false', option, value))
    }
  }
  if (options.enforceDtype && options.dtype === undefined)
    throw new InvalidArgument(`enforceDtype for ${name} needs dtype`)
  if (options.enforceShape && options.shape === undefined)
    throw new InvalidArgument(`enforceShape for ${name} needs shape`)
}

/** A dict of types becomes a map of them; booleans and nothing stay. **Errors**: InvalidArgument naming the column. */
export function parseDtypes(dtype: unknown): ReadonlyMap<string, FrameType> | boolean | undefined {
  if (dtype === undefined || typeof dtype === 'boolean') return dtype
  if (typeof dtype !== 'object' || dtype === null || Array.isArray(dtype)) {
    throw new InvalidArgument(expected('an object of column to type, true or false', 'dtype', dtype))
  }
  return new Map(
    Object.entries(dtype).map(([column, type]) => [column, parseFrameType(type, `dtype of column ${column}`)]),
  )
}

/**
 * Columns get their types and become a frame. Plain kinds are cast here, dates and categories by Polars.
 * **Errors**: BadInput naming the column and, where it is known, the row; with `enforce` also for nulls where numpy's type of that
 * name has no place for them.
 */
export function buildFrame(
  polars: Polars,
  table: ColumnTable,
  types: readonly (FrameType | undefined)[],
  enforce: boolean,
  name: string,
): DataFrame {
  if (types.every((type) => type === undefined)) return polars.fromColumns(table)
  const columns = table.columns.map((column, i) => {
    const type = types[i]
    const kind = type === undefined ? undefined : kindOfType(type)
    if (type === undefined || kind === undefined) return column
    const cast = castColumn(column, table.rows, kind)
    if (typeof cast === 'number') throw misfit(type, column.name, cast, name)
    if (enforce && refusesNulls(type)) {
      const row = firstNull(cast, table.rows)
      if (row !== -1) throw misfit(type, column.name, row, name)
    }
    return cast
  })
  const frame = polars.fromColumns({ rows: table.rows, columns })
  for (const [i, type] of types.entries()) {
    if (type === undefined || kindOfType(type) !== undefined) continue
    try {
      polars.cast(frame, i, type)
    } catch (cause) {
      throw misfit(type, columns[i].name, undefined, name, cause)
    }
  }
  return frame
}

function firstNull(column: Column, rows: number): number {
  if (column.validity === undefined) return -1
  for (let row = 0; row < rows; row++) if (!isValid(column, row)) return row
  return -1
}

function misfit(type: FrameType, column: string, row: number | undefined, name: string, cause?: unknown): BadInput {
  const where = name === 'PandasSeries' ? name : `column ${JSON.stringify(column.slice(0, 80))} of ${name}`
  const at = row === undefined ? '' : ` in row ${row}`
  return new BadInput(`expected elements that fit ${type} for ${where}, received one that does not${at}`, {
    reason: 'dtype',
    path: row === undefined ? column : `[${row}].${column}`,
    ...(cause !== undefined && { cause }),
  })
}

/** The numpy name of a Polars type, for descriptors made from samples. Undefined: there is none. */
export function dtypeNameOf(variant: string): string | undefined {
  if (variant === 'String' || variant === 'Utf8') return 'str'
  if (variant === 'Categorical') return 'category'
  if (variant === 'Date') return 'date'
  return /^(Bool|U?Int\d+|Float\d+)$/.test(variant) ? variant.toLowerCase() : undefined
}
