/**
 * JSON text ⇄ flat array elements: the codec in plain TypeScript, complete in itself. It answers small bodies, everything with
 * strings or objects, and all bodies where the native add-on is missing.
 * @module
 */
import type { DType } from '../dtype.ts'
import { illFormedAt } from '../text/utf8.ts'
import { elements } from './elements.ts'
import { encodeNdarray } from './encode.ts'
import { NDArray } from './ndarray.ts'
import type { NumberCodec, ParseFailure, ParseFailureKind } from './number-codec.ts'
import { checkEncoding, isSpace, scanScalar, scanString, skipSpace, token } from './scan.ts'
import { maxDimensions } from './shape.ts'

/** Powers of ten that are exact doubles and small enough for the scanner's 15 digits. */
const tens = Float64Array.from({ length: 16 }, (_, i) => 10 ** i)

/** Elements so far in each open list but the innermost; index 0 is outside all lists. Parsing is synchronous: one is enough. */
const counts = new Float64Array(maxDimensions + 1)
/** Length of the lists at each depth, -1 until the first of them has closed. */
const dims = new Float64Array(maxDimensions + 1).fill(-1)

/** Why the row object could not be read; its offset is the answer of `parseRow`, negated. */
let rowFailure: ParseFailureKind = 'syntax'

/**
 * JSON text becomes flat elements.
 *
 * **Wire**: nested lists, one scalar (shape `[]`), or a list of objects keyed by column index. Strict RFC 8259 grammar plus the words NaN,
 * Infinity and -Infinity; a UTF-8 byte order mark is skipped.
 * **Errors**: the first offence from the left is reported, at the first byte of its token (at the closing bracket for a list that
 * is too short, at the end of the text for one that is cut off); a list or an element too many is `ragged` where it starts. Within
 * one token the order is syntax, depth, ragged, then the cast. Text that is not UTF-8 is always reported as `encoding`, at the first
 * byte of the first ill-formed sequence. Our choices: an object elsewhere than as an element of the outer list is `dtype`, as is a key that
 * is no column index and a list or object as a value; a row whose keys are not 0…n-1, each once, with n of the first row,
 * is `ragged` at its closing brace (at the key, for one too many); lists among objects are `ragged`.
 * **Cost**: one pass and, for numbers, one copy; elements never outnumber the bytes.
 */
function parseNdarray(json: Uint8Array, dtype: DType | undefined): NDArray | ParseFailure {
  elements.begin(dtype)
  token.sawNonAscii = false
  const result = parse(json)
  elements.release()
  // Outside of strings a byte from 0x80 up ends the parse anyway, so that a good text without such strings is ASCII.
  if ('failure' in result) return checkEncoding(json, result)
  if (!token.sawNonAscii) return result
  const offset = illFormedAt(json)
  return offset === -1 ? result : { failure: 'encoding', offset }
}

