/** Columns as Polars holds them → columns of numbers, booleans, text and JSON text. @module */
import {
  type AnyColumn,
  bytesAt,
  type Column,
  type ColumnTable,
  cellsOf,
  columnOf,
  isValid,
  type ListColumn,
  type StructColumn,
} from '../columns.ts'
import { frameCodec } from '../json/native-codec.ts'
import { printTimes, type TimeForm } from '../times.ts'
import { stringEnd } from './nest.ts'

/**
 * @returns a table of JSON text for lists and objects, times as `times` says, and base64 for bytes.
 */
export function unnestColumns(
  { rows, columns }: ColumnTable<AnyColumn>,
  times: TimeForm,
): ColumnTable {
  return { rows, columns: columns.map((column) => flatColumn(column, rows, times)) }
}

function flatColumn(column: AnyColumn, rows: number, times: TimeForm): Column {
  if ('kind' in column) {
    if (column.isBinary) return base64Column(column, rows)
    return column.time === undefined ? column : printTimes(column, rows, times)
  }
  const { name, validity } = column
  const parts =
    'items' in column ? listParts(column, rows, times) : structParts(column, rows, times)
  const { data, offsets } = joined(parts, rows, false)
  return { name, kind: 'str', isJson: true, data, offsets, ...(validity && { validity }) }
}

function base64Column(column: Column, rows: number): Column {
  const texts = cellsOf(column, rows, (row) => Buffer.from(bytesAt(column, row)).toString('base64'))
  return columnOf(column.name, 'str', texts)
}

/** JSON texts with a comma after each: text `i` is from `offsets[i]` up to the byte before `offsets[i + 1]`. */
interface Texts {
  readonly data: Buffer
  readonly offsets: Int32Array
}

type Part = readonly [data: Uint8Array, start: number, end: number]

type Parts = (row: number) => readonly Part[]

function textsOf(column: AnyColumn, rows: number, times: TimeForm): Texts {
  if ('items' in column) return joined(listParts(column, rows, times), rows, true)
  if ('fields' in column) return joined(structParts(column, rows, times), rows, true)
  const flat = flatColumn(column, rows, times)
  const json = Buffer.from(frameCodec.encodeFrame({ rows, columns: [flat] }, { layout: 'series' }))
  // The closing bracket stands for the last comma.
  return { data: json, offsets: boundaries(json, rows) }
}

function boundaries(json: Buffer, rows: number): Int32Array {
  const offsets = new Int32Array(rows + 1)
  offsets[0] = 1
  let row = 0
  for (let i = 1; row < rows; i++) {
    if (json[i] === 0x22) i = stringEnd(json, i, json.length)
    else if (json[i] === 0x2c || json[i] === 0x5d) offsets[++row] = i + 1
  }
  return offsets
}

const nullText = Buffer.from('null')
const nullParts: readonly Part[] = [[nullText, 0, 4]]
const brackets = Buffer.from('[]{}')

function listParts(column: ListColumn, rows: number, times: TimeForm): Parts {
  const { offsets, items } = column
  const { data, offsets: starts } = textsOf(items, offsets[rows], times)
  return (row) => {
    if (!isValid(column, row)) return nullParts
    const [start, end] = [offsets[row], offsets[row + 1]]
    const inner: Part[] = start === end ? [] : [[data, starts[start], starts[end] - 1]]
    return [[brackets, 0, 1], ...inner, [brackets, 1, 2]]
  }
}

function structParts(column: StructColumn, rows: number, times: TimeForm): Parts {
  const fields = column.fields.map((field, i) => {
    const key = Buffer.from(`${i === 0 ? '' : ','}${JSON.stringify(field.name)}:`)
    return { key, texts: textsOf(field, rows, times) }
  })
  return (row) => {
    if (!isValid(column, row)) return nullParts
    const parts: Part[] = [[brackets, 2, 3]]
    for (const { key, texts } of fields) {
      parts.push([key, 0, key.length], [texts.data, texts.offsets[row], texts.offsets[row + 1] - 1])
    }
    parts.push([brackets, 3, 4])
    return parts
  }
}

function joined(parts: Parts, rows: number, commas: boolean): Texts {
  const offsets = new Int32Array(rows + 1)
  let size = 0
  for (let row = 0; row < rows; row++) {
    for (const [, start, end] of parts(row)) size += end - start
    if (commas) size++
    offsets[row + 1] = size
  }
  const data = Buffer.allocUnsafeSlow(size)
  for (let row = 0; row < rows; row++) {
    let at = offsets[row]
    for (const [bytes, start, end] of parts(row)) {
      data.set(bytes.subarray(start, end), at)
      at += end - start
    }
    if (commas) data[at] = 0x2c
  }
  return { data, offsets }
}
