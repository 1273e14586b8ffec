/**
 * Typed columns to JSON text, in plain TypeScript.
 * @module
 */

import { isWideInteger } from '../../../core/dtype.ts'
import { GrowableBytes } from '../../../core/memory/growable-bytes.ts'
import { highWord, maxFloatBytes, writeFloat } from '../../../core/text/number-text.ts'
import { bytesAt, type Column, type ColumnTable, columnWords, isValid, numberReader } from '../columns.ts'
import type { RowsEncoding } from './frame-codec.ts'
import { type FrameText, type PlanStep, planFrame, type RowsStep } from './frame-plan.ts'

/** Scratch memory for short texts: allocating took nearly all the time of a small frame. **Units**: bytes. */
const scratch = Buffer.alloc(16 * 1024)

class TextWriter extends GrowableBytes {
  constructor() {
    super(scratch)
  }

  /** Appends text. */
  text(text: string): void {
    this.reserve(text.length * 3)
    const { buffer, length } = this
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i)
      if (code > 0x7f) {
        this.length = length + buffer.write(text, length)
        return
      }
      buffer[length + i] = code
    }
    this.length = length + text.length
  }

  /** Appends UTF-8 bytes as a JSON string, escaped as JSON.stringify does. */
  string(text: Uint8Array): void {
    this.reserve(text.length * 6 + 2)
    const { buffer } = this
    let at = this.length
    buffer[at++] = 0x22
    for (let i = 0; i < text.length; i++) {
      const byte = text[i]
      if (byte >= 0x20 && byte !== 0x22 && byte !== 0x5c) buffer[at++] = byte
      else {
        const escape = byte < 0x20 ? escapes[byte] : byte === 0x22 ? '\\"' : '\\\\'
        for (let j = 0; j < escape.length; j++) buffer[at++] = escape.charCodeAt(j)
      }
    }
    buffer[at++] = 0x22
    this.length = at
  }
}

const escapes = Array.from({ length: 32 }, (_, code) => JSON.stringify(String.fromCharCode(code)).slice(1, -1))

/** Writes the element of a row. */
type Cell = (row: number) => void

function cellOf(out: TextWriter, column: Column): Cell {
  const value = valueOf(out, column)
  if (column.validity === undefined) return value
  return (row) => (isValid(column, row) ? value(row) : out.text('null'))
}

function valueOf(out: TextWriter, column: Column): Cell {
  const { kind, data } = column
  if (column.isJson) return (row) => out.append(bytesAt(column, row))
  if (kind === 'str') return (row) => out.string(bytesAt(column, row))
  if (kind === 'bool') return (row) => out.text(data[row >> 3] & (1 << (row & 7)) ? 'true' : 'false')
  if (isWideInteger(kind)) return integerOf(out, column)
  const read = numberReader(column)
  if (kind !== 'float32' && kind !== 'float64') return (row) => out.text(String(read(row)))
  const width = kind === 'float32' ? 4 : 8
  return (row) => {
    const value = read(row) as number
    // null, as pandas writes: JSON has no words for NaN and the infinities.
    if (value - value !== 0) return out.text('null')
    out.reserve(maxFloatBytes)
    out.length = writeFloat(out.buffer, out.length, value, width)
  }
}

/** 64-bit integers by their halves: making a bigint and its text of each takes several times as long. */
function integerOf(out: TextWriter, column: Column): Cell {
  const { kind } = column
  const words = columnWords(column)
  let exact: ReturnType<typeof numberReader> | undefined
  return (row) => {
    const high = words[row * 2 + highWord]
    const value = (kind === 'int64' ? high : high >>> 0) * 2 ** 32 + (words[row * 2 + 1 - highWord] >>> 0)
    if (Number.isSafeInteger(value)) return out.text(String(value))
    exact ??= numberReader(column)
    out.text(String(exact(row)))
  }
}

/** Returns the JSON text of columns in a layout. See {@link FrameText}. */
export function encodeFrame(table: ColumnTable, text: FrameText): Uint8Array {
  return encodeSteps(table, planFrame(table, text), text.labels)
}

/** Returns the text that steps write. */
export function encodeSteps(table: ColumnTable, steps: readonly PlanStep[], labels?: Column): Uint8Array {
  const out = new TextWriter()
  const write = rowsWriter(out, table, labels)
  for (const step of steps) {
    if (typeof step === 'string') out.text(step)
    else write(step, 0, table.rows)
  }
  return textOf(out)
}

/** See `FrameCodec`. */
export function* encodeRows(table: ColumnTable, step: RowsStep, labels?: Column): RowsEncoding {
  return (start, end) => {
    const out = new TextWriter()
    rowsWriter(out, table, labels)(step, start, end)
    return textOf(out)
  }
}

/** Returns a function that writes rows `start` to `end` of a step. */
function rowsWriter(
  out: TextWriter,
  { columns }: ColumnTable,
  labels: Column | undefined,
): (step: RowsStep, start: number, end: number) => void {
  const cells = columns.map((column) => cellOf(out, column))
  const keys = columns.map(({ name }) => `${JSON.stringify(name)}:`)
  const label = labels === undefined ? (row: number) => out.text(String(row)) : valueOf(out, labels)
  const quote = labels?.kind === 'str' ? '' : '"'
  const writeRow = (row: number, step: RowsStep) => {
    out.text(step.before)
    if (step.label === 2) out.text(quote)
    if (step.label !== 0) label(row)
    if (step.label === 2) out.text(quote)
    out.text(step.after)
    for (let i = step.first; i < step.first + step.count; i++) {
      if (i > step.first) out.text(',')
      if (step.keys) out.text(keys[i])
      cells[i](row)
    }
    out.text(step.close)
  }
  return (step, start, end) => {
    for (let row = start; row < end; row++) {
      if (row > start) out.text(',')
      writeRow(row, step)
    }
  }
}

function textOf(out: TextWriter): Uint8Array {
  if (out.buffer !== scratch) return out.bytes
  const text = Buffer.allocUnsafe(out.length)
  scratch.copy(text, 0, 0, out.length)
  return text
}
