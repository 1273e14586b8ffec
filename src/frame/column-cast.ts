/**
 * Casts columns by numpy's rules: truncation toward zero, numeric texts parsed, never wrapped around. Here and not in
 * Polars, since a Polars series costs 0.4 ms to look at and its errors name no row.
 * @module
 */

import { type ColumnKind, elementTypes, isFloat, itemSize } from '../dtype.ts'
import { maxFloatBytes, writeFloat } from '../text/number-text.ts'
import { bytesAt, type Column, columnOf, isValid, numberReader } from './columns.ts'

type Value = number | bigint | boolean | string

/** Returns an element as the target kind has it; undefined if it does not fit. */
type Cast = (value: Value) => Value | undefined

/** The first row whose element does not fit. */
export interface CastFailure {
  readonly failure: 'misfit'
  readonly row: number
}

/** Casts a column to another kind; nulls stay null. */
export function castColumn(column: Column, rows: number, kind: ColumnKind): Column | CastFailure {
  if (column.kind === kind) return column
  const read = readerOf(column)
  const cast = castTo(kind, column.kind)
  const values = new Array<Value | null>(rows)
  for (let row = 0; row < rows; row++) {
    if (!isValid(column, row)) values[row] = null
    else {
      const value = cast(read(row))
      if (value === undefined) return { failure: 'misfit', row }
      values[row] = value
    }
  }
  return columnOf(column.name, kind, values)
}

function readerOf(column: Column): (row: number) => Value {
  const { kind, data } = column
  if (kind === 'str') return (row) => Buffer.from(bytesAt(column, row)).toString()
  if (kind === 'bool') return (row) => (data[row >> 3] & (1 << (row & 7))) !== 0
  return numberReader(column)
}

function castTo(kind: ColumnKind, from: ColumnKind): Cast {
  if (kind === 'str') return isFloat(from) ? floatText(itemSize(from)) : String
  if (kind === 'bool') return toFlag
  return isFloat(kind) ? toFloat(kind === 'float32') : toInteger(kind)
}

const scratch = new Uint8Array(maxFloatBytes + 8)

/** Floats print as in JSON: shortest for their width, and visibly floats. */
function floatText(width: number): Cast {
  return (value) => {
    if (!Number.isFinite(value)) return String(value)
    return Buffer.from(scratch.subarray(0, writeFloat(scratch, 0, value as number, width))).toString('latin1')
  }
}

function toFlag(value: Value): boolean | undefined {
  if (typeof value !== 'string') return Number.isNaN(value) ? undefined : Boolean(value)
  if (value === 'true' || value === 'True') return true
  return value === 'false' || value === 'False' ? false : undefined
}

const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/
const words: ReadonlyMap<string, number> = new Map([
  ['nan', Number.NaN],
  ['inf', Number.POSITIVE_INFINITY],
  ['infinity', Number.POSITIVE_INFINITY],
  ['-inf', Number.NEGATIVE_INFINITY],
  ['-infinity', Number.NEGATIVE_INFINITY],
])

function toFloat(isSingle: boolean): Cast {
  return (value) => {
    let number: number
    if (typeof value === 'string') {
      const word = words.get(value.toLowerCase())
      if (word !== undefined) return word
      if (!decimal.test(value)) return undefined
      number = Number(value)
      if (!Number.isFinite(number)) return undefined
    } else number = Number(value)
    return isSingle && Number.isFinite(number) && !Number.isFinite(Math.fround(number)) ? undefined : number
  }
}

const integer = /^[+-]?\d{1,20}$/

function toInteger(kind: ColumnKind): Cast {
  const bits = itemSize(kind) * 8
  const isSigned = elementTypes[kind].kind === 'i'
  const low = isSigned ? -(2n ** BigInt(bits - 1)) : 0n
  const high = 2n ** BigInt(isSigned ? bits - 1 : bits) - 1n
  // Narrow kinds need no bigints, and small numbers none for wide ones.
  const min = bits === 64 ? (isSigned ? Number.MIN_SAFE_INTEGER : 0) : Number(low)
  const max = bits === 64 ? Number.MAX_SAFE_INTEGER : Number(high)
  return (value) => {
    let exact: bigint
    if (typeof value === 'number') {
      const whole = Math.trunc(value)
      if (whole >= min && whole <= max) return whole + 0
      if (bits < 64 || !Number.isFinite(whole)) return undefined
      exact = BigInt(whole)
    } else if (typeof value === 'string') {
      if (!integer.test(value)) return undefined
      // BigInt takes no plus sign.
      exact = BigInt(value.startsWith('+') ? value.slice(1) : value)
    } else exact = BigInt(value)
    return exact >= low && exact <= high ? exact : undefined
  }
}
