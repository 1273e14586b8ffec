/**
 * CSV bodies become frames, and every refusal BadInput.
 * @module
 */

import { BadInput, type BadInputReason } from '../errors.ts'
import { type CsvFailure, findRagged, headerNames, missingWords, openCsv } from './csv.ts'
import { maxFrameColumns } from './frame-codec.ts'
import type { FrameType } from './frame-dtype.ts'
import { type CsvParser, parseCsv } from './native-codec.ts'
import type { Polars } from './polars.ts'
import type { DataFrame } from './polars-package.ts'

/**
 * CSV text becomes a frame: header line, comma, double quotes; pandas' words for missing values; blank lines are skipped, short
 * lines end in nulls. Names are made unique as pandas does. A column without any value is Float64, as in JSON.
 *
 * **Errors**: BadInput `syntax`, `encoding`, `ragged`, `columns`, with the place where there is one.
 * **Cost**: the add-on's reader, or Polars' own for what the add-on leaves; both look at every line before they decide on a type.
 */
export function decodeCsv(
  polars: Polars,
  csv: Uint8Array,
  dtype: ReadonlyMap<string, FrameType> | boolean | undefined,
  name: string,
  native: CsvParser | undefined = parseCsv,
): DataFrame {
  const text = openCsv(csv)
  if ('failure' in text) throw refusal(text, name)
  const names = headerNames(text.names)
  const flags = Uint8Array.from(names, (column) => (dtype === false || isText(dtype, column) ? 1 : 0))
  // Polars counts quotes in the middle of a name, too, and the lines below are others then.
  const isPlain = !text.names.some((column) => column.includes('"'))
  const table = isPlain ? native?.(text.bytes.subarray(text.linesAt), names, flags) : undefined
  if (table !== undefined) return polars.fromColumns(table)
  const textColumns = dtype === false ? 'all' : text.names.filter((_, i) => isText(dtype, names[i]))
  let frame: DataFrame
  try {
    frame = polars.readCsv(text.bytes, textColumns, missingWords)
  } catch (cause) {
    const found = findRagged(text)
    if (found !== undefined) throw refusal(found, name)
    throw new BadInput(`expected CSV for ${name}, received what cannot be read`, { reason: 'syntax', cause })
  }
  if (polars.names(frame).length !== names.length)
    throw refusal(findRagged(text) ?? { failure: 'ragged', offset: 0 }, name)
  polars.rename(frame, names)
  // Polars has no type for columns without values and calls them text.
  if (textColumns === 'all') return frame
  const places = names.flatMap((column, i) => (isText(dtype, column) ? [] : [i]))
  return polars.floatsOfNothing(frame, places)
}

function isText(dtype: ReadonlyMap<string, FrameType> | boolean | undefined, column: string): boolean {
  return dtype instanceof Map && dtype.get(column) === 'Utf8'
}

const told: Record<CsvFailure['failure'], readonly [reason: BadInputReason, expected: string, received: string]> = {
  empty: ['syntax', 'CSV with a header line', 'no text'],
  encoding: ['encoding', 'UTF-8 text', 'an invalid byte sequence'],
  columns: ['size', `at most ${maxFrameColumns} columns`, 'more'],
  ragged: ['ragged', 'lines of at most as many fields as the header', 'a longer one'],
  quote: ['syntax', 'quoted fields that end', 'one that does not'],
}

function refusal({ failure, offset, row }: CsvFailure, name: string): BadInput {
  const [reason, wanted, received] = told[failure]
  const place = row === undefined || row < 0 ? '' : ` in row ${row}`
  return new BadInput(`expected ${wanted} for ${name}, received ${received}${place}`, {
    reason,
    offset,
    ...(row !== undefined && row >= 0 && { path: `[${row}]` }),
  })
}
