/**
 * Parses the lines of a CSV text in plain TypeScript, for use without the native add-on. Returns the same columns, and
 * the same errors at the same offsets, as native/src/csv_parse.cpp, within the limits of what JavaScript reads.
 * @module
 */
import { PayloadTooLarge } from '../../../core/errors.ts'
import { defaultMaxBytes, maxParsedValues } from '../../../core/text/parse-json.ts'
import { decimal } from '../cast-to-kind.ts'
import { type Column, type ColumnTable, columnOf } from '../columns.ts'
import { type CsvFailure, maxFrameCells } from '../json/frame-codec.ts'
import { csvMarks, fieldEnd, missingWords, unquoted } from './csv.ts'

const { comma, newline, carriageReturn } = csvMarks

const [space, tab] = [0x20, 0x09]
const limited = 'of CSV that is read without the native add-on'

/** The fields of a column without their quotes, in the order of the lines; undefined: a missing value. */
type Fields = readonly (Buffer | undefined)[]

/** See `FrameCodec`. **Errors**: PayloadTooLarge. */
export function parseCsv(lines: Uint8Array, names: readonly string[], isText: Uint8Array): ColumnTable | CsvFailure {
  if (lines.length > defaultMaxBytes) {
    throw new PayloadTooLarge(`expected at most ${defaultMaxBytes} bytes ${limited}, received ${lines.length}`)
  }
  const fields = readFields(Buffer.from(lines.buffer, lines.byteOffset, lines.length), names.length)
  if ('failure' in fields) return fields
  const columns = names.map((name, i) => {
    const texts = () => fields[i].map((field) => field?.toString() ?? null)
    return (isText[i] === 1 ? undefined : typedColumn(fields[i], name)) ?? columnOf(name, 'str', texts())
  })
  return { rows: fields[0].length, columns }
}

/** Returns the fields of each column; why the lines are not a table. */
function readFields(bytes: Buffer, width: number): readonly Fields[] | CsvFailure {
  const maxCells = maxFrameCells(bytes.length)
  const columns = Array.from({ length: width }, (): (Buffer | undefined)[] => [])
  let count = 0
  for (let at = 0, row = 0; at < bytes.length; ) {
    // Blank lines, and the second byte of \r\n.
    if (bytes[at] === newline || bytes[at] === carriageReturn) {
      at++
      continue
    }
    const line = at
    let fields = 0
    do {
      if (fields === width) return { failure: 'ragged', offset: line, row }
      const end = fieldEnd(bytes, at)
      if (end === -1) return { failure: 'quote', offset: at, row }
      columns[fields++].push(valueOf(bytes.subarray(at, end)))
      at = end + 1
    } while (bytes[at - 1] === comma)
    count += fields
    // A line may lack fields.
    for (; fields < width; fields++) columns[fields].push(undefined)
    if (++row * width > maxCells) return { failure: 'cells', offset: line, row: row - 1 }
    if (count > maxParsedValues) {
      throw new PayloadTooLarge(`expected at most ${maxParsedValues} fields ${limited}, received more`)
    }
  }
  return columns
}

function valueOf(written: Buffer): Buffer | undefined {
  const field = unquoted(written)
  const isMissing = field.length <= longestMissing && missing.has(field.toString('latin1'))
  return isMissing ? undefined : field
}

const missing: ReadonlySet<string> = new Set(missingWords)
const longestMissing = Math.max(...missingWords.map((word) => word.length))

/** Reads the fields of a column by their one type; returns undefined if they are text or of several types. */
function typedColumn(fields: Fields, name: string): Column | undefined {
  const values: (null | boolean | number | bigint)[] = []
  let kind: 'null' | 'bool' | 'int' | 'float' = 'null'
  // Of integers: beyond int64, beyond uint64, below zero or -0, which differs from 0 as a float.
  let [isLarge, isHuge, isNegative] = [false, false, false]
  for (const field of fields) {
    const scalar = field === undefined ? undefined : scalarOf(field)
    values.push(scalar?.value ?? null)
    if (field === undefined) continue
    if (scalar === undefined) return undefined
    const { value, isInteger } = scalar
    const own = typeof value === 'boolean' ? 'bool' : isInteger ? 'int' : 'float'
    if (kind !== 'null' && (kind === 'bool') !== (own === 'bool')) return undefined
    kind = kind === 'float' ? kind : own
    if (typeof value === 'boolean' || !isInteger) continue
    isNegative ||= value < 0 || Object.is(value, -0)
    if (typeof value !== 'bigint') continue
    isLarge ||= BigInt.asIntN(64, value) !== value
    isHuge ||= BigInt.asUintN(64, value) !== value && BigInt.asIntN(64, value) !== value
  }
  if (kind === 'bool') return columnOf(name, 'bool', values)
  if (kind !== 'int') return columnOf(name, 'float64', values)
  if (!isLarge) return columnOf(name, 'int64', values)
  return isHuge || isNegative ? undefined : columnOf(name, 'uint64', values)
}

interface FieldScalar {
  readonly value: boolean | number | bigint
  /** Whether it is a number without a fraction or an exponent. */
  readonly isInteger?: true
}

const integer = /^[+-]?\d+$/
const infinity = /^[+-]?(?:inf|infinity)$/i
const flag = /^(?:true|false)$/i

/** Returns what a field says; undefined for text. Blanks around a number are ignored. */
function scalarOf(field: Buffer): FieldScalar | undefined {
  let [start, end] = [0, field.length]
  while (start < end && isBlank(field[start])) start++
  while (start < end && isBlank(field[end - 1])) end--
  const text = field.toString('latin1', start, end)
  if (decimal.test(text)) {
    const value = Number(text)
    // As in pandas, a number beyond the range of floats stays text.
    if (!Number.isFinite(value)) return undefined
    if (!integer.test(text)) return { value }
    if (Number.isSafeInteger(value)) return { value, isInteger: true }
    const magnitude = BigInt(text.replace(/^[+-]?0*/, ''))
    return { value: value < 0 ? -magnitude : magnitude, isInteger: true }
  }
  if (infinity.test(text)) return { value: text[0] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY }
  const word = flag.test(text) && text.length === field.length
  return word ? { value: text.toLowerCase() === 'true' } : undefined
}

function isBlank(byte: number): boolean {
  return byte === space || byte === tab
}
