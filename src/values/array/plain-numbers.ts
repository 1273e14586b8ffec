/** Reads and prints short texts of plain numbers, where a call into the add-on costs more than the work. @module */
import { type DType, dataConstructor, isFloat, isPlainNumber, itemSize } from '../../core/dtype.ts'
import { isSpace } from '../../core/text/json-syntax.ts'
import { asciiText } from '../../core/text/number-text.ts'
import { dtypeBounds } from './cast-scalars.ts'
import { NDArray } from './ndarray.ts'

/** Longest text that is read here. **Units**: bytes. */
export const maxPlainBytes = 80

const maxDepth = 8
const maxDigits = 15
/** Powers of ten that are exact doubles: all that numbers of at most 15 digits need. */
const tens = Float64Array.from({ length: maxDigits + 1 }, (_, i) => 10 ** i)

/** The numbers that {@link scanNumber} read, and whether each has a fraction. */
export const scanned = {
  values: new Float64Array(maxPlainBytes),
  hasFraction: new Uint8Array(maxPlainBytes),
}
const { values, hasFraction } = scanned

/** Reads the number at `at` as number `index`. Returns its end; -1 for another text, an exponent or many digits. */
export function scanNumber(json: Uint8Array, start: number, index: number): number {
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
  return depth > 0 || wantsValue ? undefined : arrayOf(size, dims, dtype ?? 'float64')
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
export const maxPlainElements = 16

const decimals = 100_000
const text = new Uint8Array(maxPlainElements * 16)

/**
 * Prints a number below 20,000 of at most five decimals at `start`; `width` is the float's, or 0 for integers. Returns
 * its end; -1 for other numbers.
 */
export function printNumber(out: Uint8Array, start: number, value: number, width: number): number {
  const size = Math.abs(value)
  if (!(size < 20_000) || (value === 0 && width > 0 && Object.is(value, -0))) return -1
  const scaled = Math.round(size * decimals)
  const short = scaled / decimals
  // Nothing shorter than such a decimal can be the same float.
  if (width === 4 ? scaled >= 1e6 || Math.fround(short) !== size : short !== size) return -1
  let at = start
  if (value < 0) out[at++] = 0x2d
  let place = decimals
  while (place * 10 <= scaled) place *= 10
  for (let rest = scaled; place >= decimals || rest > 0; place = (place / 10) | 0) {
    if (place === decimals / 10) out[at++] = 0x2e
    const digit = (rest / place) | 0
    out[at++] = 0x30 + digit
    rest -= digit * place
  }
  if (width === 0 || scaled % decimals > 0) return at
  out[at++] = 0x2e
  out[at++] = 0x30
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
  const width = isFloat(dtype) ? itemSize(dtype) : 0
  let at = 0
  for (let i = 0; i < size; i++) {
    const isFirst = rank === 2 && i % shape[1] === 0
    if (isFirst && i > 0) text[at++] = 0x5d
    if (i > 0) text[at++] = 0x2c
    if (isFirst || i === 0) text[at++] = 0x5b
    if (i === 0 && rank === 2) text[at++] = 0x5b
    at = printNumber(text, at, data[i] as number, width)
    if (at === -1) return undefined
  }
  for (let i = 0; i < rank; i++) text[at++] = 0x5d
  return asciiText(text, 0, at)
}
