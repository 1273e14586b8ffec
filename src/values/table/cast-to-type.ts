/** Casts columns of every type to the types that an option names. @module */
import { isUtf8 } from 'node:buffer'
import type { ColumnKind } from '../../core/dtype.ts'
import { latin1Text } from '../../core/platform.ts'
import { castToKind } from './cast-to-kind.ts'
import {
  type AnyColumn,
  bytesAt,
  type CastFailure,
  type Column,
  contiguousText,
  isValid,
  rowOfElement,
  type TimeType,
} from './columns.ts'
import { type FrameType, isNested, itemOfType, kindOfType, timeOfType } from './frame-dtype.ts'
import { convertTimes, exactTimes, parseTimes, printTimes } from './times.ts'

/**
 * @returns a column of nested type as JSON, so that a CSV cell `[1,2]` is read as a list; else a
 * list as text.
 */
export function markNested(
  column: AnyColumn,
  rows: number,
  type: FrameType | undefined,
): AnyColumn {
  if (type === undefined || !('kind' in column) || column.kind !== 'str' || column.isBinary)
    return column
  if (isNested(type)) return { ...contiguousText(column, rows), isJson: true }
  if (type !== 'Utf8' || column.isJson === undefined) return column
  const { isJson: _, ...text } = column
  return text
}

/** Casts a column; nulls stay null. A category is cast later, by Polars. */
export function castToType(
  column: AnyColumn,
  rows: number,
  type: FrameType,
): AnyColumn | CastFailure {
  if (isNested(type)) return castNested(column, rows, type)
  if (!('kind' in column)) return { failure: 'misfit', row: Math.max(0, firstValue(column, rows)) }
  const time = timeOfType(type)
  if (time !== undefined) return castTime(column, rows, time)
  if (type === 'Binary') return fromBase64(column, rows)
  const kind = kindOfType(type)
  if (kind === undefined) return column
  if (column.isBinary) return fromBytes(column, rows, kind)
  return castToKind(
    kind === 'str' ? printTimes(column, rows, exactTimes) : withoutTime(column),
    rows,
    kind,
  )
}

function withoutTime({ time: _, ...column }: Column): Column {
  return column
}

function castTime(column: Column, rows: number, time: TimeType): Column | CastFailure {
  if (column.time !== undefined) return convertTimes(column, rows, time)
  if (column.kind === 'str' && column.isBinary === undefined) return parseTimes(column, rows, time)
  const misfit = (column.kind === 'bool' || column.isBinary) && unlessEmpty(column, rows)
  if (misfit) return misfit
  const numbers = castToKind(column, rows, time.type === 'date' ? 'int32' : 'int64')
  if ('failure' in numbers) return numbers
  return { ...numbers, time }
}

function castNested(column: AnyColumn, rows: number, type: FrameType): AnyColumn | CastFailure {
  const isOf = type === 'Struct' ? 'fields' in column : 'items' in column
  const misfit = !isOf && unlessEmpty(column, rows)
  if (misfit) return misfit
  const item = itemOfType(type)
  if (item === undefined || !('items' in column)) return column
  const items = castToType(column.items, column.offsets[rows], item)
  if (!('failure' in items)) return { ...column, items }
  return { failure: 'misfit', row: rowOfElement(column.offsets, items.row) }
}

/** @returns why a column does not fit, unless all of it is null. */
function unlessEmpty(column: AnyColumn, rows: number): CastFailure | undefined {
  const row = firstValue(column, rows)
  return row === -1 ? undefined : { failure: 'misfit', row }
}

function firstValue(column: AnyColumn, rows: number): number {
  for (let row = 0; row < rows; row++) if (isValid(column, row)) return row
  return -1
}

/** Casts bytes to text, where they must be UTF-8. A column of nulls alone is cast to any kind. */
function fromBytes(column: Column, rows: number, kind: ColumnKind): Column | CastFailure {
  const { isBinary: _, ...text } = column
  for (let row = 0; row < rows; row++) {
    if (isValid(column, row) && (kind !== 'str' || !isUtf8(bytesAt(column, row))))
      return { failure: 'misfit', row }
  }
  return castToKind(text, rows, kind)
}

const base64 = /^[A-Za-z0-9+/_-]*={0,2}$/

function fromBase64(column: Column, rows: number): Column | CastFailure {
  if (column.isBinary) return column
  if (column.kind !== 'str')
    return { failure: 'misfit', row: Math.max(0, firstValue(column, rows)) }
  const offsets = new Int32Array(rows + 1)
  const data = Buffer.allocUnsafeSlow(column.data.length)
  for (let row = 0; row < rows; row++) {
    offsets[row + 1] = offsets[row]
    if (!isValid(column, row)) continue
    const text = latin1Text(bytesAt(column, row))
    if (!base64.test(text)) return { failure: 'misfit', row }
    offsets[row + 1] += data.write(text, offsets[row], 'base64')
  }
  const { name, validity } = column
  return {
    name,
    kind: 'str',
    isBinary: true,
    data: data.subarray(0, offsets[rows]),
    offsets,
    validity,
  }
}
