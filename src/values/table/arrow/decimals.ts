/** Decimals of Arrow: little-endian integers of 4 to 32 bytes, divided by a power of ten. @module */
import { bytesAt, type Column, isValid } from '../columns.ts'

/** @returns decimals as texts with all of their digits. */
export function decimalTexts(
  column: Column,
  rows: number,
  { scale }: { readonly scale: number },
): Column {
  const texts = Array.from({ length: rows }, (_, row) =>
    isValid(column, row) ? textOf(column, row, scale) : '',
  )
  const offsets = new Int32Array(rows + 1)
  for (const [row, { length }] of texts.entries()) offsets[row + 1] = offsets[row] + length
  const data = Buffer.allocUnsafeSlow(offsets[rows])
  data.write(texts.join(''), 'latin1')
  const { name, validity } = column
  return { name, kind: 'str', data, offsets, validity }
}

/** @returns the floats next to decimals. */
export function decimalNumbers(
  column: Column,
  rows: number,
  { scale }: { readonly scale: number },
): Column {
  const numbers = new Float64Array(rows)
  for (let row = 0; row < rows; row++)
    if (isValid(column, row)) numbers[row] = Number(textOf(column, row, scale))
  const { name, validity } = column
  return {
    name,
    kind: 'float64',
    data: new Uint8Array(numbers.buffer),
    validity,
  }
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
