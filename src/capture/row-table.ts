/** The rows of the next file: values by column until it is written. @module */
import { type AnyColumn, type Column, type ColumnTable, columnOf } from '../values/table/columns.ts'
import { joinColumns, takeRows } from '../values/table/take-rows.ts'

/** A client could name more. */
const maxColumns = 1000
/** What a column takes of each row, also without a value. **Units**: bytes. */
const cellBytes = 13

/** What a flat column has in a row; whole numbers are bigints. */
export type Scalar = string | number | bigint | boolean

/** A value of one row: a scalar, or a column of this row alone. */
export interface Cell {
  /** Of its column. */
  readonly name: string
  readonly value: Scalar | AnyColumn
}

/** @returns the type of a scalar's column. */
function kindOf(value: Scalar): Column['kind'] {
  const kinds = { string: 'str', number: 'float64', bigint: 'int64', boolean: 'bool' } as const
  return kinds[typeof value as keyof typeof kinds]
}

/** @returns the name of a type, equal for equal types. */
export function typeName(value: Cell['value']): string {
  if (typeof value !== 'object') return kindOf(value)
  if ('items' in value) return `list<${typeName(value.items)}>`
  if ('fields' in value)
    return `struct<${value.fields.map((field) => `${JSON.stringify(field.name)}: ${typeName(field)}`)}>`
  const { kind, time, isBinary } = value
  if (time !== undefined) return Object.values(time).join(' ')
  return isBinary ? 'bytes' : kind
}

/** @returns a column in memory of its own. */
export function copyOf(column: AnyColumn, rows: number): AnyColumn {
  // Two pieces are copied.
  return joinColumns([
    { column, rows },
    { column, rows: 0 },
  ])
}

/**
 * Collects rows whose columns need not be the same. A column has one type: values of another go to one that names it.
 */
export class RowTable {
  rows = 0
  /** **Units**: bytes. */
  valueBytes = 0
  readonly #columns = new Map<string, { readonly type: string; readonly values: Cell['value'][] }>()

  /** **Units**: bytes. */
  get bytes(): number {
    return this.valueBytes + this.rows * this.#columns.size * cellBytes
  }

  /**
   * Adds a row; returns false, and adds nothing, if it brings too many columns, or one with the name of another type.
   * `bytes`: of its values.
   */
  add(cells: readonly Cell[], bytes: number): boolean {
    const typeIn = (name: string) => this.#columns.get(name)?.type
    const places = cells.map(({ name, value }) => {
      const type = typeName(value)
      const isOther = (typeIn(name) ?? type) !== type
      return { name: isOther ? `${name} (${type})` : name, type, value }
    })
    const added = places.filter(({ name }) => typeIn(name) === undefined)
    const isOdd = places.some(({ name, type }) => (typeIn(name) ?? type) !== type)
    if (isOdd || this.#columns.size + added.length > maxColumns) return false
    for (const { name, type, value } of places) {
      const column = this.#columns.get(name) ?? { type, values: [] }
      this.#columns.set(name, column)
      // A name that comes twice in a row has its first value.
      column.values[this.rows] ??= value
    }
    this.rows++
    this.valueBytes += bytes
    return true
  }

  /** @returns the columns, in memory of their own. */
  finish(): ColumnTable<AnyColumn> {
    const { rows } = this
    const columns = [...this.#columns].map(([name, { values }]) => {
      const all = Array.from({ length: rows }, (_, row) => values[row] ?? null)
      return { ...joined(all), name }
    })
    return { rows, columns }
  }
}

/** @returns values of one type as a column. */
function joined(values: readonly (Cell['value'] | null)[]): AnyColumn {
  const first = values.find((value) => value !== null) ?? ''
  if (typeof first !== 'object')
    return copyOf(columnOf('', kindOf(first), values as (Scalar | null)[]), values.length)
  const none = takeRows(first, Int32Array.of(-1), () => {})
  const pieces = (values as (AnyColumn | null)[]).map((column) => ({
    column: column ?? none,
    rows: 1,
  }))
  return joinColumns([{ column: none, rows: 0 }, ...pieces])
}
