/** A Polars frame that makes nodejs-polars' object only when columns do not suffice. @module */
import { inspect } from 'node:util'
import { elementTypes } from '../../../core/dtype.ts'
import type { AnyColumn, Column, ColumnTable } from '../columns.ts'
import { ColumnSeries, elementReader, isPlain } from './column-series.ts'
import { lazySeries, type NativeSeries } from './lazy-series.ts'
import type { DataFrame, pl, Series } from './polars-package.ts'

interface LazyParts {
  readonly polars: typeof pl
  readonly table: ColumnTable<AnyColumn>
  readonly make: (table: ColumnTable<AnyColumn>) => DataFrame
  made?: DataFrame
}

const partsKey = Symbol('parts')

const handler: ProxyHandler<LazyParts> = {
  get(parts, key) {
    if (key === partsKey) return parts
    const own = parts.made === undefined ? readOf(parts, key) : undefined
    // Resolving a promise with a value looks up its `then`; a frame has none.
    return own ?? (key === 'then' && parts.made === undefined ? undefined : Reflect.get(wholeOf(parts), key))
  },
  set: (parts, key, value) => Reflect.set(wholeOf(parts), key, value),
  has: (parts, key) => Reflect.has(wholeOf(parts), key),
  ownKeys: (parts) => (parts.made === undefined ? namesOf(parts.table) : Reflect.ownKeys(wholeOf(parts))),
  getOwnPropertyDescriptor: (parts, key) => Reflect.getOwnPropertyDescriptor(wholeOf(parts), key),
}

function wholeOf(parts: LazyParts): DataFrame {
  parts.made ??= parts.make(parts.table)
  return parts.made
}

function partsOf(frame: DataFrame): LazyParts | undefined {
  return (frame as { readonly [partsKey]?: LazyParts })[partsKey]
}

/** Returns a frame of columns, whose memory must be theirs alone. */
export function lazyFrame({ polars, table, make }: LazyParts): DataFrame {
  const target = { polars, table, make, made: undefined, [inspect.custom]: inspectFrame }
  return new Proxy<LazyParts>(target, handler) as unknown as DataFrame
}

function inspectFrame(this: DataFrame): string {
  return wholeOf(partsOf(this) as LazyParts).toString()
}

/** Returns a lazy frame's columns, to be read only; undefined for others, and once nodejs-polars' object exists. */
export function tableBehind(frame: DataFrame): ColumnTable<AnyColumn> | undefined {
  const parts = partsOf(frame)
  return parts?.made === undefined ? parts?.table : undefined
}

/** Returns a lazy frame with other columns; `frame` is one whose {@link tableBehind} is defined. */
export function lazyFrameWith(frame: DataFrame, table: ColumnTable<AnyColumn>): DataFrame {
  const { polars, make } = partsOf(frame) as LazyParts
  return lazyFrame({ polars, make, table })
}

function namesOf({ columns }: ColumnTable<AnyColumn>): string[] {
  return columns.map(({ name }) => name)
}

/** Returns the type that nodejs-polars gives a plain column. */
export function dtypeOf(polars: typeof pl, { kind }: Column): pl.DataType {
  return kind === 'str' ? polars.String : polars[elementTypes[kind].polars]
}

/** Returns a member that only reads columns; undefined for others. A column hides the member of its name. */
function readOf(parts: LazyParts, key: PropertyKey): unknown {
  const { polars, table } = parts
  const { rows, columns } = table
  if (key === Symbol.toStringTag) return 'DataFrame'
  if (typeof key === 'symbol') return undefined
  const index = indexOf(columns, key)
  if (index !== -1) return seriesAt(parts, index)
  switch (key) {
    case 'columns':
      return namesOf(table)
    case 'height':
      return rows
    case 'width':
      return columns.length
    case 'shape':
      return { height: rows, width: columns.length }
    case 'dtypes':
      return columns.every(isPlain) ? columns.map((column) => dtypeOf(polars, column as Column)) : undefined
    case 'getColumn':
      return (name: string) => {
        const at = parts.made === undefined ? indexOf(columns, name) : -1
        return (at === -1 ? undefined : seriesAt(parts, at)) ?? wholeOf(parts).getColumn(name)
      }
    case 'rows':
      return columns.every(isPlain)
        ? (callback?: (row: unknown[]) => void) =>
            callback === undefined ? rowsOf(table) : rowsOf(table).forEach(callback)
        : undefined
    case 'toRecords':
      return columns.every(isPlain) ? () => recordsOf(table) : undefined
    case 'rechunk':
      return () => wholeOf(parts).rechunk()
  }
  return undefined
}

function indexOf(columns: readonly AnyColumn[], name: PropertyKey): number {
  return columns.findIndex((column) => column.name === name)
}

function seriesAt(parts: LazyParts, index: number): Series | undefined {
  const { polars, table } = parts
  const column = table.columns[index]
  if (!isPlain(column)) return undefined
  const own = { rows: table.rows, columns: [column] }
  const frame = lazyFrame({ ...parts, table: own })
  const make = () => wholeOf(parts).getColumns()[index]
  const native = new ColumnSeries(column, table.rows, () => make().inner() as NativeSeries)
  return lazySeries({ frame, native, dtype: () => dtypeOf(polars, column), make })
}

function rowsOf({ rows, columns }: ColumnTable<AnyColumn>): unknown[][] {
  const readers = columns.map((column) => elementReader(column as Column, rows))
  return Array.from({ length: rows }, (_, row) => readers.map((read) => read(row)))
}

function recordsOf({ rows, columns }: ColumnTable<AnyColumn>): Record<string, unknown>[] {
  const readers = columns.map((column) => [column.name, elementReader(column as Column, rows)] as const)
  return Array.from({ length: rows }, (_, row) => Object.fromEntries(readers.map(([name, read]) => [name, read(row)])))
}
