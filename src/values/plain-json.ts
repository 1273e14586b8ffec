/**
 * Reads and prints short JSON texts of plain numbers, as arrays and as tables. A call into the add-on costs more than
 * this work, see ADR 026.
 * @module
 */
import { type DType, dataConstructor, floatBytes, isPlainNumber } from '../core/dtype.ts'
import { latin1Text } from '../core/platform.ts'
import { isSpace, skipSpace } from '../core/text/json-syntax.ts'
import { floatText } from '../core/text/number-text.ts'
import { dtypeBounds } from './array/cast-scalars.ts'
import { NDArray } from './array/ndarray.ts'
import { isBit } from './table/bits.ts'
import type { AnyColumn, Column, ColumnTable } from './table/columns.ts'
import type { FrameLayout } from './table/json/frame-codec.ts'
import type { FrameText } from './table/json/frame-plan.ts'

/** Longest text that is read here. **Units**: bytes. */
export const maxPlainBytes = 80

const maxDepth = 8
const maxDigits = 15
/** Powers of ten that are exact doubles: all that numbers of at most 15 digits need. */
const tens = Float64Array.from({ length: maxDigits + 1 }, (_, i) => 10 ** i)

/** The numbers that {@link scanNumber} read, and whether each has a fraction. */
const values = new Float64Array(maxPlainBytes)
const hasFraction = new Uint8Array(maxPlainBytes)

/** Reads the number at `at` as number `index`. Returns its end; -1 for another text, an exponent or many digits. */
function scanNumber(json: Uint8Array, start: number, index: number): number {
  const first = json[start] === 0x2d ? start + 1 : start
  let at = first
  let byte = json[at]
  let value = 0
  for (; byte >= 0x30 && byte <= 0x39; byte = json[++at]) value = value * 10 + (byte - 0x30)
  let digits = at - first
  if (digits === 0 || (digits > 1 && json[first] === 0x30)) return -1
  hasFraction[index] = byte === 0x2e ? 1 : 0
  if (byte === 0x2e) {
    byte = json[++at]
    const point = at
    for (; byte >= 0x30 && byte <= 0x39; byte = json[++at]) value = value * 10 + (byte - 0x30)
    const decimals = at - point
    digits += decimals
    if (decimals === 0 || digits > maxDigits) return -1
    value /= tens[decimals]
  }
  if (digits > maxDigits || (byte | 0x20) === 0x65) return -1
  values[index] = first > start ? -value : value
  return at
}

/**
 * For bodies of at most `maxPlainBytes`.
 *
 * @returns an array of short plain numbers; undefined for other texts.
 */
export function readPlainNumbers(json: Uint8Array, dtype: DType | undefined): NDArray | undefined {
  if (dtype !== undefined && !isPlainNumber(dtype)) return undefined
  const dims: number[] = []
  const outer: number[] = []
  let depth = 0
  let rank = -1
  let count = 0
  let size = 0
  let wantsValue = true
  for (let at = 0; at < json.length; ) {
    const byte = json[at]
    if (isSpace(byte)) {
      at++
    } else if (!wantsValue) {
      if (depth === 0) return undefined
      at++
      if (byte === 0x2c) wantsValue = true
      else if (byte === 0x5d) {
        depth--
        if (dims[depth] === -1) dims[depth] = count
        else if (dims[depth] !== count) return undefined
        count = outer[depth] + 1
      } else return undefined
    } else if (byte === 0x5b) {
      if (depth === rank || depth === maxDepth) return undefined
      if (depth === dims.length) dims.push(-1)
      outer[depth++] = count
      count = 0
      at++
    } else {
      at = scanNumber(json, at, size++)
      if (at === -1) return undefined
      if (rank === -1) rank = depth
      else if (rank !== depth) return undefined
      count++
      wantsValue = false
    }
  }
  if (depth > 0 || wantsValue) return undefined
  return arrayOf(size, dims, dtype ?? 'float64')
}

function arrayOf(size: number, shape: number[], dtype: DType): NDArray | undefined {
  const [low, high] = dtypeBounds[dtype]
  const data = new (dataConstructor(dtype as 'float64'))(size)
  for (let i = 0; i < size; i++) {
    const value = values[i]
    if (!(value > low && value < high)) return undefined
    data[i] = value
  }
  return new NDArray(data, shape, dtype)
}

