/** Columns whose elements are of several kinds: the types that an option names decide how they are read. @module */
import type { ColumnKind } from '../../../core/dtype.ts'
import type { BadInput } from '../../../core/errors.ts'
import { floatText } from '../../../core/text/number-text.ts'
import { castToFirst } from '../cast-to-kind.ts'
import {
  type AnyColumn,
  type Column,
  type ColumnTable,
  cellsOf,
  columnOf,
  textAt,
} from '../columns.ts'
import { type FrameType, isNested, kindOfType } from '../frame-dtype.ts'

type Kind = 'str' | 'json' | 'bool' | 'int' | 'float'

/**
 * Converts columns of elements as written to columns of their kinds. One of several kinds becomes
 * texts, which its type reads: `true` is 1 for numbers, else `True` as in pandas.
 *
 * @param refusal - Undefined for columns whose elements are of one kind each, which stay.
 * @throws `refusal`, for mixed elements without a type for texts.
 */
export function settleKinds(
  table: ColumnTable<AnyColumn>,
  types: readonly (FrameType | undefined)[],
  refusal: BadInput | undefined,
): ColumnTable<AnyColumn> {
  if (refusal === undefined) return table
  const { rows, columns } = table as ColumnTable
  return { rows, columns: columns.map((column, i) => settle(column, rows, types[i], refusal)) }
}

function settle(
  column: Column,
  rows: number,
  type: FrameType | undefined,
  refusal: BadInput,
): Column {
  const kind = type && kindOfType(type)
  const isNumeric = kind !== undefined && kind !== 'str' && kind !== 'bool'
  const kinds = new Set<Kind>()
  const values = cellsOf(column, rows, (row) => {
    const [own, text] = read(textAt(column, row), isNumeric)
    kinds.add(own)
    return text
  })
  const [first, ...others] = kinds
  if (first === undefined) return columnOf(column.name, 'float64', values)
  if (others.length === 0 && first === 'json') return column
  const texts = columnOf(column.name, 'str', values)
  if (others.length === 0 && first === 'str') return texts
  const isNumbers = [...kinds].every((one) => one === 'int' || one === 'float')
  if (isNumbers || (others.length === 0 && !isNumeric)) {
    const others: ColumnKind[] = isNumbers ? ['int64', 'uint64'] : ['bool']
    const cast = castToFirst(texts, rows, kinds.has('float') ? ['float64'] : others)
    if (cast) return cast
  }
  if (type === undefined || isNested(type) || type === 'Binary') throw refusal
  return texts
}

function read(written: string, isNumeric: boolean): readonly [Kind, string] {
  switch (written[0]) {
    case '[':
    case '{':
      return ['json', written]
    case '"':
      return ['str', JSON.parse(written)]
    case 't':
      return ['bool', isNumeric ? '1' : 'True']
    case 'f':
      return ['bool', isNumeric ? '0' : 'False']
  }
  if (/^-?\d+$/.test(written)) return ['int', written === '-0' ? '0' : written]
  const value = Number(written)
  if (Number.isFinite(value)) return ['float', floatText(value, 8)]
  return ['float', value > 0 ? 'inf' : '-inf']
}
