/** Parses the names of column types: numpy's, pandas' and Polars' names to Polars' names. @module */

import { type ColumnKind, dtypes, elementTypes, parseDType } from '../../core/dtype.ts'
import { expected, InvalidArgument } from '../../core/errors.ts'
import type { PolarsType, TimeType, TimeUnit } from './columns.ts'
import { loadPolarsPackage } from './polars/polars-package.ts'

/** Column types of a data frame, in Polars' names. */
export type FrameType =
  | (typeof elementTypes)[ColumnKind]['polars']
  | 'Categorical'
  | 'Binary'
  | 'Date'
  | 'Time'
  | `Datetime(${TimeUnit})`
  | `Datetime(${TimeUnit}, ${string})`
  | `Duration(${TimeUnit})`
  | 'List'
  | `List(${string})`
  | 'Struct'
  | PolarsType

/** Names used by pandas and Polars, in addition to numpy's. */
const aliases = {
  Utf8: ['object', 'O', 'string', 'Utf8', 'String'],
  Bool: ['boolean', 'Boolean', 'Bool'],
  Categorical: ['category', 'Categorical'],
  Date: ['date', 'Date'],
  'Datetime(ns)': ['datetime64'],
  'Duration(ns)': ['timedelta64'],
  Time: ['time'],
  Binary: ['bytes', 'binary'],
  List: ['list'],
  Struct: ['struct'],
} satisfies Partial<Record<FrameType, readonly string[]>>
const others: ReadonlyMap<string, FrameType> = new Map(
  Object.entries(aliases).flatMap(([type, names]) =>
    names.map((name) => [name, type as FrameType]),
  ),
)
const timeName = /^(datetime|timedelta)64\[(ms|us|ns)(?:, ?([\w+/-]+))?\]$/
const zoneName = /^[\w+/-]{1,64}$/
const listName = /^list\[(.+)\]$/
const nullable = /^(Int|UInt)(8|16|32|64)$|^Float(32|64)$/

const kinds: ReadonlyMap<string, ColumnKind> = new Map(
  dtypes.filter((dtype) => dtype !== 'float16').map((kind) => [elementTypes[kind].polars, kind]),
)

/** @returns the column kind of a type; undefined for types that only Polars has. */
export function kindOfType(type: FrameType): ColumnKind | undefined {
  return kinds.get(type)
}

/** @returns what the integers of a type of times count; undefined for other types. */
export function timeOfType(type: FrameType): TimeType | undefined {
  if (type === 'Date') return { type: 'date' }
  if (type === 'Time') return { type: 'time', unit: 'ns' }
  const [, name, named, zone] = /^(Datetime|Duration)\((\w+)(?:, (.+))?\)$/.exec(type) ?? []
  const unit = named as TimeUnit
  if (name === 'Duration') return { type: 'duration', unit }
  if (name === 'Datetime') return { type: 'datetime', unit, zone }
  return undefined
}

/**
 * @returns the type of the elements of a type of lists; undefined for lists of any elements and for
 * other types.
 */
export function itemOfType(type: FrameType): FrameType | undefined {
  if (type.startsWith('List(')) return type.slice(5, -1) as FrameType
  return undefined
}

/** Whether the elements of a type are lists or objects. */
export function isNested(type: FrameType): boolean {
  return type === 'Struct' || type.startsWith('List')
}

/** Whether the numpy type of that name cannot hold nulls. */
export function refusesNulls(type: FrameType): boolean {
  return type === 'Bool' || type.startsWith('Int') || type.startsWith('UInt')
}

/**
 * @returns Polars' name of a type.
 * @throws InvalidArgument naming the column.
 */
export function parseFrameType(name: unknown, column: string): FrameType {
  if (typeof name === 'string') {
    const known = others.get(name) ?? timeNamed(name)
    if (known !== undefined) return known
    const [, item] = listName.exec(name) ?? []
    if (item !== undefined) return `List(${parseFrameType(item, column)})`
    if (nullable.test(name)) return name as FrameType
    try {
      const type = elementTypes[parseDType(name)].polars
      if (type !== undefined) return type
    } catch {
      // Reported below, with the column.
    }
  }
  const names =
    'int8 to int64, uint8 to uint64, float32, float64, bool, str, category, bytes, date, time, datetime64[ms|us|ns], ' +
    'datetime64[ns, ZONE], timedelta64[ms|us|ns], struct, list or list[TYPE]'
  throw new InvalidArgument(expected(names, column, name))
}

function timeNamed(name: string): FrameType | undefined {
  const [, type, own, zone] = timeName.exec(name) ?? []
  if (type === undefined) return undefined
  const unit = own as TimeUnit
  if (type === 'timedelta') return zone === undefined ? `Duration(${unit})` : undefined
  if (zone === undefined) return `Datetime(${unit})`
  return zonedType(unit, zone)
}

let zoneless: { cast(type: object, strict: boolean): unknown } | undefined

/**
 * @returns the type of instants in a time zone; undefined for a name at which Polars would panic.
 */
export function zonedType(unit: TimeUnit, zone: string): FrameType | undefined {
  if (!zoneName.test(zone)) return undefined
  const polars = loadPolarsPackage('time zones of columns')
  // The series below the one of nodejs-polars, whose cast takes milliseconds.
  zoneless ??= (
    polars.Series('', [], polars.Int64) as unknown as { inner(): NonNullable<typeof zoneless> }
  ).inner()
  try {
    zoneless.cast(polars.Datetime(unit as 'ms', zone), true)
  } catch {
    return undefined
  }
  return `Datetime(${unit}, ${zone})`
}
