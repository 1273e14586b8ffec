/**
 * JSON text ⇄ flat array elements: the complete codec in plain TypeScript. Used for small bodies, for all bodies with
 * strings or objects, and for everything if the native add-on is not loaded.
 * @module
 */
import type { DType } from '../dtype.ts'
import type { Slices } from '../memory/slices.ts'
import { isSpace, skipSpace } from '../text/json-syntax.ts'
import { bomLength, illFormedAt } from '../text/utf8.ts'
import { Elements } from './elements.ts'
import { encodeNdarray } from './encode.ts'
import { NDArray } from './ndarray.ts'
import type { NumberCodec, ParseFailure, ParseFailureKind } from './number-codec.ts'
import { checkEncoding, scanScalar, scanString, token } from './scan.ts'
import { maxDimensions } from './shape.ts'

/** Powers of ten that are exact doubles: all that numbers of at most 15 digits need. */
const tens = Float64Array.from({ length: 16 }, (_, i) => 10 ** i)

/** Number of bytes read in one slice. */
const sliceBytes = 1 << 13

/** The state of parsing a text: everything that must survive a pause. */
class Walk {
  readonly elements = new Elements()
  /** Number of elements so far in each open list except the innermost; index 0 is outside all lists. */
  readonly counts = new Float64Array(maxDimensions + 1)
  /** Length of the lists at each depth; -1 until the first of them is closed. */
  readonly dims = new Float64Array(maxDimensions + 1).fill(-1)
  pos = 0
  depth = 0
  deepest = 0
  /** Depth of the scalars; -1 until the first scalar or an empty list determines it. */
  rank = -1
  rowsAreObjects = false
  /** Number of elements in the innermost open list, and its maximum: -1 while any number is allowed. */
  count = 0
  limit = -1
  /** Column indexes of the row object being read; empty outside one. */
  columns: number[] = []
  /** Offset at which reading that row resumes; 0 outside one. */
  rowPos = 0
  /** Why the row object could not be read. */
  rowFailure: ParseFailureKind = 'syntax'

  begin(json: Uint8Array, dtype: DType | undefined, enforced: boolean): void {
    this.elements.begin(dtype, enforced)
    this.pos = bomLength(json)
    this.depth = 0
    this.deepest = 0
    this.rank = -1
    this.rowsAreObjects = false
    this.count = 0
    this.limit = -1
    this.rowPos = 0
  }
}

/** For texts that are read without a pause: one per thread is enough. */
const wholeWalk = new Walk()

/**
 * Parses JSON text in TypeScript.
 *
 * **Wire**: nested lists, one scalar (shape `[]`), or a list of objects keyed by column index. Strict RFC 8259 grammar
 * plus the words NaN, Infinity and -Infinity; a UTF-8 byte order mark is skipped.
 * **Errors**: the leftmost error, at the first byte of its token; at the closing bracket for a list that is too short,
 * at the end of the text for one that is cut off. An extra list or element is `ragged` at its start. Within one token
 * the order is syntax, depth, ragged, then the cast. Text that is not UTF-8 is always reported as `encoding`, at the
 * first byte of the first ill-formed sequence. Our choices: `dtype` for an object that is not an element of the outer
 * list, for a key that is not a column index, and for a list or object as a value in a row; `ragged` at the closing
 * brace for a row whose keys are not 0…n-1, each once, with the n of the first row (at the key, if there is one too
 * many); `ragged` for lists among objects.
 * **Cost**: one pass and, for numbers, one copy; there are never more elements than bytes.
 */
function parseNdarray(json: Uint8Array, dtype: DType | undefined, enforced = false): NDArray | ParseFailure {
  const { elements } = wholeWalk
  token.sawNonAscii = false
  wholeWalk.begin(json, dtype, enforced)
  const shape = walk(json, wholeWalk, json.length + 1) as number[] | ParseFailure
  const result = 'failure' in shape ? shape : new NDArray(elements.finish(), shape, elements.resultType())
  elements.release()
  return checkText(json, result, token.sawNonAscii)
}

/** As `parseNdarray` of the codec, in slices. The text must not change until the last slice is done. */
export function* parseInSlices(
  json: Uint8Array,
  dtype: DType | undefined,
  enforced = false,
): Slices<NDArray | ParseFailure> {
  const own = new Walk()
  const { elements } = own
  let sawNonAscii = false
  own.begin(json, dtype, enforced)
  for (;;) {
    token.sawNonAscii = false
    const shape = walk(json, own, (own.rowPos || own.pos) + sliceBytes)
    sawNonAscii ||= token.sawNonAscii
    yield
    elements.progress(own.rowPos || own.pos, json.length)
    if (shape === undefined) continue
    if ('failure' in shape) return checkText(json, shape, sawNonAscii)
    const data = yield* elements.finishInSlices()
    return checkText(json, new NDArray(data, shape, elements.resultType()), sawNonAscii)
  }
}

/**
 * Checks that the text is UTF-8. Bytes from 0x80 up are syntax errors outside strings, so only strings can hide any.
 */