/** Most elements that are printed here. */
const maxPlainElements = 16

const decimals = 100_000
/** Text in the making: room for all numbers, whose keys take the rest. */
const text = new Uint8Array(1024)

/**
 * Prints a number below 20,000 of at most five decimals at `start`; `width` is the float's, or 0 for integers. Returns
 * its end; -1 for other numbers.
 */
function printNumber(start: number, value: number, width: number): number {
  const size = Math.abs(value)
  if (!(size < 20_000) || (value === 0 && width > 0 && Object.is(value, -0))) return -1
  const scaled = Math.round(size * decimals)
  const short = scaled / decimals
  // Nothing shorter than such a decimal can be the same float.
  if (width === 4 ? scaled >= 1e6 || Math.fround(short) !== size : short !== size) return -1
  let at = start
  if (value < 0) text[at++] = 0x2d
  let place = decimals
  while (place * 10 <= scaled) place *= 10
  for (let rest = scaled; place >= decimals || rest > 0; place = (place / 10) | 0) {
    if (place === decimals / 10) text[at++] = 0x2e
    const digit = (rest / place) | 0
    text[at++] = 0x30 + digit
    rest -= digit * place
  }
  if (width === 0 || scaled % decimals > 0) return at
  text[at++] = 0x2e
  text[at++] = 0x30
  return at
}

/**
 * @returns the text of a list, or of a list of lists, of a few plain numbers; undefined for other
 * arrays.
 */
export function printPlainNumbers({ data, shape, dtype }: NDArray): string | undefined {
  const rank = shape.length
  const size = data.length
  if (size === 0 || size > maxPlainElements || rank === 0 || rank > 2 || !isPlainNumber(dtype))
    return undefined
  const width = floatBytes(dtype)
  let at = 0
  for (let i = 0; i < size; i++) {
    const isFirst = rank === 2 && i % shape[1] === 0
    if (isFirst && i > 0) text[at++] = 0x5d
    if (i > 0) text[at++] = 0x2c
    if (isFirst || i === 0) text[at++] = 0x5b
    if (i === 0 && rank === 2) text[at++] = 0x5b
    at = printNumber(at, data[i] as number, width)
    if (at === -1) return undefined
  }
  for (let i = 0; i < rank; i++) text[at++] = 0x5d
  return latin1Text(text, 0, at)
}

/**
 * @returns the columns of a short list of numbers, or of records with equal keys; undefined for
 * other texts.
 */
export function readPlainTable(json: Uint8Array, layout: FrameLayout): ColumnTable | undefined {
  if (json.length > maxPlainBytes || (layout !== 'series' && layout !== 'frame')) return undefined
  let at = skipSpace(json, 0, json.length)
  if (json[at++] !== 0x5b) return undefined
  const names = layout === 'series' ? [''] : []
  let rows = 0
  let byte = 0
  do {
    at = skipSpace(json, at, json.length)
    at = layout === 'series' ? scanNumber(json, at, rows) : scanRecord(json, at, rows, names)
    if (at === -1) return undefined
    rows++
    at = skipSpace(json, at, json.length)
    byte = json[at++]
  } while (byte === 0x2c)
  if (byte !== 0x5d || skipSpace(json, at, json.length) < json.length) return undefined
  return { rows, columns: names.map((name, i) => columnOfNumbers(name, rows, i, names.length)) }
}

function scanRecord(json: Uint8Array, start: number, row: number, names: string[]): number {
  const end = json.length
  if (json[start] !== 0x7b) return -1
  let at = start
  let byte = 0
  let column = 0
  do {
    const from = skipSpace(json, at + 1, end) + 1
    if (json[from - 1] !== 0x22) return -1
    at = from
    while (json[at] >= 0x20 && json[at] < 0x7f && json[at] !== 0x22 && json[at] !== 0x5c) at++
    if (json[at] !== 0x22) return -1
    const name = latin1Text(json, from, at)
    if (row === 0 && !names.includes(name)) names.push(name)
    else if (row === 0 || names[column] !== name) return -1
    at = skipSpace(json, at + 1, end)
    if (json[at] !== 0x3a) return -1
    at = scanNumber(json, skipSpace(json, at + 1, end), row * names.length + column)
    if (at === -1) return -1
    at = skipSpace(json, at, end)
    byte = json[at]
    column++
  } while (byte === 0x2c)
  if (byte === 0x7d && column === names.length) return at + 1
  return -1
}

