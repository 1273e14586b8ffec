/**
 * Row labels: pandas' index, kept beside a frame and not as a column of it.
 * @module
 */
import { expected, InvalidArgument } from '../errors.ts'
import { bytesAt, type Column, columnOf, numberReader } from './columns.ts'

/** A row's label. Integers beyond ±2^53 are bigints. */
export type Label = string | number | bigint

/** Frames and series → their labels as a column of int64 or str. Weak: the labels go when the frame does. */
const kept = new WeakMap<object, Column>()

/** Puts labels beside a frame. Undefined, or 0, 1, 2, …: none are kept. */
export function keepLabels(frame: object, labels: Column | undefined): void {
  if (labels === undefined || isRange(labels)) kept.delete(frame)
  else kept.set(frame, labels)
}

/** The labels beside a frame; undefined means 0, 1, 2, … */
export function keptLabels(frame: object): Column | undefined {
  return kept.get(frame)
}

/** Labels become a list. **Units**: `rows` many; without labels 0, 1, 2, … */
export function listLabels(labels: Column | undefined, rows: number): Label[] {
  if (labels === undefined) return Array.from({ length: rows }, (_, row) => row)
  if (labels.kind === 'str')
    return Array.from({ length: rows }, (_, row) => Buffer.from(bytesAt(labels, row)).toString())
  const read = numberReader(labels)
  return Array.from({ length: rows }, (_, row) => {
    const value = read(row)
    return Number.isSafeInteger(Number(value)) ? Number(value) : value
  })
}

/**
 * A list becomes labels.
 * **Errors**: InvalidArgument for another number than `rows`, and when they are neither all strings nor all integers of the int64 range.
 */
export function parseLabels(list: readonly Label[], rows: number): Column {
  if (!Array.isArray(list) || list.length !== rows) {
    throw new InvalidArgument(
      expected(`a list of ${rows} labels`, 'withLabels', Array.isArray(list) ? list.length : list),
    )
  }
  const isText = typeof list[0] === 'string'
  const other = list.find((label) => (isText ? typeof label !== 'string' : !isInt64(label)))
  if (other !== undefined)
    throw new InvalidArgument(expected('labels all strings or all integers', 'withLabels', other))
  return columnOf('', isText ? 'str' : 'int64', list)
}

function isInt64(label: Label): boolean {
  if (typeof label === 'number') return Number.isSafeInteger(label)
  return typeof label === 'bigint' && BigInt.asIntN(64, label) === label
}

function isRange(labels: Column): boolean {
  if (labels.kind !== 'int64') return false
  const read = numberReader(labels)
  for (let row = 0; row < labels.data.length / 8; row++) if (read(row) !== BigInt(row)) return false
  return true
}

/**
 * Labels that were object keys: integers again when every one is written as an integer is, so that nothing is lost either way.
 * `"1"` becomes 1; `"01"`, `"1.5"` and `"-0"` keep all of them strings.
 */
export function labelsOfKeys(labels: Column): Column {
  const rows = (labels.offsets as Int32Array).length - 1
  const words = new Int32Array(rows * 2)
  for (let row = 0; row < rows; row++) {
    const value = integerOf(bytesAt(labels, row))
    if (value === undefined) return labels
    words[row * 2] = value | 0
    words[row * 2 + 1] = Math.floor(value / 4294967296)
  }
  return { name: '', kind: 'int64', data: new Uint8Array(words.buffer) }
}

function integerOf(text: Uint8Array): number | undefined {
  const start = text[0] === 0x2d ? 1 : 0
  const digits = text.length - start
  // 15 digits are always exact.
  if (digits < 1 || digits > 15 || (text[start] === 0x30 && text.length > 1)) return undefined
  let value = 0
  for (let i = start; i < text.length; i++) {
    const digit = text[i] - 0x30
    if (digit < 0 || digit > 9) return undefined
    value = value * 10 + digit
  }
  return start === 1 ? -value : value
}
