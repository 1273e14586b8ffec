/**
 * Parses the names of column types: numpy's, pandas' and Polars' names to Polars' names.
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

/** Names used by pandas and Polars, in addition to numpy's. */
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
// pandas' nullable types, which have the same names in Polars.
const nullable = /^(Int|UInt)(8|16|32|64)$|^Float(32|64)$/

const kinds: ReadonlyMap<string, ColumnKind> = new Map(
  dtypes.filter((dtype) => dtype !== 'float16').map((kind) => [elementTypes[kind].polars, kind]),
)

/** Returns the column kind of a type; undefined for types that only Polars has. */
export function kindOfType(type: FrameType): ColumnKind | undefined {
  return kinds.get(type)
}

/** Whether the numpy type of that name cannot hold nulls. */
export function refusesNulls(type: FrameType): boolean {
  return type === 'Bool' || type.startsWith('Int') || type.startsWith('UInt')
}

/** Returns Polars' name of a type. **Errors**: InvalidArgument naming the column. */
export function parseFrameType(name: unknown, column: string): FrameType {
  if (typeof name === 'string') {
    const known = others.get(name)
    if (known !== undefined) return known
    if (nullable.test(name)) return name as FrameType
    try {
      // Undefined for float16, which only numpy has.
      const type = elementTypes[parseDType(name)].polars
      if (type !== undefined) return type
    } catch {
      // Reported below, with the column.
    }
  }
  const names = 'int8 to int64, uint8 to uint64, float32, float64, bool, str, category, date or datetime64[ms|us|ns]'
  throw new InvalidArgument(expected(names, column, name))
}
