/** Reads short texts of plain numbers, where a call into the add-on costs more than the reading. @module */

import { skipSpace } from '../../../core/text/json-syntax.ts'
import { asciiText } from '../../../core/text/number-text.ts'
import { maxPlainBytes, scanNumber, scanned } from '../../array/plain-numbers.ts'
import type { Column, ColumnTable } from '../columns.ts'
import type { FrameLayout } from './frame-codec.ts'

/** Returns the columns of a short list of numbers, or of records with equal keys; undefined for other texts. */
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

/** Reads a record of numbers, the first one with its names. Returns its end, or -1. */
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
