/** The rows of the next file, as columns that grow. @module */
import { dataConstructor } from '../core/dtype.ts'
import { bytesOf } from '../core/memory/byte-copy.ts'
import type { NDArray } from '../values/array/ndarray.ts'
import {
  type AnyColumn,
  type Column,
  type ColumnTable,
  columnOf,
  type ListColumn,
  packBits,
} from '../values/table/columns.ts'
import { joinColumns, type Piece, takeRows } from '../values/table/take-rows.ts'

/** A client could name more. */
const maxColumns = 1000
/** So many rows are put into columns together. */
const maxWaiting = 64
/** What a column takes of each row, also without a value. **Units**: bytes. */
const cellBytes = 13

/** What a flat column has in a row. */
export type Scalar = string | number | boolean

/** Elements of a list: the memory of typed ones becomes the table's. */
export type Items = NDArray['data'] | readonly string[]

/** A value of one row. */
export interface Cell {
  /** Of its column. */
  name: string
  /** A column of one row; of a value, one of the type that all such values share. */
  readonly column: AnyColumn
  /** Null: it could not be made. */
  value?: Scalar | Items | null
}

/** @returns the name of a type, equal for equal types. */
export function typeName(column: AnyColumn): string {
  if ('items' in column) return `list<${typeName(column.items)}>`
  if ('fields' in column)
    return `struct<${column.fields.map((field) => `${JSON.stringify(field.name)}: ${typeName(field)}`)}>`
  const { kind, time, isBinary } = column
  if (time !== undefined) return Object.values(time).join(' ')
  return isBinary ? 'bytes' : kind
}

/** A column, and the values that it will have. */
class GrowingColumn {
  readonly #like: AnyColumn
  readonly #hasValues: boolean
  readonly #startsAt: number
  readonly #pieces: Piece[] = []
  /** By the number of their row among those that wait. */
  #cells: (Cell | undefined)[] = []

  constructor({ column, value }: Cell, startsAt: number) {
    this.#like = column
    this.#hasValues = value !== undefined
    this.#startsAt = startsAt
  }

  takes({ column, value }: Cell): boolean {
    if (column === this.#like) return true
    const isOther = this.#hasValues || value !== undefined
    return !isOther && typeName(column) === typeName(this.#like)
  }

  /** A name that comes twice in a row has its first value. */
  add(row: number, cell: Cell): void {
    this.#cells[row] ??= cell
  }

  /** Puts rows that wait into one column. */
  join(rows: number): void {
    const cells = Array.from({ length: rows }, (_, row) => this.#cells[row])
    this.#cells = []
    this.#pieces.push({ column: this.#joined(cells), rows })
  }

  #joined(cells: readonly (Cell | undefined)[]): AnyColumn {
    const like = this.#like
    const values = cells.map((cell) => cell?.value ?? null)
    if (this.#hasValues && 'items' in like) return listsOf(like, values as (Items | null)[])
    if (this.#hasValues)
      return { ...like, ...columnOf('', (like as Column).kind, values as (Scalar | null)[]) }
    const none = nulls(like, 1)
    return joinColumns(cells.map((cell) => (cell ? { column: cell.column, rows: 1 } : none)))
  }

  /** Returns the column, in memory of its own. */
  finish(name: string): AnyColumn {
    return { ...joinColumns([nulls(this.#like, this.#startsAt), ...this.#pieces]), name }
  }
}

function nulls(like: AnyColumn, rows: number): Piece {
  return { column: takeRows(like, new Int32Array(rows).fill(-1), () => {}), rows }
}

/** @returns a column of lists. */
function listsOf({ name, items }: ListColumn, lists: readonly (Items | null)[]): ListColumn {
  const { kind } = items as Column
  const offsets = new Int32Array(lists.length + 1)
  for (const [i, list] of lists.entries()) offsets[i + 1] = offsets[i] + (list?.length ?? 0)
  const validity = packBits(lists.map((list) => list !== null))
  const whole = { name, offsets, ...(lists.includes(null) && { validity }) }
  if (kind === 'str') {
    const texts = lists.flatMap((list) => (list ?? []) as string[])
    return { ...whole, items: columnOf(items.name, kind, texts) }
  }
  const elements = new (dataConstructor(kind))(offsets[lists.length]) as Float64Array
  for (const [i, list] of lists.entries()) elements.set((list ?? []) as Float64Array, offsets[i])
  const data = kind === 'bool' ? packBits(elements) : bytesOf(elements)
  return { ...whole, items: { ...items, data } as Column }
}

/**
 * Collects rows whose columns need not be the same. A column has one type: values of another go to one that names it.
 */
export class RowTable {
  rows = 0
  /** **Units**: bytes. */
  valueBytes = 0
  readonly #columns = new Map<string, GrowingColumn>()
  #waiting = 0

  /** **Units**: bytes. */
  get bytes(): number {
    return this.valueBytes + this.rows * this.#columns.size * cellBytes
  }

  /**
   * Adds a row; returns false, and adds nothing, if it brings too many columns, or one with the name of another type.
   * `bytes`: of its values.
   */
  add(cells: readonly Cell[], bytes: number): boolean {
    let isOdd = false
    let size = this.#columns.size
    const columns = cells.map((cell) => {
      let column = this.#columns.get(cell.name)
      if (column?.takes(cell) === false) {
        cell.name += ` (${typeName(cell.column)})`
        column = this.#columns.get(cell.name)
        isOdd ||= column?.takes(cell) === false
      }
      if (column === undefined) size++
      return column
    })
    if (isOdd || size > maxColumns) return false
    for (const [i, cell] of cells.entries())
      (columns[i] ?? this.#begin(cell)).add(this.#waiting, cell)
    this.rows++
    this.valueBytes += bytes
    if (++this.#waiting === maxWaiting) this.#join()
    return true
  }

  /**
   * Nothing may be added afterwards.
   *
   * @param always - What all rows have, by column.
   * @returns the columns.
   */
  finish(always: Readonly<Record<string, string | undefined>>): ColumnTable<AnyColumn> {
    this.#join()
    const { rows } = this
    const everywhere = Object.entries(always).map(([name, text = null]) =>
      takeRows(columnOf(name, 'str', [text]), new Int32Array(rows), () => {}),
    )
    const columns = [...this.#columns].map(([name, column]) => column.finish(name))
    return { rows, columns: [...everywhere, ...columns] }
  }

  #begin(cell: Cell): GrowingColumn {
    const column =
      this.#columns.get(cell.name) ?? new GrowingColumn(cell, this.rows - this.#waiting)
    this.#columns.set(cell.name, column)
    return column
  }

  #join(): void {
    if (this.#waiting === 0) return
    for (const column of this.#columns.values()) column.join(this.#waiting)
    this.#waiting = 0
  }
}
