/** The rows of the next file, as columns that grow. @module */
import { type AnyColumn, type Column, type ColumnTable, columnOf } from '../values/table/columns.ts'
import { joinColumns, type Piece, takeRows } from '../values/table/take-rows.ts'

/** A client could name more. */
const maxColumns = 1000
/** So many rows are put into columns together. */
const maxWaiting = 64
/** What a column takes of each row, also without a value. **Units**: bytes. */
const cellBytes = 13

/** What a flat column has in a row. */
export type Scalar = string | number | boolean

/** A value of one row. */
export interface Cell {
  /** Of its column. */
  name: string
  /** A column of one row. Of scalars one of their type, without rows. */
  readonly column: AnyColumn
  /** Null: no value. */
  scalar?: Scalar | null
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
  readonly #type: string
  readonly #isScalar: boolean
  readonly #startsAt: number
  readonly #pieces: Piece[] = []
  /** By the number of their row among those that wait. */
  #cells: (Cell | undefined)[] = []

  constructor({ column, scalar }: Cell, startsAt: number) {
    this.#like = column
    this.#type = typeName(column)
    this.#isScalar = scalar !== undefined
    this.#startsAt = startsAt
  }

  takes({ column }: Cell): boolean {
    return column === this.#like || typeName(column) === this.#type
  }

  /** A name that comes twice in a row has its first value. */
  add(row: number, cell: Cell): void {
    this.#cells[row] ??= cell
  }

  /** Puts rows that wait into one column. */
  join(rows: number): void {
    const like = this.#like as Column
    const cells = Array.from({ length: rows }, (_, row) => this.#cells[row])
    this.#cells = []
    if (this.#isScalar) {
      const values = cells.map((cell) => cell?.scalar ?? null)
      this.#pieces.push({ column: { ...like, ...columnOf('', like.kind, values) }, rows })
    } else {
      const none = nulls(like, 1)
      const column = joinColumns(
        cells.map((cell) => (cell ? { column: cell.column, rows: 1 } : none)),
      )
      this.#pieces.push({ column, rows })
    }
  }

  /** Returns the column, in memory of its own. */
  finish(name: string): AnyColumn {
    return { ...joinColumns([nulls(this.#like, this.#startsAt), ...this.#pieces]), name }
  }
}

function nulls(like: AnyColumn, rows: number): Piece {
  return { column: takeRows(like, new Int32Array(rows).fill(-1), () => {}), rows }
}

/** Collects rows whose columns need not be the same. A column has one type: values of another go to one that names it. */
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
    const columns = cells.map((cell) => {
      const column = this.#columns.get(cell.name)
      if (column === undefined || column.takes(cell)) return column
      cell.name += ` (${typeName(cell.column)})`
      return this.#columns.get(cell.name)
    })
    const isOdd = columns.some((column, i) => column?.takes(cells[i]) === false)
    const fresh = columns.filter((column) => column === undefined).length
    if (isOdd || this.#columns.size + fresh > maxColumns) return false
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
