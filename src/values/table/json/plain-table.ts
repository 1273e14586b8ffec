/** Reads and prints short tables of plain numbers, where a call into the add-on costs more than the work. @module */

import { skipSpace } from '../../../core/text/json-syntax.ts'
import { asciiText, floatText } from '../../../core/text/number-text.ts'
import {
  maxPlainBytes,
  maxPlainElements,
  printNumber,
  scanNumber,
  scanned,
} from '../../array/plain-numbers.ts'
import { type Column, type ColumnTable, isValid } from '../columns.ts'
import type { FrameLayout } from './frame-codec.ts'
import type { FrameText } from './frame-plan.ts'
import { frameCodec } from './native-codec.ts'

/**
 * @returns the columns of a short list of numbers, or of records with equal keys; undefined for
 * other texts.
 */
export function readPlainTable(json: Uint8Array, layout: FrameLayout): ColumnTable | undefined {
  if (json.length > maxPlainBytes || (layout !== 'series' && layout !== 'frame')) return undefined
  let at = skipSpace(json, 0, json.length)
  if (json[at++] !== 0x5b) return undefined
  const names = layout === 'series' ? [''] : []
  let rows = 0
  let byte = 0
  do {
    at = skipSpace(json, at, json.length)
    at = layout === 'series' ? scanNumber(json, at, rows) : scanRecord(json, at, rows, names)
    if (at === -1) return undefined
    rows++
    at = skipSpace(json, at, json.length)
    byte = json[at++]
  } while (byte === 0x2c)
  if (byte !== 0x5d || skipSpace(json, at, json.length) < json.length) return undefined
  return { rows, columns: names.map((name, i) => columnOfNumbers(name, rows, i, names.length)) }
}

function scanRecord(json: Uint8Array, start: number, row: number, names: string[]): number {
  const end = json.length
  if (json[start] !== 0x7b) return -1
  let at = start
  let byte = 0
  let column = 0
  do {
    const from = skipSpace(json, at + 1, end) + 1
    if (json[from - 1] !== 0x22) return -1
    at = from
    while (json[at] >= 0x20 && json[at] < 0x7f && json[at] !== 0x22 && json[at] !== 0x5c) at++
    if (json[at] !== 0x22) return -1
    const name = asciiText(json, from, at)
    if (row === 0 && !names.includes(name)) names.push(name)
    else if (row === 0 || names[column] !== name) return -1
    at = skipSpace(json, at + 1, end)
    if (json[at] !== 0x3a) return -1
    at = scanNumber(json, skipSpace(json, at + 1, end), row * names.length + column)
    if (at === -1) return -1
    at = skipSpace(json, at, end)
    byte = json[at]
    column++
  } while (byte === 0x2c)
  return byte === 0x7d && column === names.length ? at + 1 : -1
}

const { values, hasFraction } = scanned
const floats = new Float64Array(maxPlainBytes)
const words = new Int32Array(floats.buffer)
const bytes = new Uint8Array(floats.buffer)

function columnOfNumbers(name: string, rows: number, first: number, step: number): Column {
  let isWhole = true
  for (let i = first; i < first + rows * step; i += step) if (hasFraction[i]) isWhole = false
  for (let row = 0, i = first; row < rows; row++, i += step) {
    if (isWhole) {
      words[row * 2] = values[i]
      words[row * 2 + 1] = Math.floor(values[i] / 2 ** 32)
    } else floats[row] = values[i] === 0 && !hasFraction[i] ? 0 : values[i]
  }
  return { name, kind: isWhole ? 'int64' : 'float64', data: bytes.slice(0, rows * 8) }
}

/** Text in the making: room for all numbers, whose keys take the rest. */
const text = new Uint8Array(1024)
const maxNumberBytes = 24

/** @returns the JSON text of a table in a layout. */
export function encodeTable(table: ColumnTable, how: FrameText): string | Uint8Array {
  return printPlainTable(table, how.layout) ?? frameCodec.encodeFrame(table, how)
}

/**
 * @returns the text of records, or of a series, of a few numbers of 64 bits; undefined for other
 * tables.
 */
export function printPlainTable(
  { rows, columns }: ColumnTable,
  layout: FrameText['layout'],
): string | undefined {
  const count = columns.length
  const areRecords = layout === 'records'
  if (
    rows === 0 ||
    count === 0 ||
    rows * count > maxPlainElements ||
    (!areRecords && layout !== 'series')
  )
    return undefined
  for (let i = 0; i < count; i++) {
    const { kind, data } = columns[i]
    if ((kind !== 'float64' && kind !== 'int64') || data.length !== rows * 8) return undefined
    bytes.set(data, i * rows * 8)
  }
  let at = 0
  text[at++] = 0x5b
  for (let row = 0; row < rows; row++) {
    if (row > 0) text[at++] = 0x2c
    if (areRecords) text[at++] = 0x7b
    for (let i = 0; i < count; i++) {
      if (i > 0) text[at++] = 0x2c
      if (areRecords) at = printKey(at, columns[i].name)
      if (at === -1) return undefined
      at = printCell(at, columns[i], row, i * rows + row)
      if (at === -1) return undefined
    }
    if (areRecords) text[at++] = 0x7d
  }
  text[at++] = 0x5d
  return asciiText(text, 0, at)
}

/** Prints a key of plain ASCII. Returns its end, or -1, also if a number behind it may not fit. */
function printKey(start: number, name: string): number {
  if (start + name.length + 2 * maxNumberBytes > text.length) return -1
  let at = start
  text[at++] = 0x22
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i)
    if (code < 0x20 || code > 0x7e || code === 0x22 || code === 0x5c) return -1
    text[at++] = code
  }
  text[at++] = 0x22
  text[at++] = 0x3a
  return at
}

function printCell(start: number, column: Column, row: number, index: number): number {
  if (!isValid(column, row)) return put(start, 'null')
  const isInteger = column.kind === 'int64'
  const value = isInteger
    ? words[index * 2 + 1] * 2 ** 32 + (words[index * 2] >>> 0)
    : floats[index]
  const end = printNumber(text, start, value, isInteger ? 0 : 8)
  if (end !== -1) return end
  if (isInteger) return Number.isSafeInteger(value) ? put(start, String(value)) : -1
  // null, as pandas writes: JSON has no words for NaN and the infinities.
  return put(start, Number.isFinite(value) ? floatText(value, 8) : 'null')
}

function put(start: number, ascii: string): number {
  for (let i = 0; i < ascii.length; i++) text[start + i] = ascii.charCodeAt(i)
  return start + ascii.length
}