const floats = new Float64Array(maxPlainBytes)
const halves = new Int32Array(floats.buffer)
const bytes = new Uint8Array(floats.buffer)

function columnOfNumbers(name: string, rows: number, first: number, step: number): Column {
  let isWhole = true
  for (let i = first; i < first + rows * step; i += step) if (hasFraction[i]) isWhole = false
  for (let row = 0, i = first; row < rows; row++, i += step) {
    if (isWhole) {
      halves[row * 2] = values[i]
      halves[row * 2 + 1] = Math.floor(values[i] / 2 ** 32)
    } else floats[row] = values[i] === 0 && !hasFraction[i] ? 0 : values[i]
  }
  return { name, kind: isWhole ? 'int64' : 'float64', data: bytes.slice(0, rows * 8) }
}

const maxNumberBytes = 24

/**
 * @returns the text of records, or of a series, of a few numbers of 64 bits; undefined for other
 * tables.
 */
export function printPlainTable(
  { rows, columns }: ColumnTable<AnyColumn>,
  layout: FrameText['layout'],
): string | undefined {
  const count = columns.length
  const areRecords = layout === 'records'
  if (
    rows === 0 ||
    count === 0 ||
    rows * count > maxPlainElements ||
    (!areRecords && layout !== 'series')
  )
    return undefined
  for (let i = 0; i < count; i++) {
    const column = columns[i]
    if (!('kind' in column)) return undefined
    const { kind, data } = column
    if ((kind !== 'float64' && kind !== 'int64') || data.length !== rows * 8) return undefined
    bytes.set(data, i * rows * 8)
  }
  let at = 0
  text[at++] = 0x5b
  for (let row = 0; row < rows; row++) {
    if (row > 0) text[at++] = 0x2c
    if (areRecords) text[at++] = 0x7b
    for (let i = 0; i < count; i++) {
      if (i > 0) text[at++] = 0x2c
      if (areRecords) at = printKey(at, columns[i].name)
      if (at === -1) return undefined
      at = printCell(at, columns[i] as Column, row, i * rows + row)
      if (at === -1) return undefined
    }
    if (areRecords) text[at++] = 0x7d
  }
  text[at++] = 0x5d
  return latin1Text(text, 0, at)
}

/** Prints a key of plain ASCII. Returns its end, or -1, also if a number behind it may not fit. */
function printKey(start: number, name: string): number {
  if (start + name.length + 2 * maxNumberBytes > text.length) return -1
  let at = start
  text[at++] = 0x22
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i)
    if (code < 0x20 || code > 0x7e || code === 0x22 || code === 0x5c) return -1
    text[at++] = code
  }
  text[at++] = 0x22
  text[at++] = 0x3a
  return at
}

function printCell(start: number, column: Column, row: number, index: number): number {
  const { validity } = column
  // Not by isValid: JSON on the web comes without frames.
  if (validity !== undefined && !isBit(validity, row)) return put(start, 'null')
  const isInteger = column.kind === 'int64'
  const value = isInteger
    ? halves[index * 2 + 1] * 2 ** 32 + (halves[index * 2] >>> 0)
    : floats[index]
  const end = printNumber(start, value, isInteger ? 0 : 8)
  if (end !== -1) return end
  if (isInteger) return Number.isSafeInteger(value) ? put(start, String(value)) : -1
  // null, as pandas writes: JSON has no words for NaN and the infinities.
  return put(start, Number.isFinite(value) ? floatText(value, 8) : 'null')
}

function put(start: number, ascii: string): number {
  for (let i = 0; i < ascii.length; i++) text[start + i] = ascii.charCodeAt(i)
  return start + ascii.length
}
