/** The rows of the next file, as columns that grow. @module */
import type { AnyColumn, ColumnTable } from '../values/table/columns.ts'
import type { Cell } from './cells.ts'
import { ColumnBuilder } from './column-builder.ts'

/** A client could name more. */
const maxColumns = 1000
/** What a column takes of each row, also without a value. **Units**: bytes. */
const cellBytes = 13

interface Grown {
  readonly builder: ColumnBuilder
  readonly type: string
}

/**
 * Collects rows whose columns need not be the same. A column has one type: values of others go to one that names it.
 */
export class RowTable {
  readonly #columns = new Map<string, Grown>()
  #rows = 0
  /** **Units**: bytes. */
  valueBytes = 0

  get rows(): number {
    return this.#rows
  }

  /** **Units**: bytes. */
  get bytes(): number {
    return this.valueBytes + this.#rows * this.#columns.size * cellBytes
  }

  /** Adds a row; returns false, and adds nothing, if it brings too many columns. `bytes`: of its values. */
  add(cells: readonly Cell[], bytes: number): boolean {
    const known = cells.map((cell) => this.#find(cell))
    const fresh = known.filter((builder) => builder === undefined).length
    if (this.#columns.size + fresh > maxColumns) return false
    for (const [i, cell] of cells.entries()) {
      const builder = known[i] ?? this.#begin(cell)
      // A name that comes twice in a row has its first value.
      if (builder.rows > this.#rows) continue
      builder.padTo(this.#rows)
      const { value } = cell
      if (typeof value !== 'object' || value instanceof Uint8Array) builder.append(value)
      else if ('elements' in value) builder.appendElements(value.elements)
      else builder.appendList(value.items, value.count)
    }
    this.#rows++
    this.valueBytes += bytes
    return true
  }

  /** @returns the columns. Nothing may be added afterwards. */
  finish(): ColumnTable<AnyColumn> {
    const columns = [...this.#columns].map(([name, { builder }]) => {
      builder.padTo(this.#rows)
      return builder.finish(name)
    })
    return { rows: this.#rows, columns }
  }

  #find({ name, type }: Cell): ColumnBuilder | undefined {
    const known = this.#columns.get(name)
    if (known === undefined || known.type === type.name) return known?.builder
    return this.#columns.get(`${name} (${type.name})`)?.builder
  }

  #begin({ name, type }: Cell): ColumnBuilder {
    const builder = new ColumnBuilder(type.like)
    const isTaken = this.#columns.has(name)
    this.#columns.set(isTaken ? `${name} (${type.name})` : name, { builder, type: type.name })
    return builder
  }
}
