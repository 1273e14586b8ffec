/** The frame codec in the native add-on, and its substitute without it. @module */
import { type ColumnKind, dtypes } from '../../../core/dtype.ts'
import { nativeLimiter } from '../../../core/memory/limiter.ts'
import { type Addon, addon } from '../../../core/native/add-on.ts'
import {
  columnWord,
  failureWord,
  limitWord,
  nestedCode,
  tableWord,
  wordsOf,
} from '../../../core/native/shared-numbers.ts'
import { printPlainTable } from '../../plain-json.ts'
import { type AnyColumn, type Column, type ColumnTable, renameColumns } from '../columns.ts'
import { parseCsv } from '../csv/csv-parse.ts'
import { EncodeProgram } from './encode-program.ts'
import {
  type CsvFailure,
  csvFailures,
  type FrameCodec,
  type FrameFailure,
  type FrameFailureKind,
  type FrameLayout,
  frameFailures,
  frameLayouts,
  maxFrameCells,
  maxFrameColumns,
  type ParsedFrame,
} from './frame-codec.ts'
import { type FrameText, planFrame } from './frame-plan.ts'
import { parseFrame } from './parse-frame.ts'
import { csvHeader, writeCsv, writeFrame } from './write-frame.ts'

function codeOf(layout: FrameLayout, asWritten = false): number {
  return frameLayouts.indexOf(layout) + (asWritten ? frameLayouts.length : 0)
}

const limits = new Float64Array(wordsOf(limitWord))
const tableWords = wordsOf(tableWord)
const columnWords = wordsOf(columnWord)

function limitsOf(json: Uint8Array): Float64Array {
  // Random key of the add-on's hash tables, so that clients cannot choose names that collide. It is made with the first
  // table, since Node loads what makes it in 3 ms.
  if (limits[limitWord.secret0] === 0)
    limits.set(crypto.getRandomValues(new Uint32Array(4)), limitWord.secret0)
  limits[limitWord.columns] = maxFrameColumns
  limits[limitWord.cells] = maxFrameCells(json.length)
  return limits
}

const failureKinds = Object.keys(frameFailures) as readonly FrameFailureKind[]

function outOfMemory(): never {
  throw new RangeError('no memory for the columns of a frame')
}

function unpack(
  buffer: ArrayBuffer | undefined,
  json: Uint8Array,
  layout: FrameLayout,
): ParsedFrame | FrameFailure {
  const bytes = Buffer.from(buffer ?? outOfMemory())
  const words = new Float64Array(bytes.buffer, 0, tableWords)
  if (words[tableWord.failure] !== 0) return failureOf(bytes, words)
  const rows = words[tableWord.rows]
  const columns = columnsOf(bytes, words, words[tableWord.columns] + words[tableWord.hasLabels])
  const labels = words[tableWord.hasLabels] === 1 ? columns.pop() : undefined
  const nameAt = words[tableWord.nameAt]
  const schemaAt = words[tableWord.schemaAt]
  return {
    table: { rows, columns },
    labels,
    name: nameAt === -1 ? undefined : shortText(bytes, nameAt, words[tableWord.nameLength]),
    schema:
      layout === 'table'
        ? { text: json.subarray(schemaAt, words[tableWord.schemaEnd]), offset: schemaAt }
        : undefined,
  }
}

function failureOf(bytes: Buffer, words: Float64Array): FrameFailure {
  const failure = failureKinds[words[failureWord.failure] - 1] ?? outOfMemory()
  const row = words[failureWord.row]
  const columnAt = words[failureWord.columnAt]
  return {
    failure,
    offset: words[failureWord.offset],
    column:
      columnAt === -1 ? undefined : shortText(bytes, columnAt, words[failureWord.columnLength]),
    row: row === -1 ? undefined : row,
  }
}

function unpackCsv(
  buffer: ArrayBuffer | undefined,
  names: readonly string[],
): ColumnTable | CsvFailure {
  const bytes = Buffer.from(buffer ?? outOfMemory())
  const words = new Float64Array(bytes.buffer, 0, tableWords)
  const code = words[failureWord.failure]
  if (code !== 0) {
    const failure = csvFailures[code - 1] ?? outOfMemory()
    return { failure, offset: words[failureWord.offset], row: words[failureWord.row] }
  }
  const columns = columnsOf(bytes, words, names.length)
  return renameColumns({ rows: words[tableWord.rows], columns }, names)
}

