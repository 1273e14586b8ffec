/** The rows of the next file, as columns that grow. @module */
import { type AnyColumn, type ColumnTable, columnOf } from '../values/table/columns.ts'
import { joinColumns, type Piece, rowsOf, typeName } from './join-columns.ts'

/** A client could name more. */
const maxColumns = 1000
/** So many values are put into one column together. */
const maxWaiting = 64
/** What a column takes of each row, also without a value. **Units**: bytes. */
const cellBytes = 13

/** What a flat column has in a row. */
export type Scalar = string | number | bigint | boolean

/** A value of one row. */
export interface Cell {
  /** Of its column. */
  name: string
  /** A column of one row, or for scalars one of their type. */
  readonly column: AnyColumn
  /** Undefined: that row. Null: no value. */
  scalar?: Scalar | null
}

interface Waiting extends Piece {
  readonly scalar?: Scalar | null | undefined
}

/** @returns a column that grows. */
function growing(like: AnyColumn) {
  const joined: Piece[] = []
  let waiting: Waiting[] = []
  const join = () => {
    const column =
      'kind' in like && !like.isBinary
        ? columnOf(
            like.name,
            like.kind,
            waiting.flatMap(({ rows, scalar }) => scalar ?? Array<null>(rows).fill(null)),
          )
        : joinColumns(like, waiting)
    joined.push({ column, rows: rowsOf(waiting) })
    waiting = []
  }
  const grown = {
    type: typeName(like),
    rows: 0,
    add(piece: Waiting) {
      grown.rows += piece.rows
      if (waiting.push(piece) === maxWaiting) join()
    },
    /** Returns the column. Nothing may be added afterwards. */
    finish() {
      join()
      return joinColumns(like, joined)
    },
  }
  return grown
}

/** Collects rows. */
export type RowTable = ReturnType<typeof rowTable>

/**
 * @returns what collects rows whose columns need not be the same. A column has one type: values of others go to one
 * that names it.
 */
export function rowTable() {
  const columns = new Map<string, ReturnType<typeof growing>>()
  const table = {
    rows: 0,
    /** **Units**: bytes. */
    valueBytes: 0,
    /** **Units**: bytes. */
    get bytes() {
      return table.valueBytes + table.rows * columns.size * cellBytes
    },
    /**
     * Adds a row; returns false, and adds nothing, if it brings too many columns, or one with the name of another
     * type. `bytes`: of its values.
     */
    add(given: readonly Cell[], bytes: number): boolean {
      const cells = given.filter(({ scalar }) => scalar !== null)
      const types = cells.map(({ column }) => typeName(column))
      const fits = (name: string, i: number) => (columns.get(name)?.type ?? types[i]) === types[i]
      const names = cells.map(({ name }, i) => (fits(name, i) ? name : `${name} (${types[i]})`))
      const fresh = new Set(names.filter((name) => !columns.has(name)))
      if (columns.size + fresh.size > maxColumns || !names.every(fits)) return false
      for (const [i, { column, scalar }] of cells.entries()) {
        const name = names[i]
        const grown = columns.get(name) ?? growing({ ...column, name })
        columns.set(name, grown)
        // A name that comes twice in a row has its first value.
        if (grown.rows > table.rows) continue
        grown.add({ rows: table.rows - grown.rows, column: undefined })
        grown.add({ rows: 1, column: scalar === undefined ? column : undefined, scalar })
      }
      table.rows++
      table.valueBytes += bytes
      return true
    },
    /** Returns the columns. Nothing may be added afterwards. */
    finish(): ColumnTable<AnyColumn> {
      const { rows } = table
      const all = [...columns.values()].map((grown) => {
        grown.add({ rows: rows - grown.rows, column: undefined })
        return grown.finish()
      })
      return { rows, columns: all }
    },
  }
  return table
}
