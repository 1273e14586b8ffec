/**
 * A column while its elements are read from JSON.
 * @module
 */
import { type Column, columnOf } from '../columns.ts'
import type { Scalar, ScalarKind } from './json-reader.ts'

// A column without any value is float64, like numpy's missing value.
const columnKindOf = {
  null: 'float64',
  bool: 'bool',
  int: 'int64',
  uint: 'uint64',
  float: 'float64',
  str: 'str',
  json: 'str',
} as const

/** The elements that were read, and their common kind. */
export class ColumnDraft {
  name: string
  kind: ScalarKind = 'null'
  /** Elements by row; sparse: rows without an element have none. */
  readonly values: Scalar[] = []
  // Whether one of its integers is negative.
  #isSigned = false

  constructor(name: string) {
    this.name = name
  }

  /** Sets the element of a row. Returns false if it is of another kind than those before it. */
  put(row: number, value: Scalar, kind: ScalarKind): boolean {
    this.values[row] = value
    this.#isSigned ||= kind === 'int' && (value as number | bigint) < 0
    if (kind === 'null') return true
    const common = this.kind === 'null' ? kind : commonKind(this.kind, kind)
    if (common === undefined || (common === 'uint' && this.#isSigned)) return false
    this.kind = common
    return true
  }

  /** Returns the column of so many rows. */
  finish(rows: number): Column {
    const cells = Array.from({ length: rows }, (_, row) => this.values[row] ?? null)
    const column = columnOf(this.name, columnKindOf[this.kind], cells)
    return this.kind === 'json' ? { ...column, isJson: true } : column
  }
}

const numbers: readonly ScalarKind[] = ['int', 'uint', 'float']

function commonKind(a: ScalarKind, b: ScalarKind): ScalarKind | undefined {
  if (a === b) return a
  if (!numbers.includes(a) || !numbers.includes(b)) return undefined
  return a === 'float' || b === 'float' ? 'float' : 'uint'
}
