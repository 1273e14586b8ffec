/**
 * Reads the header of CSV text; a `FrameCodec` reads the rest. Source: RFC 4180; pandas' `read_csv` for names and
 * missing values. @module
 */
import { bomLength } from '../../../core/text/utf8.ts'
import { type CsvFailure, maxFrameColumns } from '../json/frame-codec.ts'

/**
 * Words for a missing value; the first one is empty.
 *
 * @see pandas 2.2, `read_csv`, `na_values`.
 */
export const missingWords: readonly string[] =
  ',#N/A,#N/A N/A,#NA,-1.#IND,-1.#QNAN,-NaN,-nan,1.#IND,1.#QNAN,<NA>,N/A,NA,NULL,NaN,None,n/a,nan,null'.split(
    ',',
  )

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

/** Bytes that mean something in CSV. */
export const csvMarks = { quote: 0x22, comma: 0x2c, newline: 0x0a, carriageReturn: 0x0d } as const
const { quote, comma, newline, carriageReturn } = csvMarks

/** Maximum length of a header: reading it blocks the event loop for 10 ms. **Units**: bytes. */
const maxHeaderBytes = 2 ** 21

/** Reads the header of CSV text, which is UTF-8. **Cost**: that of the header. */
export function openCsv(csv: Uint8Array): CsvText | CsvFailure {
  const start = bomLength(csv)
  const bytes = Buffer.from(csv.buffer, csv.byteOffset + start, csv.length - start)
  let at = 0
  while (bytes[at] === newline || bytes[at] === carriageReturn) at++
  if (at >= bytes.length) return { failure: 'empty', offset: start }
  const header = bytes.subarray(0, at + maxHeaderBytes)
  const isCut = header.length < bytes.length
  const names: string[] = []
  let end = at - 1
  do {
    const field = end + 1
    end = fieldEnd(header, field)
    if (names.length === maxFrameColumns) return { failure: 'columns', offset: start + field }
    if (isCut && (end === -1 || end === header.length))
      return { failure: 'header', offset: start + at }
    if (end === -1) return { failure: 'quote', offset: start + field }
    names.push(unquoted(header.subarray(field, end)).toString())
  } while (header[end] === comma)
  return { bytes, names, start, linesAt: Math.min(end + 1, bytes.length) }
}

/** @returns where the field that starts at `at` ends; -1 if its quote is never closed. */
export function fieldEnd(bytes: Buffer, at: number): number {
  let end = at
  if (bytes[at] === quote) {
    for (;;) {
      end = bytes.indexOf(quote, end + 1)
      if (end === -1) return -1
      end++
      if (bytes[end] !== quote) break
    }
  }
  // A quote inside an unquoted field, or after the closing one, is an ordinary character.
  while (
    end < bytes.length &&
    bytes[end] !== comma &&
    bytes[end] !== newline &&
    bytes[end] !== carriageReturn
  )
    end++
  return end
}

/**
 * Text after the closing quote belongs to the field.
 *
 * @returns a field without its quotes, if it has any.
 */
export function unquoted(written: Buffer): Buffer {
  if (written[0] !== quote) return written
  if (written.indexOf(quote, 1) === written.length - 1) return written.subarray(1, -1)
  const field = Buffer.allocUnsafe(written.length)
  let size = 0
  let at = 1
  for (; written[at] !== quote || written[at + 1] === quote; at++) {
    field[size++] = written[at]
    if (written[at] === quote) at++
  }
  size += written.copy(field, size, at + 1)
  return field.subarray(0, size)
}

/**
 * Makes names unique as pandas does: a second `a` is renamed `a.1`.
 *
 * @see pandas 2.2, `read_csv` with duplicate names.
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
    return next
  })
}

/**
 * As in pandas, an empty name at index 2 is replaced with `Unnamed: 2`.
 *
 * @returns unique names for a CSV header, see {@link uniqueNames}.
 */
export function headerNames(names: readonly string[]): string[] {
  return uniqueNames(names.map((name, place) => (name === '' ? `Unnamed: ${place}` : name)))
}
