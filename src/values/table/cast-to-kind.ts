/** Casts columns by numpy's rules: truncates toward zero, parses numeric texts, never wraps around. @module */

import { type ColumnKind, elementTypes, floatBytes, isFloat, itemSize } from '../../core/dtype.ts'
import { floatText } from '../../core/text/number-text.ts'
import { type CastFailure, type Cell, type Column, castCells, valueReader } from './columns.ts'

type Value = Exclude<Cell, null>

type Cast = (value: Value) => Value | undefined

/** Casts a column to another kind; nulls stay null. */
export function castToKind(column: Column, rows: number, kind: ColumnKind): Column | CastFailure {
  if (column.kind === kind) return column
  const read = valueReader(column)
  const cast = castTo(kind, column.kind)
  return castCells(column, rows, kind, (row) => cast(read(row)))
}

/** @returns a column in the first of some kinds that it fits, if it fits any. */
export function castToFirst(
  column: Column,
  rows: number,
  kinds: readonly ColumnKind[],
): Column | undefined {
  for (const kind of kinds) {
    const cast = castToKind(column, rows, kind)
    if (!('failure' in cast)) return cast
  }
  return undefined
}

function castTo(kind: ColumnKind, own: ColumnKind): Cast {
  if (kind === 'str') return toText(own)
  if (kind === 'bool') return toFlag
  if (isFloat(kind)) return toFloat(kind === 'float32')
  return toInteger(kind)
}

/** Converts numbers and booleans to text. Floats print as in JSON: shortest for their width, recognisable as floats. */
function toText(own: ColumnKind): Cast {
  const width = floatBytes(own)
  return (value) => {
    if (typeof value === 'boolean') return value ? 'True' : 'False'
    if (width > 0 && Number.isFinite(value)) return floatText(value as number, width)
    return String(value)
  }
}

function toFlag(value: Value): boolean | undefined {
  if (typeof value === 'string') return flags.get(value)
  if (Number.isNaN(value)) return undefined
  return Boolean(value)
}

const flags: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
])

/** Numbers as Python reads them. Each text matches in one way only: a long one takes no more than linear time. */
export const decimal = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/
const words: ReadonlyMap<string, number> = new Map([
  ['nan', Number.NaN],
  ['inf', Number.POSITIVE_INFINITY],
  ['infinity', Number.POSITIVE_INFINITY],
  ['-inf', Number.NEGATIVE_INFINITY],
  ['-infinity', Number.NEGATIVE_INFINITY],
])

function toFloat(isSingle: boolean): Cast {
  return (value) => {
    const number = Number(value)
    const isFinite = Number.isFinite(number)
    if (typeof value === 'string') {
      const word = words.get(value.toLowerCase())
      if (word !== undefined) return word
      if (!decimal.test(value) || !isFinite) return undefined
    }
    if (isSingle && isFinite && !Number.isFinite(Math.fround(number))) return undefined
    return number
  }
}

const integer = /^[+-]?\d{1,20}$/

function toInteger(kind: ColumnKind): Cast {
  const bits = itemSize(kind) * 8
  const isSigned = elementTypes[kind].kind === 'i'
  const size = 2n ** BigInt(bits - Number(isSigned))
  const low = isSigned ? -size : 0n
  const high = size - 1n
  const min = Math.max(Number(low), Number.MIN_SAFE_INTEGER)
  const max = Math.min(Number(high), Number.MAX_SAFE_INTEGER)
  return (value) => {
    let exact: bigint
    if (typeof value === 'number') {
      const whole = Math.trunc(value)
      if (whole >= min && whole <= max) return whole + 0
      if (bits < 64 || !Number.isFinite(whole)) return undefined
      exact = BigInt(whole)
    } else if (typeof value === 'string') {
      if (!integer.test(value)) return undefined
      const short = Number(value)
      if (value.length < 16) return short >= min && short <= max ? short + 0 : undefined
      exact = BigInt(value.replace('+', ''))
    } else exact = BigInt(value)
    if (exact >= low && exact <= high) return exact
    return undefined
  }
}
