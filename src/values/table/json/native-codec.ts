/** The frame codec in the native add-on, and its substitute without it. @module */
import { getRandomValues } from 'node:crypto'
import { type ColumnKind, dtypes, elementTypes } from '../../../core/dtype.ts'
import { nativeLimiter } from '../../../core/memory/limiter.ts'
import { type Addon, addon } from '../../../core/native/add-on.ts'
import { type Column, type ColumnTable, jsonCode } from '../columns.ts'
import { parseCsv } from '../csv/csv-parse.ts'
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
import { type FrameText, type PlanStep, planFrame } from './frame-plan.ts'
import { parseFrame } from './parse-frame.ts'
import { csvHeader, writeCsv, writeFrame } from './write-frame.ts'

function codeOf(layout: FrameLayout, asWritten = false): number {
  return frameLayouts.indexOf(layout) + (asWritten ? frameLayouts.length : 0)
}

/** Random key of the add-on's hash tables, so that clients cannot choose names that collide. Four 32-bit words. */
const secret = getRandomValues(new Uint32Array(4))

const limits = Float64Array.of(0, 0, ...secret)

// Words per frame and per column, as in native/src/frame_pack.cpp.
const frameWords = 8
const columnWords = 7

function limitsOf(json: Uint8Array): Float64Array {
  limits[0] = maxFrameColumns
  limits[1] = maxFrameCells(json.length)
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
  const words = new Float64Array(bytes.buffer, 0, frameWords)
  if (words[0] !== 0) return failureOf(bytes, words)
  const rows = words[1]
  const count = words[2]
  const nameStart = words[4]
  const table = { rows, columns: new Array<Column>(count) }
  const columnTable = new Float64Array(bytes.buffer, frameWords * 8, (count + 1) * columnWords)
  for (let i = 0; i < count; i++)
    table.columns[i] = columnAt(bytes, columnTable, i * columnWords, rows)
  return {
    table,
    labels: words[3] === 1 ? columnAt(bytes, columnTable, count * columnWords, rows) : undefined,
    name: nameStart === -1 ? undefined : bytes.toString('utf8', nameStart, nameStart + words[5]),
    schema:
      layout === 'table'
        ? { text: json.subarray(words[6], words[7]), offset: words[6] }
        : undefined,
  }
}

function failureOf(bytes: Buffer, [code, offset, row, start, length]: Float64Array): FrameFailure {
  const failure = failureKinds[code - 1] ?? outOfMemory()
  return {
    failure,
    offset,
    ...(start !== -1 && { column: bytes.toString('utf8', start, start + length) }),
    ...(row !== -1 && { row }),
  }
}

function unpackCsv(
  buffer: ArrayBuffer | undefined,
  names: readonly string[],
): ColumnTable | CsvFailure {
  const bytes = Buffer.from(buffer ?? outOfMemory())
  const [code, rows, row] = new Float64Array(bytes.buffer, 0, frameWords)
  if (code !== 0) return { failure: csvFailures[code - 1] ?? outOfMemory(), offset: rows, row }
  const columnTable = new Float64Array(bytes.buffer, frameWords * 8, names.length * columnWords)
  return {
    rows,
    columns: names.map((name, i) => ({
      ...columnAt(bytes, columnTable, i * columnWords, rows),
      name,
    })),
  }
}

function columnAt(
  bytes: Buffer<ArrayBuffer>,
  words: Float64Array,
  at: number,
  rows: number,
): Column {
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

/** @returns a name; a short one of ASCII characters without a call out of JavaScript. */
function nameAt(bytes: Buffer, start: number, length: number): string {
  if (length > 16) return bytes.toString('utf8', start, start + length)
  let name = ''
  for (let i = start; i < start + length; i++) {
    if (bytes[i] > 0x7f) return bytes.toString('utf8', start, start + length)
    name += String.fromCharCode(bytes[i])
  }
  return name
}

/** What the add-on writes as JSON or CSV, in words as native/src/frame_addon.cpp reads them. */
class Program {
  readonly #parts: Uint8Array[] = []
  readonly #columns: number[] = []
  readonly #steps: number[] = []
  #buffer: ArrayBufferLike | undefined
  #part = -1
  #text = ''
  #textBytes = 0

  column({ kind, data, validity, offsets, heaps, isJson }: Column, key: string): void {
    const words = this.#columns
    words.push(isJson ? jsonCode : elementTypes[kind].code)
    this.#range(data)
    this.#range(validity)
    this.#range(offsets)
    words.push(this.#parts.length, heaps?.length ?? 0)
    this.#piece(key, words)
    if (heaps === undefined || heaps.length === 0) return
    for (const heap of heaps) this.#parts.push(heap)
    this.#buffer = undefined
  }

  step(step: PlanStep, labels: number): void {
    const words = this.#steps
    if (typeof step === 'string') {
      words.push(0)
      this.#piece(step, words)
      return
    }
    const { before, label, after, first, count, keys, close } = step
    words.push(1, label, label === 0 ? 0 : labels + 1)
    this.#piece(before, words)
    this.#piece(after, words)
    this.#piece(close, words)
    words.push(first, count, keys ? 1 : 0)
  }

  /** All rows as lines of CSV. */
  csvLines(): void {
    this.#steps.push(2)
  }

  /** @returns undefined for buffers that contradict each other. */
  write(
    addon: Addon,
    ...counts: [columns: number, steps: number, rows: number]
  ): Uint8Array | undefined {
    const [columns, steps] = [this.#columns, this.#steps]
    const words = new Float64Array(3 + columns.length + steps.length)
    words.set(counts)
    words.set(columns, 3)
    words.set(steps, 3 + columns.length)
    const buffer = addon.encodeFrame(words, this.#parts, Buffer.from(this.#text))
    return buffer && Buffer.from(buffer)
  }

  /** Adds where bytes lie. Columns that follow each other in one buffer, as those of an Arrow file do, share a part. */
  #range(bytes: Uint8Array | Int32Array | undefined): void {
    if (bytes === undefined) {
      this.#columns.push(-1, 0, 0)
      return
    }
    const { buffer, byteOffset, byteLength } = bytes
    if (buffer !== this.#buffer) {
      this.#part = this.#parts.push(new Uint8Array(buffer)) - 1
      this.#buffer = buffer
    }
    this.#columns.push(this.#part, byteOffset, byteLength)
  }

  #piece(text: string, words: number[]): void {
    words.push(this.#textBytes)
    if (text !== '') {
      this.#text += text
      this.#textBytes += Buffer.byteLength(text)
    }
    words.push(this.#textBytes)
  }
}

function encodeWith(addon: Addon, table: ColumnTable, text: FrameText): Uint8Array {
  const { rows, columns } = table
  const { labels } = text
  const steps = planFrame(table, text)
  const program = new Program()
  for (const column of columns) program.column(column, `${JSON.stringify(column.name)}:`)
  if (labels !== undefined) program.column(labels, '')
  for (const step of steps) program.step(step, labels === undefined ? -1 : columns.length)
  const count = columns.length + (labels === undefined ? 0 : 1)
  // The other writer throws for buffers that contradict each other.
  return program.write(addon, count, steps.length, rows) ?? writeFrame(table, steps, labels)
}

function csvWith(addon: Addon, table: ColumnTable): Uint8Array {
  const program = new Program()
  for (const column of table.columns) program.column(column, '')
  program.step(csvHeader(table), -1)
  program.csvLines()
  return program.write(addon, table.columns.length, 2, table.rows) ?? writeCsv(table)
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
