/** The rows of the next file: values by column until it is written. @module */
import { type ColumnKind, dataConstructor } from '../core/dtype.ts'
import { bytesOf } from '../core/memory/byte-copy.ts'
import type { NDArray } from '../values/array/ndarray.ts'
import { packBits } from '../values/table/bits.ts'
import { type AnyColumn, type ColumnTable, columnOf } from '../values/table/columns.ts'
import { joinColumns, takeRows } from '../values/table/take-rows.ts'

/** A client could name more. */
const maxColumns = 1000
/** What a column takes of each row, also without a value. **Units**: bytes. */
const cellBytes = 13

/** What a flat column has in a row; whole numbers are bigints. */
export type Scalar = string | number | bigint | boolean

/** A list in a row. Small arrays wait without an ArrayBuffer, which takes longer than all else. */
interface Elements {
  readonly kind: ColumnKind
  readonly elements: NDArray['data'] | readonly string[]
}

/** A value of one row: a scalar, a list, or a column of this row alone. */
export interface Cell {
  /** Of its column. */
  readonly name: string
  readonly type: string
  readonly value: Scalar | Elements | AnyColumn
}

const kinds = { string: 'str', number: 'float64', bigint: 'int64', boolean: 'bool' } as const
const kindOf = (value: Scalar) => kinds[typeof value as keyof typeof kinds]

/** @returns the name of a type, equal for equal types. */
export function typeName(value: Cell['value']): string {
  if (typeof value !== 'object') return kindOf(value)
  if ('elements' in value) return `list<${value.kind}>`
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
    const names = cells.map(({ name, type }) => {
      const isOther = (typeIn(name) ?? type) !== type
      return isOther ? `${name} (${type})` : name
    })
    const isOdd = names.some((name, i) => (typeIn(name) ?? cells[i].type) !== cells[i].type)
    const added = names.filter((name) => !this.#columns.has(name))
    if (isOdd || this.#columns.size + added.length > maxColumns) return false
    for (const [i, { type, value }] of cells.entries()) {
      const column = this.#columns.get(names[i]) ?? { type, values: [] }
      this.#columns.set(names[i], column)
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
      return { ...joined(all), name, ...(name === instants.name && instants) }
    })
    return { rows, columns }
  }
}

/** The column that says when calls began. **Units**: microseconds since 1970. */
const instants = { name: 'time', time: { type: 'datetime', unit: 'us', zone: 'UTC' } } as const

/** @returns values of one type as a column. */
function joined(values: readonly (Cell['value'] | null)[]): AnyColumn {
  const rows = values.length
  const first = values.find((value) => value !== null) ?? ''
  if (typeof first !== 'object')
    return copyOf(columnOf('', kindOf(first), values as (Scalar | null)[]), rows)
  if ('elements' in first) return listsOf(first.kind, values as (Elements | null)[])
  const none = takeRows(first, Int32Array.of(-1), () => {})
  const columns = (values as (AnyColumn | null)[]).map((column) => column ?? none)
  return joinColumns([{ column: none, rows: 0 }, ...columns.map((column) => ({ column, rows: 1 }))])
}

function listsOf(kind: ColumnKind, lists: readonly (Elements | null)[]): AnyColumn {
  const all = lists.map((list) => list?.elements ?? [])
  const offsets = new Int32Array(all.length + 1)
  for (const [i, { length }] of all.entries()) offsets[i + 1] = offsets[i] + length
  const count = offsets[all.length]
  const column = { name: '', offsets, validity: packBits(lists) }
  if (kind === 'str') {
    const texts = columnOf('item', kind, all.flat() as string[])
    return { ...column, items: copyOf(texts, count) }
  }
  const data = new (dataConstructor(kind))(count) as Float64Array
  for (const [i, elements] of all.entries()) data.set(elements as Float64Array, offsets[i])
  const bytes = kind === 'bool' ? packBits(data) : bytesOf(data)
  return { ...column, items: { name: 'item', kind, data: bytes } }
}
