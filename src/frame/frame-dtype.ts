/**
 * Names of column types: numpy's and pandas' become Polars'.
 * @module
 */

import { type ColumnKind, dtypes, elementTypes, parseDType } from '../dtype.ts'
import { expected, InvalidArgument } from '../errors.ts'

/** Column types of a data frame, in Polars' names. */
export type FrameType =
  | (typeof elementTypes)[ColumnKind]['polars']
  | 'Categorical'
  | 'Date'
  | 'Datetime(ms)'
  | 'Datetime(us)'
  | 'Datetime(ns)'

/** Names that are pandas' or Polars' own. */
const others: ReadonlyMap<string, FrameType> = new Map<string, FrameType>([
  ['object', 'Utf8'],
  ['O', 'Utf8'],
  ['string', 'Utf8'],
  ['Utf8', 'Utf8'],
  ['String', 'Utf8'],
  ['boolean', 'Bool'],
  ['Boolean', 'Bool'],
  ['Bool', 'Bool'],
  ['category', 'Categorical'],
  ['Categorical', 'Categorical'],
  ['date', 'Date'],
  ['Date', 'Date'],
  ['datetime64[ms]', 'Datetime(ms)'],
  ['datetime64[us]', 'Datetime(us)'],
  ['datetime64[ns]', 'Datetime(ns)'],
  ['datetime64', 'Datetime(ns)'],
])
// pandas' nullable types, which are Polars' names as well.
const nullable = /^(Int|UInt)(8|16|32|64)$|^Float(32|64)$/

const kinds: ReadonlyMap<string, ColumnKind> = new Map(
  dtypes.filter((dtype) => dtype !== 'float16').map((kind) => [elementTypes[kind].polars, kind]),
)

/** The column kind of a type; undefined for those that only Polars has. */
export function kindOfType(type: FrameType): ColumnKind | undefined {
  return kinds.get(type)
}

/** Whether nulls have no place in the numpy type of that name. */
export function refusesNulls(type: FrameType): boolean {
  return type === 'Bool' || type.startsWith('Int') || type.startsWith('UInt')
}

/** A type's name becomes Polars' one. **Errors**: InvalidArgument naming the column. */
export function parseFrameType(name: unknown, column: string): FrameType {
  if (typeof name === 'string') {
    const known = others.get(name)
    if (known !== undefined) return known
    if (nullable.test(name)) return name as FrameType
    try {
      // float16 is numpy's alone.
      const type = elementTypes[parseDType(name)].polars
      if (type !== undefined) return type
    } catch {
      // Told below, with the column.
    }
  }
  const names = 'int8 to int64, uint8 to uint64, float32, float64, bool, str, category, date or datetime64[ms|us|ns]'
  throw new InvalidArgument(expected(names, column, name))
}
