/**
 * The native add-on behind the frame contract, and the choice between it and the TypeScript codec.
 * @module
 */
import { getRandomValues } from 'node:crypto'
import { type ColumnKind, dtypes } from '../../../core/dtype.ts'
import { nativeLimiter } from '../../../core/memory/limiter.ts'
import { runAtOnce } from '../../../core/memory/slices.ts'
import { type FrameAddon, frameAddon } from '../../../core/native/add-on.ts'
import { type Column, type ColumnTable, jsonCode } from '../columns.ts'
import { type CsvFailure, type CsvParser, csvFailures } from '../csv/csv.ts'
import { typescriptCsvParser } from '../csv/csv-parse.ts'
import {
  type FrameCodec,
  type FrameFailure,
  type FrameLayout,
  frameFailures,
  maxFrameCells,
  maxFrameColumns,
  type ParsedFrame,
  type RowsEncoder,
  type RowsEncoding,
} from './frame-codec.ts'
import { typescriptFrameCodec } from './frame-parse.ts'
import { planFrame } from './frame-plan.ts'
import { programOf } from './frame-program.ts'

/** In the order of native/src/frame_parse.h. */
const layouts: readonly FrameLayout[] = ['frame', 'index', 'split', 'table', 'series', 'series-split']

function codeOf(layout: FrameLayout, asWritten = false): number {
  return layouts.indexOf(layout) + (asWritten ? layouts.length : 0)
}

/** Random key of the add-on's hash tables, so that clients cannot choose names that collide. Four 32-bit words. */
const secret = getRandomValues(new Uint32Array(4))

/** Maximum columns, maximum cells, the key. Shared by all calls: new memory costs the add-on 0.3 µs. */
const limits = Float64Array.of(0, 0, ...secret)

// Words per frame and per column, as in native/src/frame_pack.cpp.
const frameWords = 8
const columnWords = 7

function limitsOf(json: Uint8Array): Float64Array {
  limits[0] = maxFrameColumns
  limits[1] = maxFrameCells(json.length)
  return limits
}

function unpack(buffer: ArrayBuffer | undefined, layout: FrameLayout): ParsedFrame | FrameFailure {
  if (buffer === undefined) throw new RangeError('no memory for the columns of a frame')
  const bytes = Buffer.from(buffer)
  const words = new Float64Array(buffer, 0, frameWords)
  if (words[0] !== 0) return failureOf(bytes, words)
  // Not destructured, which would use an iterator.
  const rows = words[1]
  const count = words[2]
  const nameStart = words[4]
  const table = { rows, columns: new Array<Column>(count) }
  const columnTable = new Float64Array(buffer, frameWords * 8, (count + 1) * columnWords)
  for (let i = 0; i < count; i++) table.columns[i] = columnAt(bytes, columnTable, i * columnWords, rows)
  return {
    table,
    labels: words[3] === 1 ? columnAt(bytes, columnTable, count * columnWords, rows) : undefined,
    name: nameStart === -1 ? undefined : bytes.toString('utf8', nameStart, nameStart + words[5]),
    schema: layout === 'table' ? [words[6], words[7]] : undefined,
  }
}

function failureOf(bytes: Buffer, [code, offset, row, start, length]: Float64Array): FrameFailure {
  const failure = frameFailures[code - 1]
  if (failure === undefined) throw new RangeError('no memory for the columns of a frame')
  return {
    failure,
    offset,
    ...(start !== -1 && { column: bytes.toString('utf8', start, start + length) }),
    ...(row !== -1 && { row }),
  }
}

function unpackCsv(buffer: ArrayBuffer | undefined, names: readonly string[]): ColumnTable | CsvFailure {
  if (buffer === undefined) throw new RangeError('no memory for the columns of a frame')
  const words = new Float64Array(buffer, 0, frameWords)
  if (words[0] !== 0) {
    const failure = csvFailures[words[0] - 1]
    if (failure === undefined) throw new RangeError('no memory for the columns of a frame')
    return { failure, offset: words[1], row: words[2] }
  }
  const rows = words[1]
  const bytes = Buffer.from(buffer)
  const columnTable = new Float64Array(buffer, frameWords * 8, names.length * columnWords)
  return { rows, columns: names.map((name, i) => ({ ...columnAt(bytes, columnTable, i * columnWords, rows), name })) }
}

