/** Reads short texts of plain numbers, where a call into the add-on costs more than the reading. @module */
import { type DType, dataConstructor, isPlainNumber } from '../../core/dtype.ts'
import { isSpace } from '../../core/text/json-syntax.ts'
import { dtypeBounds } from './cast-scalars.ts'
import { NDArray } from './ndarray.ts'

/** Longest text that is read here. **Units**: bytes. */
export const maxPlainBytes = 80

const maxDepth = 8
const maxDigits = 15
/** Powers of ten that are exact doubles: all that numbers of at most 15 digits need. */
const tens = Float64Array.from({ length: maxDigits + 1 }, (_, i) => 10 ** i)

/** The numbers that {@link scanNumber} read, and whether each has a fraction. */
export const scanned = { values: new Float64Array(maxPlainBytes), hasFraction: new Uint8Array(maxPlainBytes) }
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

/** Returns an array of short plain numbers; undefined for other texts. For bodies of at most `maxPlainBytes`. */
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
