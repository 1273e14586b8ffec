/**
 * Columns whose elements are of several kinds: the types that an option names decide how they are read.
 * @module
 */
import type { BadInput } from '../../../core/errors.ts'
import { GrowableBytes } from '../../../core/memory/growable-bytes.ts'
import { runAtOnce, runInSlices, type Slices, slicePixels } from '../../../core/memory/slices.ts'
import type { MaybePromise } from '../../../core/promise.ts'
import { maxFloatBytes, writeFloat } from '../../../core/text/number-text.ts'
import { castToKind } from '../cast-to-kind.ts'
import { bytesAt, type Column, type ColumnTable, isValid, sliceColumn } from '../columns.ts'
import { type FrameType, isNested, kindOfType } from '../frame-dtype.ts'

type Kind = 'str' | 'json' | 'bool' | 'int' | 'float'

/** Elements between two turns: 2 ms. */
const sliceRows = slicePixels / 16

/**
 * Converts columns that hold every element as it was written to columns of the kinds that their elements have. A column
 * of several kinds is converted to texts, which its type then reads: `true` and `false` are 1 and 0 for a type of
 * numbers, else `True` and `False` as in pandas.
 * **Errors**: `refusal`, for elements that differ in a column without a type, or with one that reads no texts.
 */
export function settleKinds(
  table: ColumnTable,
  types: readonly (FrameType | undefined)[],
  refusal: BadInput,
): MaybePromise<ColumnTable> {
  const work = settleAll(table, types, refusal)
  return table.rows * table.columns.length <= sliceRows ? runAtOnce(work) : runInSlices(work)
}

function* settleAll(
  { rows, columns }: ColumnTable,
  types: readonly (FrameType | undefined)[],
  refusal: BadInput,
): Slices<ColumnTable> {
  const settled: Column[] = []
  for (const [i, column] of columns.entries()) settled.push(yield* settle(column, rows, types[i], refusal))
  return { rows, columns: settled }
}

function* settle(column: Column, rows: number, type: FrameType | undefined, refusal: BadInput): Slices<Column> {
  const kind = type === undefined ? undefined : kindOfType(type)
  const isNumeric = kind !== undefined && kind !== 'str' && kind !== 'bool'
  const { texts, kinds } = yield* textsOf(column, rows, isNumeric)
  const [first, ...others] = kinds
  if (first === undefined) return { ...texts, kind: 'float64', data: new Uint8Array(rows * 8), offsets: undefined }
  if (others.length === 0 && first === 'str') return texts
  if (others.length === 0 && first === 'json') return column
  const isNumbers = [...kinds].every((one) => one === 'int' || one === 'float')
  if (isNumbers || (others.length === 0 && !isNumeric)) {
    const natural = kinds.has('float')
      ? (['float64'] as const)
      : isNumbers
        ? (['int64', 'uint64'] as const)
        : ['bool' as const]
    for (const target of natural) {
      const cast = yield* castInSlices(texts, rows, target)
      if (cast !== undefined) return cast
    }
  }
  if (type === undefined || isNested(type) || type === 'Binary') throw refusal
  return texts
}

function* castInSlices(
  texts: Column,
  rows: number,
  kind: 'bool' | 'int64' | 'uint64' | 'float64',
): Slices<Column | undefined> {
  const bytesOf = (count: number) => (kind === 'bool' ? (count + 7) >> 3 : count * 8)
  const data = new Uint8Array(bytesOf(rows))
  for (let start = 0; start < rows; start += sliceRows) {
    if (start > 0) yield
    const end = Math.min(rows, start + sliceRows)
    const piece = castToKind(sliceColumn(texts, start, end), end - start, kind)
    if ('failure' in piece) return undefined
    data.set(piece.data, bytesOf(start))
  }
  const { name, validity } = texts
  return { name, kind, data, ...(validity && { validity }) }
}

const [quote, letterT, letterF, bracket, brace] = [0x22, 0x74, 0x66, 0x5b, 0x7b]

/** Returns the elements as texts, and the kinds of those that are not null. */
function* textsOf(column: Column, rows: number, isNumeric: boolean): Slices<{ texts: Column; kinds: Set<Kind> }> {
  const kinds = new Set<Kind>()
  const out = new GrowableBytes(Buffer.allocUnsafe(column.data.length + 16))
  const offsets = new Int32Array(rows + 1)
  for (let row = 0; row < rows; row++) {
    if (row % sliceRows === 0 && row > 0) yield
    if (isValid(column, row)) kinds.add(appendText(out, bytesAt(column, row), isNumeric))
    offsets[row + 1] = out.length
  }
  const { name, validity } = column
  const texts: Column = { name, kind: 'str', data: out.bytes, offsets, ...(validity && { validity }) }
  return { texts, kinds }
}

/** Appends the text of an element as it was written; returns its kind. */
function appendText(out: GrowableBytes, written: Uint8Array, isNumeric: boolean): Kind {
  const [first] = written
  if (first === bracket || first === brace) {
    out.append(written)
    return 'json'
  }
  const token = Buffer.from(written.buffer, written.byteOffset, written.length)
  if (first === quote) {
    out.append(Buffer.from(JSON.parse(token.toString())))
    return 'str'
  }
  if (first === letterT || first === letterF) {
    out.append(Buffer.from(first === letterT ? (isNumeric ? '1' : 'True') : isNumeric ? '0' : 'False'))
    return 'bool'
  }
  const text = token.toString('latin1')
  if (/^-?\d+$/.test(text)) {
    out.append(text === '-0' ? Buffer.from('0') : written)
    return 'int'
  }
  const value = Number(text)
  if (Number.isFinite(value)) {
    out.reserve(maxFloatBytes)
    out.length = writeFloat(out.buffer, out.length, value, 8)
  } else out.append(Buffer.from(value > 0 ? 'inf' : '-inf'))
  return 'float'
}
