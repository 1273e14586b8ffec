/**
 * Parses the lines of a CSV text in plain TypeScript, for use without the native add-on. Returns the same columns, and
 * the same errors at the same offsets, as native/src/csv_parse.cpp, within the limits of what JavaScript reads.
 * @module
 */
import { PayloadTooLarge } from '../../../core/errors.ts'
import { defaultMaxBytes, maxParsedValues } from '../../../core/text/parse-json.ts'
import { decimal } from '../cast-to-kind.ts'
import { type Column, type ColumnTable, columnOf } from '../columns.ts'
import { maxFrameCells } from '../json/frame-codec.ts'
import { type CsvFailure, type CsvParser, csvMarks, fieldEnd, missingWords, unquoted } from './csv.ts'

const { comma, newline, carriageReturn } = csvMarks

/** The parser used without the add-on. */
export const typescriptCsvParser: CsvParser = { parse: parseLines }

const [space, tab] = [0x20, 0x09]

function parseLines(lines: Uint8Array, names: readonly string[], isText: Uint8Array): ColumnTable | CsvFailure {
  if (lines.length > defaultMaxBytes) {
    throw new PayloadTooLarge(`expected at most ${defaultMaxBytes} bytes ${limited}, received ${lines.length}`)
  }
  const cells = new Cells(lines, names.length)
  const failure = cells.scan()
  if (failure !== undefined) return failure
  const columns = names.map((name, i) => {
    return (isText[i] === 1 ? undefined : typedColumn(cells, i, name)) ?? textColumn(cells, i, name)
  })
  return { rows: cells.rows, columns }
}

const limited = 'of CSV that is read without the native add-on'

/** Where the fields of all lines are. */
class Cells {
  rows = 0
  #fields = 0
  readonly #bytes: Buffer
  readonly #width: number
  /** For each field of each row, where it starts and ends; a field that its line lacks is empty. */
  #bounds = new Uint32Array(64)

  constructor(lines: Uint8Array, width: number) {
    this.#bytes = Buffer.from(lines.buffer, lines.byteOffset, lines.length)
    this.#width = width
  }

  /** Finds all fields; returns why the lines are not a table. */
  scan(): CsvFailure | undefined {
    const bytes = this.#bytes
    const maxCells = maxFrameCells(bytes.length)
    for (let at = 0; at < bytes.length; ) {
      // Blank lines, and the second byte of \r\n.
      if (bytes[at] === newline || bytes[at] === carriageReturn) at++
      else {
        const end = this.#row(at)
        if (typeof end !== 'number') return end
        if ((this.rows + 1) * this.#width > maxCells) return { failure: 'cells', offset: at, row: this.rows }
        this.rows++
        if (this.#fields > maxParsedValues) {
          throw new PayloadTooLarge(`expected at most ${maxParsedValues} fields ${limited}, received more`)
        }
        at = end
      }
    }
    return undefined
  }

  /** Reads the line that starts at `line`; returns where the next one starts. */
  #row(line: number): number | CsvFailure {
    const { rows: row } = this
    const bounds = this.#boundsOf(row)
    let at = line
    for (let i = 0; i < this.#width; i++) {
      const end = fieldEnd(this.#bytes, at)
      if (end === -1) return { failure: 'quote', offset: at, row }
      bounds[i * 2] = at
      bounds[i * 2 + 1] = end
      this.#fields++
      at = end + 1
      if (this.#bytes[end] !== comma) return at
    }
    return { failure: 'ragged', offset: line, row }
  }

  #boundsOf(row: number): Uint32Array {
    const size = this.#width * 2
    if (this.#bounds.length < (row + 1) * size) {
      const grown = new Uint32Array(Math.max(this.#bounds.length * 2, (row + 1) * size))
      grown.set(this.#bounds)
      this.#bounds = grown
    }
    return this.#bounds.subarray(row * size, (row + 1) * size)
  }

  /** Returns the text of a field without its quotes; undefined for a missing value. */
  field(row: number, column: number): Buffer | undefined {
    const at = (row * this.#width + column) * 2
    const written = this.#bytes.subarray(this.#bounds[at], this.#bounds[at + 1])
    const field = unquoted(written)
    const isMissing = field.length <= longestMissing && missing.has(field.toString('latin1'))
    return isMissing ? undefined : field
  }
}

const missing: ReadonlySet<string> = new Set(missingWords)
const longestMissing = Math.max(...missingWords.map((word) => word.length))

/** Reads the fields of a column by their one type; returns undefined if they are text or of several types. */
function typedColumn(cells: Cells, at: number, name: string): Column | undefined {
  const { rows } = cells
  const values: (null | boolean | number | bigint)[] = []
  let kind: 'null' | 'bool' | 'int' | 'float' = 'null'
  // Of integers: beyond int64, beyond uint64, below zero or -0, which differs from 0 as a float.
  let [isLarge, isHuge, isNegative] = [false, false, false]
  for (let row = 0; row < rows; row++) {
    const field = cells.field(row, at)
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

function textColumn(cells: Cells, at: number, name: string): Column {
  return columnOf(
    name,
    'str',
    Array.from({ length: cells.rows }, (_, row) => cells.field(row, at)?.toString() ?? null),
  )
}
