/** JSON text to arrays by JSON.parse: for what the add-on gives up on, or without it. @module */
import { type DType, elementTypes, isFloat } from '../../core/dtype.ts'
import { isRecord } from '../../core/options.ts'
import { isAscii, isUtf8, latin1Text, utf8Text } from '../../core/platform.ts'
import { parseMarked, syntaxFailure } from '../../core/text/marked-json.ts'
import { float16ToNumber, floatText } from '../../core/text/number-text.ts'
import { requireShort } from '../../core/text/parse-json.ts'
import { bomLength, illFormedAt } from '../../core/text/utf8.ts'
import { castScalars, NumberToken, needsTokens, type Scalar } from './cast-scalars.ts'
import { NDArray } from './ndarray.ts'
import { flattenInto, foldShape, nestElements, shapeOfLists } from './nested.ts'
import type { NonFinite, NumberCodec, ParseFailure } from './number-codec.ts'
import { maxDimensions, sizeOf } from './shape.ts'

// Words that JSON lacks, and integers that a double may not hold, which JSON.parse would round.
const needsMarks = /NaN|Infinity|\d{16}/
const columnKey = /^(?:0|[1-9]\d{0,14})$/

/**
 * Reads nested lists, a scalar (shape `[]`), or a list of objects keyed by column index, of whose
 * repeated keys the last one counts. RFC 8259 plus NaN, Infinity and -Infinity; skips a byte order
 * mark.
 *
 * @throws those of ParseFailure; PayloadTooLarge above `maxBytes` and `maxParsedValues`, since
 * JSON.parse holds the event loop.
 */
function parseNdarray(
  json: Uint8Array,
  dtype: DType | undefined,
  enforced = false,
  maxBytes?: number,
): NDArray | ParseFailure {
  const parsed = parseScalars(json, dtype, enforced, maxBytes)
  if ('failure' in parsed) return parsed
  return arrayOf(parsed, dtype, enforced)
}

function arrayOf(
  { scalars, shape }: Scalars,
  dtype: DType | undefined,
  enforced: boolean,
): NDArray | ParseFailure {
  const cast = castScalars(scalars, dtype, enforced)
  if (!('failure' in cast)) return new NDArray(cast.data, shape, cast.dtype)
  return { failure: cast.failure, path: pathOf(cast.index, shape) }
}

/**
 * Reads an array of texts whose nulls are empty texts, and where they are.
 *
 * @throws as for other arrays.
 */
export function parseTexts(
  json: Uint8Array,
): { readonly array: NDArray; readonly nulls: number[] } | ParseFailure {
  const parsed = parseScalars(json, 'str', false)
  if ('failure' in parsed) return parsed
  const nulls: number[] = []
  const scalars = parsed.scalars.map((scalar, i) => {
    if (scalar === null) nulls.push(i)
    return scalar ?? ''
  })
  const array = arrayOf({ ...parsed, scalars }, 'str', false)
  if ('failure' in array) return array
  return { array, nulls }
}

interface Scalars {
  readonly scalars: readonly Scalar[]
  readonly shape: readonly number[]
}

function parseScalars(
  json: Uint8Array,
  dtype: DType | undefined,
  enforced: boolean,
  maxBytes?: number,
): Scalars | ParseFailure {
  requireShort(
    json,
    'of an array of strings or objects, or without the native add-on (maxBytes)',
    maxBytes,
  )
  if (!isUtf8(json)) return { failure: 'encoding', offset: illFormedAt(json) }
  const start = bomLength(json)
  const bytes = json.subarray(start)
  const text = isAscii(bytes) ? latin1Text(bytes) : utf8Text(bytes)
  const isMarked = needsTokens(dtype, enforced) || needsMarks.test(text)
  let value: unknown
  try {
    value = isMarked ? parseMarked(text) : JSON.parse(text)
  } catch {
    return syntaxFailure(bytes, text, start)
  }
  const rows = Array.isArray(value) && isRecord(value[0]) ? listsOf(value, isMarked) : undefined
  if (rows !== undefined && 'failure' in rows) return rows
  const lists = rows ?? value
  const shape = shapeOfLists(lists)
  if (shape.length > maxDimensions) return { failure: 'depth' }
  const scalars: Scalar[] = []
  const misfit = flattenInto(lists, shape, (element) => {
    if (!isMarked || typeof element !== 'string') scalars.push(element as Scalar)
    else if (element[0] === 'n') scalars.push(new NumberToken(element.slice(1)))
    else scalars.push(element.slice(1))
    return !isRecord(element)
  })
  if (misfit !== undefined) {
    // An object beside lists is an odd row.
    const isRow = shape.length > 1 && misfit.path.lastIndexOf('[') === 0
    return { failure: isRecord(misfit.value) && !isRow ? 'dtype' : 'ragged', path: misfit.path }
  }
  return { scalars, shape }
}

/** @returns rows keyed by column index as lists of one length. */
function listsOf(rows: readonly unknown[], isMarked: boolean): unknown[][] | ParseFailure {
  const lists: unknown[][] = []
  for (const [i, row] of rows.entries()) {
    const path = `[${i}]`
    if (!isRecord(row)) return { failure: 'ragged', path }
    const columns = Object.keys(row).map((key) => key.slice(Number(isMarked)))
    const odd = columns.find((key) => !columnKey.test(key))
    if (odd !== undefined) return { failure: 'dtype', path: `${path}.${odd}` }
    const list = columns.map((_, column) => row[isMarked ? `s${column}` : column])
    if (list.includes(undefined)) return { failure: 'ragged', path }
    const nested = list.findIndex((each) => typeof each === 'object' && each !== null)
    if (nested !== -1) return { failure: 'dtype', path: `${path}.${nested}` }
    if (i > 0 && list.length !== lists[0].length) return { failure: 'ragged', path }
    lists.push(list)
  }
  return lists
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
 * Prints compact JSON: floats as the shortest text at their own width, `.0` on integral ones;
 * `[2,0]` is `[[],[]]`, `[0,3]` is `[]`.
 *
 * @throws undefined for a non-finite element under `'error'`.
 */
function encodeNdarray({ shape, data, dtype }: NDArray, nonFinite: NonFinite): string | undefined {
  if (dtype === 'str') return JSON.stringify(nestElements(data, shape, dtype))
  const print = printerOf(dtype, nonFinite)
  let isPrinted = true
  const element = (i: number) => {
    const text = print(data[i] as number)
    isPrinted &&= text !== undefined
    return text ?? ''
  }
  const text = foldShape(shape, element, (list) => `[${list.join()}]`)
  if (isPrinted) return text
  return undefined
}

type Printer = (element: number) => string | undefined

function printerOf(dtype: DType, nonFinite: NonFinite): Printer {
  if (dtype === 'bool') return (element) => String(element !== 0)
  if (!isFloat(dtype)) return String
  const width = elementTypes[dtype].bytes
  return (element) => {
    const value = width === 2 ? float16ToNumber(element) : element
    if (Number.isFinite(value)) return floatText(value, width)
    if (nonFinite === 'error') return undefined
    if (nonFinite === 'null') return 'null'
    return String(value)
  }
}