function csvParserOf(addon: FrameAddon): CsvParser {
  return {
    parse: (lines, names, isText) => unpackCsv(addon.parseCsv(lines, isText, maxFrameCells(lines.length)), names),
    parseAsync: (lines, names, isText) =>
      nativeLimiter.run(async () =>
        unpackCsv(await addon.parseCsvAsync(lines, isText, maxFrameCells(lines.length)), names),
      ),
  }
}

/** The add-on's CSV parser, for tests; undefined if the add-on is not loaded. */
export const nativeCsvParser: CsvParser | undefined = frameAddon && csvParserOf(frameAddon)

/** The CSV parser in use. */
export const csvParser: CsvParser = nativeCsvParser ?? typescriptCsvParser

function columnAt(bytes: Buffer<ArrayBuffer>, words: Float64Array, at: number, rows: number): Column {
  const { buffer } = bytes
  const validity = words[at + 5]
  const offsets = words[at + 6]
  return {
    name: nameAt(bytes, words[at + 1], words[at + 2]),
    kind: words[at] === jsonCode ? 'str' : (dtypes[words[at]] as ColumnKind),
    data: new Uint8Array(buffer, words[at + 3], words[at + 4]),
    validity: validity === -1 ? undefined : new Uint8Array(buffer, validity, (rows + 7) >> 3),
    offsets: offsets === -1 ? undefined : new Int32Array(buffer, offsets, rows + 1),
    ...(words[at] === jsonCode && { isJson: true }),
  }
}

/** Returns a name; a short one of ASCII characters without a call out of JavaScript, which takes 0.2 µs. */
function nameAt(bytes: Buffer, start: number, length: number): string {
  if (length > 16) return bytes.toString('utf8', start, start + length)
  let name = ''
  for (let i = start; i < start + length; i++) {
    if (bytes[i] > 0x7f) return bytes.toString('utf8', start, start + length)
    name += String.fromCharCode(bytes[i])
  }
  return name
}

function encodeWith(addon: FrameAddon, ...[table, steps, labels]: Parameters<FrameCodec['encodeSteps']>): Uint8Array {
  // The add-on refuses buffers that contradict each other.
  return (
    runAtOnce(programOf(table, steps, labels)).write(addon, 0, table.rows) ??
    typescriptFrameCodec.encodeSteps(table, steps, labels)
  )
}

function* rowsWith(addon: FrameAddon, ...[table, step, labels]: Parameters<FrameCodec['encodeRows']>): RowsEncoding {
  const program = yield* programOf(table, [step], labels)
  let other: RowsEncoder | undefined
  return (start, end) => {
    const text = other === undefined ? program.write(addon, start, end) : undefined
    if (text !== undefined) return text
    other ??= runAtOnce(typescriptFrameCodec.encodeRows(table, step, labels))
    return other(start, end)
  }
}

/** The add-on alone, at any size: for tests and benchmarks. Undefined if it is not loaded. */
export const nativeFrameCodec: FrameCodec | undefined =
  frameAddon === undefined
    ? undefined
    : {
        name: 'native',
        parseFrame: (json, layout, asWritten) =>
          unpack((frameAddon as FrameAddon).parseFrame(json, codeOf(layout, asWritten), limitsOf(json)), layout),
        parseFrameAsync: (json, layout, asWritten) =>
          nativeLimiter.run(async () => {
            const code = codeOf(layout, asWritten)
            return unpack(await (frameAddon as FrameAddon).parseFrameAsync(json, code, limitsOf(json)), layout)
          }),
        encodeFrame: (table, text) => encodeWith(frameAddon as FrameAddon, table, planFrame(table, text), text.labels),
        encodeSteps: (...args) => encodeWith(frameAddon as FrameAddon, ...args),
        encodeRows: (...args) => rowsWith(frameAddon as FrameAddon, ...args),
      }

/**
 * Minimum size at which the add-on writes faster; it reads faster at any size. **Units**: cells. **Source**:
 * bench/micro/frame-codec.ts --small: reading 66 bytes takes 2.4 µs against 6.1, writing 8 cells 5.3 against 4.5,
 * writing 32 cells 5 against 7.
 */
export const minFrameCells = 24

function bySize(native: FrameCodec): FrameCodec {
  return {
    ...native,
    encodeFrame: (table, text) =>
      (table.rows * table.columns.length < minFrameCells ? typescriptFrameCodec : native).encodeFrame(table, text),
  }
}

/**
 * The codec in use: the add-on at the sizes where it is faster, the TypeScript codec below that and if the add-on is
 * not loaded.
 */
export const frameCodec: FrameCodec = nativeFrameCodec === undefined ? typescriptFrameCodec : bySize(nativeFrameCodec)
