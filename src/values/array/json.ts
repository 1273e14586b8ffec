/** JSON text to arrays by JSON.parse: for what the add-on gives up on, or without it. @module */
import { isAscii, isUtf8 } from 'node:buffer'
import { type DType, elementTypes, isFloat } from '../../core/dtype.ts'
import { parseMarked, syntaxFailure } from '../../core/text/marked-json.ts'
import { float16ToNumber, floatText } from '../../core/text/number-text.ts'
import { requireShort } from '../../core/text/parse-json.ts'
import { bomLength, illFormedAt } from '../../core/text/utf8.ts'
import { castScalars, NumberToken, needsTokens, type Scalar } from './cast-scalars.ts'
import { NDArray } from './ndarray.ts'
import type { NonFinite, NumberCodec, ParseFailure, ParseFailureKind } from './number-codec.ts'
import { maxDimensions, sizeOf } from './shape.ts'

// Words that JSON lacks, and integers that a double may not hold, which JSON.parse would round.
const needsMarks = /NaN|Infinity|\d{16}/
const columnKey = /^(?:0|[1-9]\d{0,14})$/

/**
 * Reads nested lists, a scalar (shape `[]`), or a list of objects keyed by column index, of whose repeated keys the
 * last one counts. RFC 8259 plus NaN, Infinity and -Infinity; skips a byte order mark. **Errors**: those of
 * ParseFailure; PayloadTooLarge above `maxBytes` and `maxParsedValues`, since JSON.parse holds the event loop.
 */
function parseNdarray(
  json: Uint8Array,
  dtype: DType | undefined,
  enforced = false,
  maxBytes?: number,
): NDArray | ParseFailure {
  requireShort(json, 'of an array of strings or objects, or without the native add-on (maxBytes)', maxBytes)
  if (!isUtf8(json)) return { failure: 'encoding', offset: illFormedAt(json) }
  const start = bomLength(json)
  const bytes = Buffer.from(json.buffer, json.byteOffset + start, json.length - start)
  const text = bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8')
  const isMarked = needsTokens(dtype, enforced) || needsMarks.test(text)
  let value: unknown
  try {
    value = isMarked ? parseMarked(text) : JSON.parse(text)
  } catch {
    return syntaxFailure(bytes, text, start)
  }
  const shape = shapeOf(value, isMarked)
  if (shape.length > maxDimensions) return { failure: 'depth' }
  const scalars: Scalar[] = []
  const hasRows = Array.isArray(value) && isObject(value[0])
  const fault = flatten(value, shape, 0, scalars, isMarked, hasRows)
  if (fault !== undefined) return { failure: fault.failure, path: fault.path }
  const cast = castScalars(scalars, dtype, enforced)
  if (!('failure' in cast)) return new NDArray(cast.data, shape, cast.dtype)
  return { failure: cast.failure, path: pathOf(cast.index, shape) }
}

/** Returns the shape that the first elements have; one level too many if they are nested too deeply. */
function shapeOf(value: unknown, isMarked: boolean): number[] {
  const shape: number[] = []
  let level = value
  for (; Array.isArray(level) && shape.length <= maxDimensions; level = level[0]) shape.push(level.length)
  if (shape.length === 1 && isObject(level)) shape.push(columnsOf(level, isMarked).length)
  return shape
}

interface Fault {
  readonly failure: ParseFailureKind
  readonly path: string
}