function checkText(json: Uint8Array, result: NDArray | ParseFailure, sawNonAscii: boolean): NDArray | ParseFailure {
  if ('failure' in result) return checkEncoding(json, result)
  if (!sawNonAscii) return result
  const offset = illFormedAt(json)
  return offset === -1 ? result : { failure: 'encoding', offset }
}

/**
 * Continues parsing. Returns the shape at the end of the text; undefined after a pause, which is due from `pauseAt` on.
 */
function walk(json: Uint8Array, state: Walk, pauseAt: number): number[] | ParseFailure | undefined {
  const end = json.length
  const { elements, counts, dims } = state
  // Fields copied to locals: the inner loop then uses registers only.
  let { pos, depth, deepest, rank, rowsAreObjects, count, limit } = state
  const { low, high } = elements
  let { values, count: stored } = elements

  text: for (;;) {
    // A value must start here. Past the end the byte reads as 0, which starts no value.
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
      // By far the most common scalar, digits with an optional fraction, is parsed inline.
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
      // More digits or an exponent need the full scanner; 15 digits also keep integers below 2^53.
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
        pos = walkRow(json, state, start, pauseAt)
        stored = elements.count
        if (pos === 0) {
          pos = start
          break
        }
        if (pos < 0) return { failure: state.rowFailure, offset: -pos }
        values = elements.values
        count++
      } else {
        pos = scanScalar(json, start, end)
        if (pos < 0) return { failure: 'syntax', offset: start }
        if ((depth !== rank && rank !== -1) || count === limit) return { failure: 'ragged', offset: start }
        rank = depth
        count++
        elements.stored(stored)
        const failure = putScalar(elements, json, start, pos)
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
        return shape
      }
      const mark = pos < end ? json[pos] : 0
      if (mark === 0x2c) {
        pos++
        if (pos >= pauseAt) break text
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
  elements.stored(stored)
  // Inline, not in a function: locals that a closure captures are kept in memory instead of registers.
  state.pos = pos
  state.depth = depth
  state.deepest = deepest
  state.rank = rank
  state.rowsAreObjects = rowsAreObjects
  state.count = count
  state.limit = limit
  return undefined
}

/** Reads `{"0": scalar, …}`. Returns the offset after it, the negated offset of an error, or 0 after a pause. */
function walkRow(json: Uint8Array, state: Walk, open: number, pauseAt: number): number {
  const { elements, dims } = state
  const end = json.length
  const width = dims[2]
  if (state.rowPos === 0) state.columns = []
  const { columns } = state
  let pos = state.rowPos === 0 ? skipSpace(json, open + 1, end) : state.rowPos
  state.rowPos = 0
  if (json[pos] !== 0x7d) {
    for (;;) {
      if (pos >= pauseAt) {
        state.rowPos = pos
        return 0
      }
      const key = pos
      pos = json[key] === 0x22 ? scanString(json, key, end) : -1
      if (pos < 0) return refuse(state, 'syntax', key)
      const column = /^(?:0|[1-9]\d{0,14})$/.test(token.text) ? Number(token.text) : -1
      pos = skipSpace(json, pos, end)
      if (json[pos] !== 0x3a) return refuse(state, 'syntax', pos)
      if (column < 0) return refuse(state, 'dtype', key)
      if (columns.length === width) return refuse(state, 'ragged', key)
      const value = skipSpace(json, pos + 1, end)
      if (json[value] === 0x5b || json[value] === 0x7b) return refuse(state, 'dtype', value)
      pos = scanScalar(json, value, end)
      if (pos < 0) return refuse(state, 'syntax', value)
      const failure = putScalar(elements, json, value, pos)
      if (failure !== undefined) return refuse(state, failure, value)
      columns.push(column)
      pos = skipSpace(json, pos, end)
      if (json[pos] === 0x7d) break
      if (json[pos] !== 0x2c) return refuse(state, 'syntax', pos)
      pos = skipSpace(json, pos + 1, end)
    }
  }
  if (width === -1) dims[2] = columns.length
  else if (columns.length !== width) return refuse(state, 'ragged', pos)
  if (columns.some((column, i) => column !== i)) {
    if (!isPermutation(columns)) return refuse(state, 'ragged', pos)
    elements.orderRow(columns)
  }
  return pos + 1
}

/** Whether a list of n numbers contains each number from 0 to n - 1 once. */
function isPermutation(numbers: readonly number[]): boolean {
  const seen = new Uint8Array(numbers.length)
  for (const number of numbers) {
    if (number >= seen.length || seen[number] === 1) return false
    seen[number] = 1
  }
  return true
}

/** Records a failure and returns its negated offset, which is never 0: the row's opening brace comes before it. */
function refuse(state: Walk, failure: ParseFailureKind, offset: number): number {
  state.rowFailure = failure
  return -offset
}

function putScalar(elements: Elements, json: Uint8Array, start: number, end: number): ParseFailureKind | undefined {
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

/**
 * The complete codec in TypeScript. **Cost**: about 0.2 µs for a 2×4 body of short numbers either way; see
 * `bench/micro/ndarray-codec.ts`.
 */
export const typescriptCodec: NumberCodec = { name: 'typescript', parseNdarray, encodeNdarray }
