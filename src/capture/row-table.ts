/** The rows of the next file, as columns that grow. @module */
import { type AnyColumn, type ColumnTable, columnOf } from '../values/table/columns.ts'
import { hasTypeOf, joinColumns, type Piece, rowsOf, typeName } from './join-columns.ts'

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

/** @returns a column that grows. */
function growing(type: AnyColumn, name: string) {
  const like = { ...type, name }
  const joined: Piece[] = []
  const scalarKind = 'kind' in like && !like.isBinary ? like.kind : undefined
  let scalars: (Scalar | null)[] = []
  let pieces: Piece[] = []
  const join = () => {
    const rows = scalars.length + rowsOf(pieces)
    if (rows === 0) return
    const column =
      scalarKind === undefined
        ? joinColumns(like, pieces)
        : columnOf(like.name, scalarKind, scalars)
    joined.push({ column, rows })
    scalars = []
    pieces = []
  }
  const grown = {
    rows: 0,
    /** Whether a column has its type. */
    takes: (column: AnyColumn) => column === type || hasTypeOf(like, column),
    /** Adds a row. */
    add({ column, scalar = null }: Cell) {
      grown.rows++
      const waiting =
        scalarKind === undefined ? pieces.push({ column, rows: 1 }) : scalars.push(scalar)
      if (waiting === maxWaiting) join()
    },
    /** Adds rows of nulls. */
    padTo(rows: number) {
      if (rows === grown.rows) return
      join()
      joined.push({ column: undefined, rows: rows - grown.rows })
      grown.rows = rows
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
  const fits = (name: string, column: AnyColumn) => columns.get(name)?.takes(column) ?? true
  /** The name of a column, or of one beside it for another type. Undefined: that one has a third type. */
  const nameOf = ({ name, column }: Cell) => {
    if (fits(name, column)) return name
    const beside = `${name} (${typeName(column)})`
    return fits(beside, column) ? beside : undefined
  }
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
      const names = cells.map(nameOf)
      const fresh = names.filter((name) => name !== undefined && !columns.has(name)).length
      if (names.includes(undefined) || columns.size + fresh > maxColumns) return false
      for (const [i, cell] of cells.entries()) {
        const name = names[i] as string
        let grown = columns.get(name)
        if (grown === undefined) {
          grown = growing(cell.column, name)
          columns.set(name, grown)
        }
        // A name that comes twice in a row has its first value.
        if (grown.rows > table.rows) continue
        grown.padTo(table.rows)
        grown.add(cell)
      }
      table.rows++
      table.valueBytes += bytes
      return true
    },
    /** Returns the columns. Nothing may be added afterwards. */
    finish(): ColumnTable<AnyColumn> {
      const { rows } = table
      const all = [...columns.values()].map((grown) => {
        grown.padTo(rows)
        return grown.finish()
      })
      return { rows, columns: all }
    },
  }
  return table
}