function columnsOf(bytes: Buffer<ArrayBuffer>, table: Float64Array, count: number): Column[] {
  const words = new Float64Array(bytes.buffer, tableWords * 8, count * columnWords)
  const columns = new Array<Column>(count)
  for (let i = 0; i < count; i++)
    columns[i] = columnAt(bytes, words, i * columnWords, table[tableWord.rows])
  return columns
}

function columnAt(
  bytes: Buffer<ArrayBuffer>,
  words: Float64Array,
  at: number,
  rows: number,
): Column {
  const { buffer } = bytes
  const kind = words[at + columnWord.kind]
  const validity = words[at + columnWord.validityAt]
  const offsets = words[at + columnWord.offsetsAt]
  return {
    name: shortText(bytes, words[at + columnWord.nameAt], words[at + columnWord.nameLength]),
    kind: kind === nestedCode.json ? 'str' : (dtypes[kind] as ColumnKind),
    data: new Uint8Array(buffer, words[at + columnWord.dataAt], words[at + columnWord.dataLength]),
    validity: validity === -1 ? undefined : new Uint8Array(buffer, validity, (rows + 7) >> 3),
    offsets: offsets === -1 ? undefined : new Int32Array(buffer, offsets, rows + 1),
    ...(kind === nestedCode.json && { isJson: true }),
  }
}

/** @returns a text; a short one of ASCII characters without a call out of JavaScript. */
function shortText(bytes: Buffer, start: number, length: number): string {
  if (length > 16) return bytes.toString('utf8', start, start + length)
  let name = ''
  for (let i = start; i < start + length; i++) {
    if (bytes[i] > 0x7f) return bytes.toString('utf8', start, start + length)
    name += String.fromCharCode(bytes[i])
  }
  return name
}

function encodeWith(addon: Addon, table: ColumnTable<AnyColumn>, text: FrameText): Uint8Array {
  const { rows, columns } = table
  const { labels } = text
  const steps = planFrame(table, text)
  const program = new EncodeProgram()
  for (const column of columns) program.column(column, `${JSON.stringify(column.name)}:`)
  if (labels !== undefined) program.column(labels, '')
  for (const step of steps) program.step(step, labels !== undefined)
  // The other writer throws for buffers that contradict each other.
  return program.write(addon, rows) ?? writeFrame(table, steps, labels)
}

function csvWith(addon: Addon, table: ColumnTable): Uint8Array {
  const program = new EncodeProgram()
  for (const column of table.columns) program.column(column, '')
  program.step(csvHeader(table))
  program.csvLines()
  return program.write(addon, table.rows) ?? writeCsv(table)
}

function nativeCodec(addon: Addon): FrameCodec {
  return {
    name: 'native',
    parseFrame: (json, layout, asWritten) =>
      unpack(addon.parseFrame(json, codeOf(layout, asWritten), limitsOf(json)), json, layout),
    parseFrameAsync: (json, layout, asWritten) =>
      nativeLimiter.run(async () => {
        const code = codeOf(layout, asWritten)
        return unpack(await addon.parseFrameAsync(json, code, limitsOf(json)), json, layout)
      }),
    encodeFrame: (table, text) => encodeWith(addon, table, text),
    parseCsv: (lines, names, isText) =>
      unpackCsv(addon.parseCsv(lines, isText, maxFrameCells(lines.length)), names),
    parseCsvAsync: (lines, names, isText) =>
      nativeLimiter.run(async () =>
        unpackCsv(await addon.parseCsvAsync(lines, isText, maxFrameCells(lines.length)), names),
      ),
    writeCsv: (table) => csvWith(addon, table),
  }
}

/** The add-on's codec, for tests and benchmarks; undefined if it is not loaded. */
export const nativeFrameCodec: FrameCodec | undefined = addon && nativeCodec(addon)

/** The codec for use without the add-on. */
export const typescriptFrameCodec: FrameCodec = {
  name: 'typescript',
  parseFrame,
  encodeFrame: (table, text) => writeFrame(table, planFrame(table, text), text.labels),
  parseCsv,
  writeCsv,
}

/** The codec in use. */
export const frameCodec: FrameCodec = nativeFrameCodec ?? typescriptFrameCodec

/** @returns the JSON text of a table in a layout. */
export function encodeTable(table: ColumnTable<AnyColumn>, how: FrameText): string | Uint8Array {
  return printPlainTable(table, how.layout) ?? frameCodec.encodeFrame(table, how)
}
