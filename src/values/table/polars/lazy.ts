/** Frames and series that stay columns until a function asks for more: then nodejs-polars makes its own. @module */
import { inspect } from 'node:util'
import { type AnyColumn, type Column, type ColumnTable, cellsOf, valueReader } from '../columns.ts'
import type { DataFrame, Series } from './polars-package.ts'

type Table = ColumnTable<AnyColumn>

const tableKey = Symbol('table')

/**
 * @returns a lazy object's columns, to be read only; undefined for others, and once nodejs-polars'
 * own exists.
 */
export function tableBehind(object: DataFrame | Series): Table | undefined {
  return (object as { readonly [tableKey]?: Table })[tableKey]
}

/** @returns a frame of columns, whose memory must be theirs alone. */
export function lazyFrame(table: Table, make: (table: Table) => DataFrame): DataFrame {
  return new LazyFrame(table, make).proxy()
}

/** @returns the only column of a table as a series. */
export function lazySeries(table: Table, make: (table: Table) => DataFrame): Series {
  return new LazySeries(table, (own) => Reflect.get(make(own), own.columns[0].name)).proxy()
}

/** Answers from the columns what they know; all else, and everything from then on, comes from nodejs-polars' object. */
abstract class Lazy<T extends DataFrame | Series> implements ProxyHandler<object> {
  readonly table: Table
  readonly make: (table: Table) => T
  whole: T | undefined

  constructor(table: Table, make: (table: Table) => T) {
    this.table = table
    this.make = make
  }

  proxy(): T {
    return new Proxy(this, this) as unknown as T
  }

  /** Called by Node, with the proxy as `this`. */
  [inspect.custom](): string {
    return this.toString()
  }

  /** @returns a member that the columns have; undefined for others. */
  abstract own(key: PropertyKey): unknown

  made(): T {
    this.whole ??= this.make(this.table)
    return this.whole
  }

  get(_: object, key: PropertyKey): unknown {
    if (this.whole !== undefined) return key === tableKey ? undefined : Reflect.get(this.whole, key)
    if (key === tableKey) return this.table
    // Resolving a promise with a value looks up its `then`, which Polars lacks.
    return this.own(key) ?? (key === 'then' ? undefined : Reflect.get(this.made(), key))
  }

  set(_: object, key: PropertyKey, value: unknown): boolean {
    return Reflect.set(this.made(), key, value)
  }

  has(_: object, key: PropertyKey): boolean {
    return Reflect.has(this.made(), key)
  }

  ownKeys(): (string | symbol)[] {
    return Reflect.ownKeys(this.made())
  }

  getOwnPropertyDescriptor(_: object, key: PropertyKey): PropertyDescriptor | undefined {
    return Reflect.getOwnPropertyDescriptor(this.made(), key)
  }
}

class LazyFrame extends Lazy<DataFrame> {
  override ownKeys(): (string | symbol)[] {
    if (this.whole === undefined) return this.table.columns.map(({ name }) => name)
    return super.ownKeys()
  }

  own(key: PropertyKey): unknown {
    const { rows, columns } = this.table
    // A column hides the member of its name.
    const series = this.#series(key)
    if (series !== undefined) return series
    switch (key) {
      case Symbol.toStringTag:
        return 'DataFrame'
      case 'columns':
        return this.ownKeys()
      case 'height':
        return rows
      case 'width':
        return columns.length
      case 'shape':
        return { height: rows, width: columns.length }
      case 'getColumn':
        return (name: string) => this.#series(name) ?? this.made().getColumn(name)
      case 'rechunk':
        return () => this.made().rechunk()
      case 'rows':
      case 'toRecords':
        if (columns.every(isPlain)) return () => rowsOf(columns, rows, key === 'rows')
        return undefined
    }
    return undefined
  }

  #series(key: PropertyKey): Series | undefined {
    const { rows, columns } = this.table
    const column = this.whole === undefined ? columns.find(({ name }) => name === key) : undefined
    return column && lazySeries({ rows, columns: [column] }, this.make)
  }
}

class LazySeries extends Lazy<Series> {
  own(key: PropertyKey): unknown {
    const { rows, columns } = this.table
    const [column] = columns
    if (key === Symbol.toStringTag) return () => 'Series'
    if (key === 'name') return column.name
    if (key === 'length') return rows
    const compute = isPlain(column) ? methods.get(key) : undefined
    return (
      compute &&
      (() => compute(elementsOf(column as Column, rows), column as Column) ?? this.#call(key))
    )
  }

  #call(key: PropertyKey): unknown {
    const whole = this.made()
    return Reflect.get(whole, key).call(whole)
  }
}

/** Whether elements of a column can be read without Polars: numbers, booleans and text. */
function isPlain(column: AnyColumn): column is Column {
  return 'kind' in column && column.time === undefined && column.isBinary === undefined
}

/** @returns the elements as nodejs-polars does: int64 as numbers, uint64 as bigints. */
function elementsOf(column: Column, rows: number): unknown[] {
  const read = valueReader(column)
  const widen = { int64: Number, uint64: BigInt }[column.kind as string]
  return cellsOf(column, rows, widen ? (row) => widen(read(row)) : read)
}

function rowsOf(columns: readonly Column[], rows: number, areLists: boolean): unknown[] {
  const cells = columns.map((column) => elementsOf(column, rows))
  return Array.from({ length: rows }, (_, row) => {
    if (areLists) return cells.map((own) => own[row])
    return Object.fromEntries(columns.map(({ name }, i) => [name, cells[i][row]]))
  })
}

type Method = (elements: readonly unknown[], column: Column) => unknown

const numeric =
  (reduce: (numbers: readonly number[]) => number | undefined): Method =>
  (elements, { kind }) => {
    if (kind !== 'int64' && kind !== 'float64') return undefined
    const found = reduce(elements.filter((value) => value !== null) as number[])
    const isExact = kind === 'float64' || Math.abs(found ?? 0) <= Number.MAX_SAFE_INTEGER
    if (isExact) return found
    return undefined
  }
const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, value) => sum + value, 0)
const extreme = (pick: (a: number, b: number) => number) =>
  numeric((numbers) => {
    const known = numbers.filter((value) => !Number.isNaN(value))
    return known.reduce<number | undefined>((a, b) => pick(a ?? b, b), undefined)
  })

/** Methods that work without nodejs-polars' series, which takes a millisecond to make; undefined: by that one. */
const methods: ReadonlyMap<PropertyKey, Method> = new Map<PropertyKey, Method>([
  ['toArray', (elements) => elements],
  [Symbol.iterator, (elements) => elements.values()],
  ['hasNulls', (elements) => elements.includes(null)],
  ['nullCount', (elements) => elements.filter((value) => value === null).length],
  ['sum', numeric(sumOf)],
  [
    'mean',
    numeric((numbers) => (numbers.length === 0 ? undefined : sumOf(numbers) / numbers.length)),
  ],
  ['min', extreme(Math.min)],
  ['max', extreme(Math.max)],
])
