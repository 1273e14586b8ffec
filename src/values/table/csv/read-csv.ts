/** Reads CSV bodies; every refusal is a BadInput. @module */
import { isUtf8 } from 'node:buffer'
import { BadInput, type BadInputReason } from '../../../core/errors.ts'
import { withCopy } from '../../../core/memory/byte-copy.ts'
import { minAsyncBytes } from '../../../core/memory/limiter.ts'
import { type MaybePromise, whenReady } from '../../../core/promise.ts'
import { castToKind } from '../cast-to-kind.ts'
import type { ColumnTable, TimeType, TimeUnit } from '../columns.ts'
import { type FrameType, timeOfType } from '../frame-dtype.ts'
import { type CsvFailure, type FrameCodec, frameFailures } from '../json/frame-codec.ts'
import { frameCodec } from '../json/native-codec.ts'
import { headerNames, openCsv } from './csv.ts'

/** How a text is read. */
export interface CsvSource {
  /** The descriptor, for errors. */
  readonly name: string
  /**
   * Absent: inferred.
   *
   * @returns the types that columns of these names are cast to; `text`: all columns stay text.
   */
  readonly types?:
    | ((names: readonly string[]) => readonly (FrameType | undefined)[])
    | 'text'
    | undefined
  /** What digits alone count in columns of instants and durations, which are else refused. */
  readonly epochUnit?: TimeUnit | undefined
  /** As for `decodeFrameJson`. */
  readonly isPrivate?: boolean
  readonly codec?: FrameCodec
}

/**
 * Reads CSV text: header line, comma, double quotes; pandas' words for missing values; blank lines
 * are skipped, short lines are padded with nulls. Names are made unique as pandas does. A column
 * without any value is Float64, as in JSON. From {@link minAsyncBytes} on, the add-on parses off
 * the event loop.
 *
 * @throws BadInput `syntax`, `encoding`, `ragged`, `columns`, `size`, with the position if there is
 * one.
 */
export function decodeCsv(csv: Uint8Array, source: CsvSource): MaybePromise<ColumnTable> {
  const { name, epochUnit, isPrivate = false, codec = frameCodec } = source
  const text = isUtf8(csv) ? openCsv(csv) : ({ failure: 'encoding', offset: 0 } as const)
  if ('failure' in text) throw refusal(text, name)
  const names = headerNames(text.names)
  const types = typeof source.types === 'function' ? source.types(names) : []
  const flags = Uint8Array.from(names, (_, i) =>
    Number(source.types === 'text' || isText(types[i], epochUnit)),
  )
  const lines = text.bytes.subarray(text.linesAt)
  const { parseCsvAsync } = codec
  const parse = () => {
    if (lines.length < minAsyncBytes || parseCsvAsync === undefined)
      return codec.parseCsv(lines, names, flags)
    const parseLarge = (bytes: Uint8Array) => parseCsvAsync(bytes, names, flags)
    if (isPrivate) return parseLarge(lines)
    return withCopy(lines, parseLarge)
  }
  return whenReady(parse(), (table) => {
    if ('failure' in table)
      throw refusal({ ...table, offset: table.offset + text.start + text.linesAt }, name)
    if (epochUnit === undefined) return table
    return withEpochs(table, types, epochUnit)
  })
}

/**
 * Whether the text of a cell decides what it is under a type: a number would lose its zeros in a category, and count as
 * an epoch in a time.
 */
function isText(type: FrameType | undefined, epochUnit: TimeUnit | undefined): boolean {
  if (type === undefined) return false
  if (type === 'Utf8' || type === 'Categorical' || type === 'Binary') return true
  return timeOfType(type) !== undefined && !(epochUnit && epochOf(type, epochUnit))
}

/**
 * @returns what digits alone are under a type of instants or durations; undefined for other types.
 */
function epochOf(type: FrameType | undefined, unit: TimeUnit): TimeType | undefined {
  const time = type && timeOfType(type)
  if (time?.type === 'datetime' || time?.type === 'duration') return { ...time, unit }
  return undefined
}

/** @returns the table with numbers in columns of instants and durations as counts of a unit. */
function withEpochs(
  { rows, columns }: ColumnTable,
  types: readonly (FrameType | undefined)[],
  unit: TimeUnit,
): ColumnTable {
  const converted = columns.map((column, i) => {
    const time = epochOf(types[i], unit)
    if (time === undefined || column.kind === 'str' || column.kind === 'bool') return column
    const numbers = castToKind(column, rows, 'int64')
    // What does not fit is refused when the column is cast.
    if ('failure' in numbers) return column
    return { ...numbers, time }
  })
  return { rows, columns: converted }
}

const messages: Record<
  CsvFailure['failure'],
  readonly [reason: BadInputReason, expected: string, received: string]
> = {
  empty: ['syntax', 'CSV with a header line', 'no text'],
  encoding: ['encoding', 'UTF-8 text', 'an invalid byte sequence'],
  columns: frameFailures.columns,
  header: ['size', 'a header line of at most 2 MiB', 'a longer one'],
  ragged: ['ragged', 'lines of at most as many fields as the header', 'a longer one'],
  quote: ['syntax', 'quoted fields that end', 'one that does not'],
  cells: frameFailures.cells,
}

function refusal({ failure, offset, row }: CsvFailure, name: string): BadInput {
  const [reason, expected, received] = messages[failure]
  const message = `expected ${expected} for ${name}, received ${received}`
  if (row === undefined || row < 0) return new BadInput(message, { reason, offset })
  return new BadInput(`${message} in row ${row}`, { reason, offset, path: `[${row}]` })
}
