/**
 * Reads the header of CSV text, and finds the error in text that Polars refuses without saying where.
 * Source: RFC 4180; pandas' `read_csv` for names and missing values.
 * @module
 */
import { bomLength } from '../text/utf8.ts'
import { maxFrameColumns } from './frame-codec.ts'

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

/** Returns where a text that Polars refused stops being a table; undefined if it is one. Called only on errors. */
export function findRagged({ bytes, names, start }: CsvText): CsvFailure | undefined {
  let at = 0
  for (let row = -1; at < bytes.length; row++) {
    const line = new CsvLine(bytes, at)
    let count = 0
    do {
      line.next()
      count++
    } while (line.more)
    if (line.isCut) return { failure: 'quote', offset: start + line.at, row }
    if (count > names.length) return { failure: 'ragged', offset: start + at, row }
    at = line.end
  }
  return undefined
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
 * Returns the text as Polars reads what pandas does: without blank lines, of which Polars makes rows of nulls, and with
 * lines that a carriage return alone ends, which Polars does not see, ended by a newline.
 */
export function withPlainLines(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const startsBlank = bytes[0] === newline || bytes[0] === carriageReturn
  if (!startsBlank && text.indexOf('\n\n') === -1 && text.indexOf('\r') === -1) return bytes
  const out = Buffer.allocUnsafe(bytes.length)
  let size = 0
  let inQuotes = false
  let isBlank = true
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]
    if (byte === quote) inQuotes = !inQuotes
    if (inQuotes || (byte !== newline && byte !== carriageReturn)) {
      out[size++] = byte
      isBlank = false
    } else if (!isBlank) {
      out[size++] = newline
      isBlank = true
    }
  }
  return out.subarray(0, size)
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