function parse(json: Uint8Array): NDArray | ParseFailure {
  const end = json.length
  let pos = end >= 3 && json[0] === 0xef && json[1] === 0xbb && json[2] === 0xbf ? 3 : 0
  let depth = 0
  let deepest = 0
  // Depth at which the scalars live, -1 until the first of them or an empty list tells.
  let rank = -1
  let rowsAreObjects = false
  // Elements of the innermost open list, and how many it may have: -1 while that is open.
  let count = 0
  let limit = -1
  // Fields as locals: the inner loop then touches registers only.
  const { low, high } = elements
  let { values } = elements
  let stored = 0

  for (;;) {
    // A value is due. Past the end the byte reads as 0, which starts nothing.
    while (pos < end && isSpace(json[pos])) pos++
    const start = pos
    let byte = pos < end ? json[pos] : 0

    if (byte === 0x5b) {
      if (depth === maxDimensions) return { failure: 'depth', offset: start }
      if (depth === rank || count === limit || (rowsAreObjects && depth === 1))
        return { failure: 'ragged', offset: start }
      counts[depth++] = count + 1
      if (depth > deepest) {
        deepest = depth
        dims[depth] = -1
      }
      count = 0
      limit = dims[depth]
      pos++
      while (pos < end && isSpace(json[pos])) pos++
      if (pos >= end || json[pos] !== 0x5d) continue
    } else {
      // The commonest scalar by far, digits with an optional fraction, is read in place.
      const negative = byte === 0x2d
      let value = 0
      let next = negative ? pos + 1 : pos
      const first = next
      byte = next < end ? json[next] : 0
      if (byte === 0x30) byte = ++next < end ? json[next] : 0
      else {
        while (byte >= 0x30 && byte <= 0x39) {
          value = value * 10 + (byte - 0x30)
          byte = ++next < end ? json[next] : 0
        }
      }
      let plain = next > first
      let digits = next - first
      if (plain && byte === 0x2e) {
        const point = ++next
        byte = next < end ? json[next] : 0
        while (byte >= 0x30 && byte <= 0x39) {
          value = value * 10 + (byte - 0x30)
          byte = ++next < end ? json[next] : 0
        }
        const decimals = next - point
        digits += decimals
        if (decimals === 0) plain = false
        else if (digits <= 15) value /= tens[decimals]
      }
      if (negative) value = -value
      // More digits or an exponent need the careful scanner; 15 digits also keep the integers below 2^53.
      if (plain && digits <= 15 && (byte | 0x20) !== 0x65 && value > low && value < high && !elements.holdsStrings) {
        if (depth !== rank) {
          if (rank !== -1) return { failure: 'ragged', offset: start }
          rank = depth
        }
        if (count === limit) return { failure: 'ragged', offset: start }
        count++
        if (stored === values.length) {
          elements.stored(stored)
          elements.grow()
          values = elements.values
        }
        values[stored++] = value
        pos = next
      } else if (byte === 0x7b && next === start) {
        if (depth !== 1) return { failure: depth === rank || count === limit ? 'ragged' : 'dtype', offset: start }
        if ((rank !== -1 || count > 0) && !rowsAreObjects) return { failure: 'ragged', offset: start }
        rowsAreObjects = true
        rank = 2
        if (deepest < 2) {
          deepest = 2
          dims[2] = -1
        }
        elements.stored(stored)
        pos = parseRow(json, start, end)
        if (pos < 0) return { failure: rowFailure, offset: -pos }
        stored = elements.count
        values = elements.values
        count++
      } else {
        pos = scanScalar(json, start, end)
        if (pos < 0) return { failure: 'syntax', offset: start }
        if ((depth !== rank && rank !== -1) || count === limit) return { failure: 'ragged', offset: start }
        rank = depth
        count++
        elements.stored(stored)
        const failure = putScalar(json, start, pos)
        if (failure !== undefined) return { failure, offset: start }
        stored = elements.count
        values = elements.values
      }
    }

    // A value has ended.
    for (;;) {
      while (pos < end && isSpace(json[pos])) pos++
      if (depth === 0) {
        if (pos < end) return { failure: 'syntax', offset: pos }
        elements.stored(stored)
        const shape = new Array<number>(rank === -1 ? 0 : rank)
        for (let i = 0; i < shape.length; i++) shape[i] = dims[i + 1]
        return new NDArray(elements.finish(), shape, elements.resultType())
      }
      const mark = pos < end ? json[pos] : 0
      if (mark === 0x2c) {
        pos++
        break
      }
      if (mark !== 0x5d) return { failure: 'syntax', offset: pos }
      if (limit === -1) {
        dims[depth] = count
        if (rank === -1) rank = depth
      } else if (count !== limit) return { failure: 'ragged', offset: pos }
      pos++
      depth--
      count = counts[depth]
      limit = depth === 0 ? -1 : dims[depth]
    }
  }
}

/** Reads `{"0": scalar, …}` into the collector. Answers the offset behind it, or an offence's offset negated. */
function parseRow(json: Uint8Array, open: number, end: number): number {
  const columns: number[] = []
  const width = dims[2]
  let pos = skipSpace(json, open + 1, end)
  if (json[pos] !== 0x7d) {
    for (;;) {
      const key = pos
      pos = json[key] === 0x22 ? scanString(json, key, end) : -1
      if (pos < 0) return refuse('syntax', key)
      const column = /^(?:0|[1-9]\d{0,14})$/.test(token.text) ? Number(token.text) : -1
      pos = skipSpace(json, pos, end)
      if (json[pos] !== 0x3a) return refuse('syntax', pos)
      if (column < 0) return refuse('dtype', key)
      if (columns.length === width) return refuse('ragged', key)
      const value = skipSpace(json, pos + 1, end)
      if (json[value] === 0x5b || json[value] === 0x7b) return refuse('dtype', value)
      pos = scanScalar(json, value, end)
      if (pos < 0) return refuse('syntax', value)
      const failure = putScalar(json, value, pos)
      if (failure !== undefined) return refuse(failure, value)
      columns.push(column)
      pos = skipSpace(json, pos, end)
      if (json[pos] === 0x7d) break
      if (json[pos] !== 0x2c) return refuse('syntax', pos)
      pos = skipSpace(json, pos + 1, end)
    }
  }
  if (width === -1) dims[2] = columns.length
  else if (columns.length !== width) return refuse('ragged', pos)
  if (columns.some((column, i) => column !== i)) {
    const sorted = [...columns].sort((a, b) => a - b)
    if (sorted.some((column, i) => column !== i)) return refuse('ragged', pos)
    elements.orderRow(columns)
  }
  return pos + 1
}

/** Every offence in a row lies behind its brace, so that a negated offset is never 0. */
function refuse(failure: ParseFailureKind, offset: number): number {
  rowFailure = failure
  return -offset
}

function putScalar(json: Uint8Array, start: number, end: number): ParseFailureKind | undefined {
  switch (token.kind) {
    case 'number':
      return elements.putNumber(json, start, end)
    case 'word':
      return elements.putWord(token.word)
    case 'null':
      return elements.putNull()
    case 'string':
      return elements.putString(token.text)
    default:
      return elements.putBool(token.kind === 'true')
  }
}

/** The complete codec in TypeScript. **Cost**: about 0.2 µs for a 2×4 body of short numbers either way; see `bench/micro/ndarray-codec.ts`. */
export const typescriptCodec: NumberCodec = { name: 'typescript', parseNdarray, encodeNdarray }
