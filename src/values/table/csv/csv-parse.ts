/**
 * Parses the lines of a CSV text in plain TypeScript, for use without the native add-on. Returns the same columns, and
 * the same errors at the same offsets, as native/src/csv_parse.cpp, within the limits of what JavaScript reads.
 * @module
 */
import { PayloadTooLarge } from '../../../core/errors.ts'
import { defaultMaxBytes, maxParsedValues } from '../../../core/text/parse-json.ts'
import { castToFirst, decimal } from '../cast-to-kind.ts'
import { type Cell, type Column, type ColumnTable, columnOf } from '../columns.ts'
import { type CsvFailure, maxFrameCells } from '../json/frame-codec.ts'
import { csvMarks, fieldEnd, missingWords, unquoted } from './csv.ts'

const { comma, newline, carriageReturn } = csvMarks

const limited = 'of CSV that is read without the native add-on'

/** The fields of a column without their quotes, in the order of the lines; undefined: a missing value. */
type Fields = readonly (Buffer | undefined)[]

/**
 * See `FrameCodec`.
 *
 * @throws PayloadTooLarge.
 */
export function parseCsv(
  lines: Uint8Array,
  names: readonly string[],
  isText: Uint8Array,
): ColumnTable | CsvFailure {
  if (lines.length > defaultMaxBytes) {
    throw new PayloadTooLarge(
      `expected at most ${defaultMaxBytes} bytes ${limited}, received ${lines.length}`,
    )
  }
  const fields = readFields(Buffer.from(lines.buffer, lines.byteOffset, lines.length), names.length)
  if ('failure' in fields) return fields
  const columns = names.map((name, i) => {
    const typed = isText[i] === 0 && typedColumn(fields[i], name)
    if (typed) return typed
    const texts = fields[i].map((field) => field?.toString() ?? null)
    return columnOf(name, 'str', texts)
  })
  return { rows: fields[0].length, columns }
}

/** @returns the fields of each column; why the lines are not a table. */
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
      throw new PayloadTooLarge(
        `expected at most ${maxParsedValues} fields ${limited}, received more`,
      )
    }
  }
  return columns
}

function valueOf(written: Buffer): Buffer | undefined {
  const field = unquoted(written)
  const isMissing = field.length <= longestMissing && missing.has(field.toString('latin1'))
  if (isMissing) return undefined
  return field
}

const missing: ReadonlySet<string> = new Set(missingWords)
const longestMissing = Math.max(...missingWords.map((word) => word.length))

const odd = /[^\t -~]/
const integer = /^[+-]?\d+$/
const infinity = /^[+-]?inf(?:inity)?$/i
const flag = /^(?:true|false)$/i

/**
 * @returns the kind of a field without the blanks around it; `isBare`: it had no blanks, as a flag
 * must.
 */
function kindOf(text: string, isBare: boolean): 'int' | 'float' | 'bool' | 'str' {
  if (infinity.test(text)) return 'float'
  // As in pandas, a number beyond the range of floats stays text.
  if (decimal.test(text) && Number.isFinite(Number(text)))
    return integer.test(text) ? 'int' : 'float'
  if (isBare && flag.test(text)) return 'bool'
  return 'str'
}

/** Reads the fields of a column by their one type; returns undefined if they are text or of several types. */
function typedColumn(fields: Fields, name: string): Column | undefined {
  const kinds = new Set<ReturnType<typeof kindOf>>()
  const texts = fields.map((field) => {
    const whole = field?.toString('latin1')
    const text = whole === undefined || odd.test(whole) ? whole : whole.trim()
    if (text !== undefined) kinds.add(kindOf(text, text === whole))
    return text
  })
  const cells = (read: (text: string) => Cell) =>
    texts.map((text) => (text === undefined ? null : read(text)))
  if (kinds.has('str') || (kinds.has('bool') && kinds.size > 1)) return undefined
  if (kinds.has('bool')) return columnOf(name, 'bool', cells(flagOf))
  if (kinds.has('float') || kinds.size === 0) return columnOf(name, 'float64', cells(floatOf))
  const digits = columnOf(name, 'str', cells(withoutZeros))
  // -0 differs from 0 as a float, and so from an unsigned one.
  const isSigned = texts.some((text) => text?.startsWith('-'))
  return castToFirst(digits, texts.length, isSigned ? ['int64'] : ['int64', 'uint64'])
}

const flagOf = (text: string) => text.toLowerCase() === 'true'
const withoutZeros = (text: string) => text.replace(/^([+-]?)0+(?=\d)/, '$1')

function floatOf(text: string): number {
  const isInfinite = infinity.test(text)
  return Number(isInfinite ? text.replace(/inf.*/i, 'Infinity') : text)
}