function flatten(
  value: unknown,
  shape: readonly number[],
  level: number,
  out: Scalar[],
  isMarked: boolean,
  hasRows: boolean,
): Fault | undefined {
  if (level === shape.length) {
    if (Array.isArray(value)) return { failure: 'ragged', path: '' }
    if (isObject(value)) return { failure: 'dtype', path: '' }
    const isToken = isMarked && typeof value === 'string'
    if (!isToken) out.push(value as Scalar)
    else out.push(value.charCodeAt(0) === 0x6e ? new NumberToken(value.slice(1)) : value.slice(1))
    return undefined
  }
  let list = value
  if (level === 1 && isObject(value)) {
    if (!hasRows) return { failure: 'ragged', path: '' }
    const columns = columnsOf(value, isMarked)
    const odd = columns.find((key) => !columnKey.test(key))
    if (odd !== undefined) return { failure: 'dtype', path: `.${odd}` }
    list = columns.map((_, i) => value[isMarked ? `s${i}` : i])
    if (columns.some((_, i) => (list as unknown[])[i] === undefined)) return { failure: 'ragged', path: '' }
    const nested = (list as unknown[]).findIndex((each) => typeof each === 'object' && each !== null)
    if (nested !== -1) return { failure: 'dtype', path: `.${nested}` }
  }
  if (!Array.isArray(list) || list.length !== shape[level] || (level === 1 && hasRows && list === value)) {
    return { failure: isObject(list) && level !== 1 ? 'dtype' : 'ragged', path: '' }
  }
  for (let i = 0; i < list.length; i++) {
    const fault = flatten(list[i], shape, level + 1, out, isMarked, hasRows)
    if (fault !== undefined) return { failure: fault.failure, path: `[${i}]${fault.path}` }
  }
  return undefined
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function columnsOf(row: Readonly<Record<string, unknown>>, isMarked: boolean): string[] {
  const keys = Object.keys(row)
  return isMarked ? keys.map((key) => key.slice(1)) : keys
}

function pathOf(index: number, shape: readonly number[]): string {
  let rest = index
  let path = ''
  for (let level = 0; level < shape.length; level++) {
    const inner = sizeOf(shape.slice(level + 1))
    path += `[${Math.floor(rest / inner)}]`
    rest %= inner
  }
  return path
}

/** The codec that needs no add-on. */
export const typescriptCodec: NumberCodec = { name: 'typescript', parseNdarray, encodeNdarray }

/**
 * Prints compact JSON: floats as the shortest text at their own width, `.0` on integral ones; `[2,0]` is `[[],[]]`,
 * `[0,3]` is `[]`. **Errors**: undefined for a non-finite element under `'error'`.
 */
function encodeNdarray({ shape, data, dtype }: NDArray, nonFinite: NonFinite): string | undefined {
  const empty = shape.indexOf(0)
  if (empty !== -1) return encodeEmpty(shape.slice(0, empty))
  const depth = shape.length
  const last = depth === 0 ? 1 : shape[depth - 1]
  const print = printerOf(dtype, nonFinite)
  let text = '['.repeat(depth)
  let column = 0
  for (let i = 0; i < data.length; i++) {
    if (column === last) {
      text += rowBreak(shape, i)
      column = 0
    } else if (i > 0) text += ','
    const element = print(data[i] as number)
    if (element === undefined) return undefined
    text += element
    column++
  }
  return text + ']'.repeat(depth)
}

type Printer = (element: number) => string | undefined

function printerOf(dtype: DType, nonFinite: NonFinite): Printer {
  if (dtype === 'str') return JSON.stringify
  if (dtype === 'bool') return (element) => (element ? 'true' : 'false')
  if (!isFloat(dtype)) return String
  const width = elementTypes[dtype].bytes
  return (element) => {
    const value = width === 2 ? float16ToNumber(element) : element
    if (Number.isFinite(value)) return floatText(value, width)
    if (nonFinite === 'error') return undefined
    return nonFinite === 'null' ? 'null' : String(value)
  }
}

/** Returns the text between two rows of the last dimension: as many levels close and open as are filled. */
function rowBreak(shape: readonly number[], index: number): string {
  if (shape.length === 2) return '],['
  let levels = 0
  let size = 1
  for (let level = shape.length - 1; level > 0; level--) {
    size *= shape[level]
    if (index % size !== 0) break
    levels++
  }
  return `${']'.repeat(levels)},${'['.repeat(levels)}`
}

function encodeEmpty(shape: readonly number[]): string {
  let text = '[]'
  for (let level = shape.length - 1; level >= 0; level--) text = `[${`${text},`.repeat(shape[level]).slice(0, -1)}]`
  return text
}
