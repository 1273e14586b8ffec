/**
 * Typed columns become JSON text, in plain TypeScript.
 * @module
 */

import { maxFloatBytes, writeFloat } from '../text/number-text.ts'
import { bytesAt, type Column, type ColumnTable, isValid, numberReader } from './columns.ts'
import type { FrameText } from './frame-codec.ts'

/** Where short texts are written first: nearly all the time of a small frame went into memory of its own. **Units**: bytes. */
const kept = new Uint8Array(16 * 1024)

/** Bytes that grow. One at a time. */
class TextWriter {
  bytes: Uint8Array = kept
  at = 0

  /** Makes room for `size` more bytes. */
  room(size: number): void {
    if (this.at + size <= this.bytes.length) return
    const grown = new Uint8Array(Math.max(this.bytes.length * 2, this.at + size))
    grown.set(this.bytes.subarray(0, this.at))
    this.bytes = grown
  }

  /** ASCII text. */
  ascii(text: string): void {
    this.room(text.length)
    for (let i = 0; i < text.length; i++) this.bytes[this.at++] = text.charCodeAt(i)
  }

  raw(text: Uint8Array): void {
    this.room(text.length)
    this.bytes.set(text, this.at)
    this.at += text.length
  }

  /** UTF-8 bytes as a JSON string, escaped as JSON.stringify does. */
  string(text: Uint8Array): void {
    this.room(text.length * 6 + 2)
    const { bytes } = this
    let { at } = this
    bytes[at++] = 0x22
    for (let i = 0; i < text.length; i++) {
      const byte = text[i]
      if (byte >= 0x20 && byte !== 0x22 && byte !== 0x5c) bytes[at++] = byte
      else {
        const escape = byte < 0x20 ? escapes[byte] : byte === 0x22 ? '\\"' : '\\\\'
        for (let j = 0; j < escape.length; j++) bytes[at++] = escape.charCodeAt(j)
      }
    }
    bytes[at++] = 0x22
    this.at = at
  }
}

const escapes = Array.from({ length: 32 }, (_, code) => JSON.stringify(String.fromCharCode(code)).slice(1, -1))

/** Writes the element of a row. */
type Cell = (row: number) => void

function cellOf(out: TextWriter, column: Column): Cell {
  const value = valueOf(out, column)
  if (column.validity === undefined) return value
  return (row) => (isValid(column, row) ? value(row) : out.ascii('null'))
}

function valueOf(out: TextWriter, column: Column): Cell {
  const { kind, data } = column
  if (kind === 'str') return (row) => out.string(bytesAt(column, row))
  if (kind === 'bool') return (row) => out.ascii(data[row >> 3] & (1 << (row & 7)) ? 'true' : 'false')
  const read = numberReader(column)
  if (kind !== 'float32' && kind !== 'float64') return (row) => out.ascii(String(read(row)))
  const width = kind === 'float32' ? 4 : 8
  return (row) => {
    const value = read(row) as number
    // As pandas: JSON has no words for NaN and the infinities.
    if (value - value !== 0) return out.ascii('null')
    out.room(maxFloatBytes)
    out.at = writeFloat(out.bytes, out.at, value, width)
  }
}

/** A key with its colon. */
function keyOf(name: string): Uint8Array {
  return Buffer.from(`${JSON.stringify(name)}:`)
}

/** Columns become compact JSON text in a layout. See {@link FrameText}. */
export function encodeFrame(table: ColumnTable, text: FrameText): Uint8Array {
  const out = new TextWriter()
  const { rows, columns } = table
  const cells = columns.map((column) => cellOf(out, column))
  const keys = columns.map(({ name }) => keyOf(name))
  const label = labelOf(out, text.labels)
  /** `open`, each of `count` things with commas between, `close`. */
  const list = (open: string, count: number, each: (i: number) => void, close: string) => {
    out.ascii(open)
    for (let i = 0; i < count; i++) {
      if (i > 0) out.ascii(',')
      each(i)
    }
    out.ascii(close)
  }
  const labelKey = (row: number) => {
    if (text.labels?.kind === 'str') label(row)
    else {
      out.ascii('"')
      label(row)
      out.ascii('"')
    }
    out.ascii(':')
  }
  /** `"label":` and what belongs to it. */
  const labelled = (each: Cell) => (row: number) => {
    labelKey(row)
    each(row)
  }
  const field = (row: number) => (i: number) => {
    out.raw(keys[i])
    cells[i](row)
  }
  const record = (row: number) => list('{', columns.length, field(row), '}')
  const rowValues = (row: number) => list('[', columns.length, (i) => cells[i](row), ']')

  switch (text.layout) {
    case 'records':
      list('[', rows, record, ']')
      break
    case 'values':
      list('[', rows, rowValues, ']')
      break
    case 'index':
      list('{', rows, labelled(record), '}')
      break
    case 'columns': {
      const column = (i: number) => {
        out.raw(keys[i])
        list('{', rows, labelled(cells[i]), '}')
      }
      list('{', columns.length, column, '}')
      break
    }
    case 'split':
      list('{"columns":[', columns.length, (i) => out.raw(keys[i].subarray(0, -1)), '],"index":')
      list('[', rows, label, '],"data":')
      list('[', rows, rowValues, ']}')
      break
    case 'table': {
      const labelPart = text.labelKey === undefined ? undefined : keyOf(text.labelKey)
      out.ascii('{"schema":')
      out.raw(Buffer.from(text.schema ?? '{}'))
      const row = (at: number) => {
        out.ascii('{')
        if (labelPart !== undefined) {
          out.raw(labelPart)
          label(at)
          if (columns.length > 0) out.ascii(',')
        }
        list('', columns.length, field(at), '}')
      }
      list(',"data":[', rows, row, ']}')
      break
    }
    case 'series':
      list('[', rows, cells[0], ']')
      break
    case 'series-index':
      list('{', rows, labelled(cells[0]), '}')
      break
    case 'series-split':
      out.raw(Buffer.from(`{"name":${text.name === undefined ? 'null' : JSON.stringify(text.name)},"index":`))
      list('[', rows, label, '],"data":')
      list('[', rows, cells[0], ']}')
  }
  return out.bytes === kept ? Buffer.from(kept.subarray(0, out.at)) : out.bytes.subarray(0, out.at)
}

function labelOf(out: TextWriter, labels: Column | undefined): Cell {
  return labels === undefined ? (row) => out.ascii(String(row)) : valueOf(out, labels)
}
