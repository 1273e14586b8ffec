/**
 * Reads CSV bodies; every refusal is a BadInput.
 * @module
 */
import { isUtf8 } from 'node:buffer'
import { BadInput, type BadInputReason } from '../errors.ts'
import { withCopy } from '../memory/byte-copy.ts'
import { inSlices } from '../memory/slices.ts'
import { type MaybePromise, whenReady } from '../promise.ts'
import { findIllFormed } from '../text/utf8.ts'
import type { ColumnTable } from './columns.ts'
import { type CsvFailure, type CsvText, findRagged, headerNames, missingWords, openCsv, withPlainLines } from './csv.ts'
import { maxFrameColumns, minAsyncBytes } from './frame-codec.ts'
import type { FrameType } from './frame-dtype.ts'
import { type CsvParser, csvParser } from './native-codec.ts'
import type { Polars } from './polars.ts'
import type { DataFrame } from './polars-package.ts'

type Dtypes = ReadonlyMap<string, FrameType> | boolean | undefined

/**
 * Reads CSV text: header line, comma, double quotes; pandas' words for missing values; blank lines are skipped, short
 * lines are padded with nulls. Names are made unique as pandas does. A column without any value is Float64, as in JSON.
 * Returns columns, or a frame if Polars reads the text: without the add-on.
 *
 * From {@link minAsyncBytes} on, parses off the event loop; `isPrivate` as for `decodeFrameJson`.
 * **Errors**: BadInput `syntax`, `encoding`, `ragged`, `columns`, `size`, with the position if there is one.
 * **Cost**: reads all lines before choosing a column's type.
 */
export function decodeCsv(
  polars: Polars,
  csv: Uint8Array,
  dtype: Dtypes,
  name: string,
  isPrivate = false,
  parser: CsvParser | null = csvParser ?? null,
): MaybePromise<ColumnTable | DataFrame> {
  const source = { polars, dtype, name, isPrivate, parser }
  if (csv.length < minAsyncBytes) return readText(csv, isUtf8(csv), source)
  return whenReady(inSlices(findIllFormed(csv)), (offset) => readText(csv, offset === -1, source))
}

/** What is known of a text before it is read. */
interface Source {
  readonly polars: Polars
  readonly dtype: Dtypes
  readonly name: string
  readonly isPrivate: boolean
  readonly parser: CsvParser | null
}

function readText(
  csv: Uint8Array,
  isUtf8Text: boolean,
  { polars, dtype, name, isPrivate, parser }: Source,
): MaybePromise<ColumnTable | DataFrame> {
  const text = isUtf8Text ? openCsv(csv) : ({ failure: 'encoding', offset: 0 } as const)
  if ('failure' in text) throw refusal(text, name)
  const names = headerNames(text.names)
  if (parser === null) return readByPolars(polars, text, names, dtype, name)
  const flags = Uint8Array.from(names, (column) => (dtype === false || isText(dtype, column) ? 1 : 0))
  const lines = text.bytes.subarray(text.linesAt)
  const parseAsync = (bytes: Uint8Array) => parser.parseAsync(bytes, names, flags)
  const parseLarge = () => (isPrivate ? parseAsync(lines) : withCopy(lines, undefined, parseAsync))
  const parsed = lines.length < minAsyncBytes ? parser.parse(lines, names, flags) : parseLarge()
  return whenReady(parsed, (table) => {
    if (!('failure' in table)) return table
    throw refusal({ ...table, offset: table.offset + text.start + text.linesAt }, name)
  })
}

function readByPolars(polars: Polars, text: CsvText, names: readonly string[], dtype: Dtypes, name: string): DataFrame {
  const textColumns = dtype === false ? 'all' : text.names.filter((_, i) => isText(dtype, names[i]))
  let frame: DataFrame
  try {
    frame = polars.readCsv(withPlainLines(text.bytes), textColumns, missingWords)
  } catch (cause) {
    const found = findRagged(text)
    if (found !== undefined) throw refusal(found, name)
    throw new BadInput(`expected CSV for ${name}, received what cannot be read`, { reason: 'syntax', cause })
  }
  if (polars.names(frame).length !== names.length)
    throw refusal(findRagged(text) ?? { failure: 'ragged', offset: 0 }, name)
  polars.rename(frame, names)
  // Polars reads columns without values as text.
  if (textColumns === 'all') return frame
  const indices = names.flatMap((column, i) => (isText(dtype, column) ? [] : [i]))
  return polars.floatsOfNothing(frame, indices)
}

function isText(dtype: Dtypes, column: string): boolean {
  return dtype instanceof Map && dtype.get(column) === 'Utf8'
}

const messages: Record<CsvFailure['failure'], readonly [reason: BadInputReason, expected: string, received: string]> = {
  empty: ['syntax', 'CSV with a header line', 'no text'],
  encoding: ['encoding', 'UTF-8 text', 'an invalid byte sequence'],
  columns: ['size', `at most ${maxFrameColumns} columns`, 'more'],
  header: ['size', 'a header line of at most 2 MiB', 'a longer one'],
  ragged: ['ragged', 'lines of at most as many fields as the header', 'a longer one'],
  quote: ['syntax', 'quoted fields that end', 'one that does not'],
  cells: ['size', 'a frame not much larger than its body', 'one with far more cells than it has values'],
}

function refusal({ failure, offset, row }: CsvFailure, name: string): BadInput {
  const [reason, expected, received] = messages[failure]
  const place = row === undefined || row < 0 ? '' : ` in row ${row}`
  return new BadInput(`expected ${expected} for ${name}, received ${received}${place}`, {
    reason,
    offset,
    ...(row !== undefined && row >= 0 && { path: `[${row}]` }),
  })
}
