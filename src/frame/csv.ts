/**
 * CSV text before Polars reads it: its header, and what Polars would misread or refuse without a place.
 * Source: RFC 4180; pandas' `read_csv` for names and missing values.
 * @module
 */
import { isUtf8 } from 'node:buffer'
import { maxFrameColumns } from './frame-codec.ts'

/** Words that mean a missing value. **Source**: pandas 2.2, `read_csv`, `na_values`. */
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

/** Why a text is no frame. */
export interface CsvFailure {
  readonly failure: 'empty' | 'encoding' | 'columns' | 'ragged' | 'quote'
  /** **Units**: bytes. */
  readonly offset: number
  /** **Units**: lines of data from 0. */
  readonly row?: number
}

/** A text that can be read. */
export interface CsvText {
  /** The text without byte order mark and blank lines; the input itself when it has none. */
  readonly bytes: Uint8Array
  /** Names of the columns as written, in their order. */
  readonly names: readonly string[]
  /** Where the lines below the header start. **Units**: bytes. */
  readonly linesAt: number
}

const quote = 0x22
const comma = 0x2c
const newline = 0x0a
const carriageReturn = 0x0d

/** CSV text is looked at. **Cost**: the header line, and a search for blank lines; nothing else unless there are any. */
export function openCsv(csv: Uint8Array): CsvText | CsvFailure {
  if (!isUtf8(csv)) return { failure: 'encoding', offset: 0 }
  const start = csv[0] === 0xef && csv[1] === 0xbb && csv[2] === 0xbf ? 3 : 0
  const bytes = withoutBlankLines(csv.subarray(start))
  if (bytes.length === 0) return { failure: 'empty', offset: start }
  const line = new CsvLine(bytes, 0)
  const names: string[] = []
  do {
    line.next()
    if (names.length === maxFrameColumns) return { failure: 'columns', offset: start + line.at }
    names.push(line.text())
  } while (line.more)
  return line.isCut
    ? { failure: 'quote', offset: start + line.at }
    : { bytes, names, linesAt: Math.min(line.end, bytes.length) }
}

/** Where a text that Polars refused stops being a table of `columns` columns; undefined when it is one. **Cost**: only on errors. */
export function findRagged({ bytes, names }: CsvText): CsvFailure | undefined {
  let at = 0
  for (let row = -1; at < bytes.length; row++) {
    const line = new CsvLine(bytes, at)
    let count = 0
    do {
      line.next()
      count++
    } while (line.more)
    if (line.isCut) return { failure: 'quote', offset: line.at, row }
    if (count > names.length) return { failure: 'ragged', offset: at, row }
    at = line.end
  }
  return undefined
}

/** The fields of one line. */
class CsvLine {
  readonly #bytes: Uint8Array
  /** Where the last field starts. */
  at: number
  /** Behind the last field and what ended it. */
  end: number
  /** Whether a comma ended it. */
  more = false
  /** Whether a quote has no end. */
  isCut = false
  #isQuoted = false
  #last = 0

  constructor(bytes: Uint8Array, start: number) {
    this.#bytes = bytes
    this.at = start
    this.end = start
  }

  /** Goes to the next field. */
  next(): void {
    const bytes = this.#bytes
    let pos = this.end
    this.at = pos
    this.#isQuoted = bytes[pos] === quote
    if (this.#isQuoted) {
      // A doubled quote ends and starts the quoted part again, which comes to the same.
      let inside = true
      for (pos++; pos < bytes.length; pos++) {
        const byte = bytes[pos]
        if (byte === quote) inside = !inside
        else if (!inside && (byte === comma || byte === newline)) break
      }
      this.isCut = inside
    } else while (pos < bytes.length && bytes[pos] !== comma && bytes[pos] !== newline) pos++
    this.#last = pos
    this.more = bytes[pos] === comma
    this.end = pos + 1
  }

  /** The field, without its quotes. */
  text(): string {
    let last = this.#last
    if (!this.more && last > this.at && this.#bytes[last - 1] === carriageReturn) last--
    const text = Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset + this.at, last - this.at).toString()
    return this.#isQuoted ? text.slice(1, text.endsWith('"') ? -1 : undefined).replaceAll('""', '"') : text
  }
}

/** As pandas, which skips blank lines; Polars makes a row of nulls of them. */
function withoutBlankLines(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const startsBlank = bytes[0] === newline || (bytes[0] === carriageReturn && bytes[1] === newline)
  if (!startsBlank && text.indexOf('\n\n') === -1 && text.indexOf('\n\r\n') === -1) return bytes
  const out = Buffer.allocUnsafe(bytes.length)
  let size = 0
  let inQuotes = false
  let lineStart = 0
  for (let i = 0; i < bytes.length; i++) {
    if (bytes[i] === quote) inQuotes = !inQuotes
    if (bytes[i] !== newline || inQuotes) continue
    const isBlank = i === lineStart || (i === lineStart + 1 && bytes[lineStart] === carriageReturn)
    if (!isBlank) {
      out.set(bytes.subarray(lineStart, i + 1), size)
      size += i + 1 - lineStart
    }
    lineStart = i + 1
  }
  out.set(bytes.subarray(lineStart), size)
  return out.subarray(0, size + bytes.length - lineStart)
}

/**
 * Names become different ones, as pandas does it: a second `a` becomes `a.1`.
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

/** Names of a CSV header: an empty one becomes `Unnamed: 2`, as in pandas, then {@link uniqueNames}. */
export function headerNames(names: readonly string[]): string[] {
  return uniqueNames(names.map((name, place) => (name === '' ? `Unnamed: ${place}` : name)))
}
