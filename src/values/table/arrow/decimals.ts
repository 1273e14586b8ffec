/** Decimals of Arrow: little-endian integers of 4 to 32 bytes, divided by a power of ten. @module */
import { bytesAt, type Column, cellsOf, columnOf } from '../columns.ts'

/** @returns decimals as texts with all of their digits, or the floats next to them. */
export function decimalsAs(
  kind: 'str' | 'float64',
  column: Column,
  rows: number,
  scale: number,
): Column {
  const cells = cellsOf(column, rows, (row) => textOf(column, row, scale))
  return columnOf(column.name, kind, cells)
}

function textOf(column: Column, row: number, scale: number): string {
  const bytes = bytesAt(column, row)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let value = BigInt(view.getInt32(bytes.length - 4, true))
  for (let at = bytes.length - 8; at >= 0; at -= 4)
    value = (value << 32n) | BigInt(view.getUint32(at, true))
  const digits = String(value)
    .replace('-', '')
    .padStart(scale + 1, '0')
  const whole = `${value < 0n ? '-' : ''}${digits.slice(0, digits.length - scale)}`
  return scale === 0 ? whole : `${whole}.${digits.slice(-scale)}`
}
