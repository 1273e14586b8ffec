/**
 * Reads the header of CSV text; what is below it is for a {@link CsvParser}. A {@link CsvWriter} writes it.
 * Source: RFC 4180; pandas' `read_csv` for names and missing values.
 * @module
 */
import { bomLength } from '../../../core/text/utf8.ts'
import type { ColumnTable } from '../columns.ts'
import { maxFrameColumns } from '../json/frame-codec.ts'

/** Words for a missing value. **Source**: pandas 2.2, `read_csv`, `na_values`. */
export const missingWords = [
  '',
  '#N/A',
  '#N/A N/A',
  '#NA',
  '-1.#IND',
  '-1.#QNAN',
  '-NaN',
  '-nan',
  '1.#IND',
  '1.#QNAN',
  '<NA>',
  'N/A',
  'NA',
  'NULL',
  'NaN',
  'None',
  'n/a',
  'nan',
  'null',
] as const

/** Why lines are not a table, in the order of `CsvError` in native/src/csv_parse.h. */
export const csvFailures = ['ragged', 'quote', 'cells'] as const

/** Why a text is not a frame, and where. */
export interface CsvFailure {
  readonly failure: (typeof csvFailures)[number] | 'empty' | 'encoding' | 'columns' | 'header'
  /** **Units**: bytes. */
  readonly offset: number
  /** **Units**: lines of data from 0. */
  readonly row?: number
}

/**
 * Parses the lines below a CSV header with the columns `names`. Columns that `isText` marks are text whatever they
 * contain.
 */
export interface CsvParser {
  parse(lines: Uint8Array, names: readonly string[], isText: Uint8Array): ColumnTable | CsvFailure
  /** Returns the same off the event loop. The lines must not change until the promise settles. */
  parseAsync?(lines: Uint8Array, names: readonly string[], isText: Uint8Array): Promise<ColumnTable | CsvFailure>
}

/**
 * Writes columns of numbers, booleans and text as CSV. Text is quoted if it is empty or has a comma, a quote or an end
 * of line in it; a null is an empty field.
 */
export type CsvWriter = (table: ColumnTable) => Uint8Array

/** A text whose header has been read. */
export interface CsvText {
  /** The text without a byte order mark. */
  readonly bytes: Uint8Array
  /** Names of the columns as written, in their order. */
  readonly names: readonly string[]
  /** Where `bytes` starts in the body, and where the lines below the header start in `bytes`. **Units**: bytes. */
  readonly start: number
  readonly linesAt: number
}

const quote = 0x22
const comma = 0x2c
const newline = 0x0a
const carriageReturn = 0x0d

/** Maximum length of a header: reading it blocks the event loop for 10 ms. **Units**: bytes. */
const maxHeaderBytes = 2 ** 21

/** Reads the header of CSV text, which is UTF-8. **Cost**: that of the header. */
export function openCsv(csv: Uint8Array): CsvText | CsvFailure {
  const start = bomLength(csv)
  const bytes = csv.subarray(start)
  let at = 0
  while (bytes[at] === newline || bytes[at] === carriageReturn) at++
  if (at >= bytes.length) return { failure: 'empty', offset: start }
  const isLong = bytes.length - at > maxHeaderBytes
  const line = new CsvLine(isLong ? bytes.subarray(0, at + maxHeaderBytes) : bytes, at)
  const names: string[] = []
  do {
    line.next()
    if (names.length === maxFrameColumns) return { failure: 'columns', offset: start + line.at }
    if (isLong && line.end > at + maxHeaderBytes) return { failure: 'header', offset: start + at }
    names.push(line.text())
  } while (line.more)
  if (line.isCut) return { failure: 'quote', offset: start + line.at }
  return { bytes, names, start, linesAt: Math.min(line.end, bytes.length) }
}

/** Reads the fields of one line in order. */
class CsvLine {
  readonly #bytes: Uint8Array
  /** Start of the last field read. */
  at: number
  /** Position after the last field and its terminator. */
  end: number
  /** Whether the last field ended with a comma. */
  more = false
  /** Whether the quote of the last field is never closed. */
  isCut = false
  #isQuoted = false
  #last = 0

  constructor(bytes: Uint8Array, start: number) {
    this.#bytes = bytes
    this.at = start
    this.end = start
  }

  /** Reads the next field. */
  next(): void {
    const bytes = this.#bytes
    let pos = this.end
    this.at = pos
    this.#isQuoted = bytes[pos] === quote
    // A doubled quote toggles `inside` twice, which leaves it unchanged.
    let inside = this.#isQuoted
    if (inside) pos++
    for (; pos < bytes.length; pos++) {
      const byte = bytes[pos]
      if (byte === quote && this.#isQuoted) inside = !inside
      else if (!inside && (byte === comma || byte === newline || byte === carriageReturn)) break
    }
    this.isCut = inside
    this.#last = pos
    this.more = bytes[pos] === comma
    this.end = pos + 1
  }

  /** Returns the field without its quotes. */
  text(): string {
    const text = Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset + this.at, this.#last - this.at).toString()
    return this.#isQuoted ? text.slice(1, text.endsWith('"') ? -1 : undefined).replaceAll('""', '"') : text
  }
}

/**
 * Makes names unique as pandas does: a second `a` is renamed `a.1`.
 * **Source**: pandas 2.2, `read_csv` with duplicate names.
 */
export function uniqueNames(names: readonly string[]): string[] {
  const taken = new Set(names)
  if (taken.size === names.length) return [...names]
  const seen = new Set<string>()
  const counts = new Map<string, number>()
  return names.map((name) => {
    if (!seen.has(name)) {
      seen.add(name)
      return name
    }
    let count = counts.get(name) ?? 1
    while (taken.has(`${name}.${count}`)) count++
    counts.set(name, count + 1)
    const next = `${name}.${count}`
    taken.add(next)
    seen.add(next)
    return next
  })
}

/**
 * Returns unique names for a CSV header, see {@link uniqueNames}. As in pandas, an empty name at index 2 is replaced
 * with `Unnamed: 2`.
 */
export function headerNames(names: readonly string[]): string[] {
  return uniqueNames(names.map((name, place) => (name === '' ? `Unnamed: ${place}` : name)))
}
