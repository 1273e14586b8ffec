/** Columns of JSON lists and objects → columns of lists and structs, as Polars holds them. @module */
import { setImmediate } from 'node:timers/promises'
import { BadInput } from '../../../core/errors.ts'
import { minAsyncBytes } from '../../../core/memory/limiter.ts'
import { type MaybePromise, whenDefined } from '../../../core/promise.ts'
import { type AnyColumn, type Column, type ColumnTable, isValid, rowOfElement } from '../columns.ts'
import {
  type FrameFailure,
  FrameFault,
  type FrameLayout,
  frameFailures,
  type ParsedFrame,
} from '../json/frame-codec.ts'
import { frameCodec } from '../json/native-codec.ts'

/** Maximum depth of lists and objects in a cell: our choice. Each level is one more pass over the text. */
const maxDepth = 16

interface ParseStep {
  readonly json: Uint8Array
  readonly layout: FrameLayout
}

type Nesting<T> = Generator<ParseStep | undefined, T, ParsedFrame | FrameFailure | undefined>

/**
 * `name` is the descriptor's.
 *
 * @returns a table whose columns of JSON text are lists or structs; a promise for large columns.
 * @throws BadInput `dtype`, `size`, `syntax`, … with the column, and the row if known.
 */
export function nestColumns(
  table: ColumnTable<AnyColumn>,
  name: string,
): MaybePromise<ColumnTable<AnyColumn>> {
  const nested = table.columns.filter(isJson)
  if (nested.length === 0) return table
  const bytes = nested.reduce((sum, { data }) => sum + data.length, 0)
  const work = nestAll(table, name)
  if (bytes < minAsyncBytes) return runAtOnce(work)
  return runAsync(work)
}

function runAtOnce<T>(work: Nesting<T>): T {
  for (let step = work.next(); ; ) {
    if (step.done) return step.value
    step = work.next(step.value && frameCodec.parseFrame(step.value.json, step.value.layout))
  }
}

async function runAsync<T>(work: Nesting<T>): Promise<T> {
  for (let step = work.next(); ; ) {
    if (step.done) return step.value
    step = work.next(
      step.value === undefined ? await setImmediate(undefined) : await parse(step.value),
    )
  }
}

function parse({ json, layout }: ParseStep): MaybePromise<ParsedFrame | FrameFailure> {
  const { parseFrame, parseFrameAsync = parseFrame } = frameCodec
  if (json.length < minAsyncBytes) return parseFrame(json, layout)
  return parseFrameAsync(json, layout)
}

function isJson(column: AnyColumn): column is Column {
  return 'isJson' in column && column.isJson === true
}

function* nestAll(
  { rows, columns }: ColumnTable<AnyColumn>,
  name: string,
): Nesting<ColumnTable<AnyColumn>> {
  const made: AnyColumn[] = []
  for (const column of columns) {
    try {
      made.push(yield* nest(column, rows, 1))
    } catch (error) {
      if (error instanceof FrameFault) throw refusal(error.why, column.name, name)
      throw error
    }
  }
  return { rows, columns: made }
}

/** @returns where a cell is, in words and as a path; without a row, where its column is. */
export function cellPlace(column: string, row: number | undefined) {
  if (row === undefined) return { words: '', path: column }
  return { words: ` in row ${row}`, path: `[${row}].${column}` }
}

function refusal({ failure, row }: FrameFailure, column: string, name: string): BadInput {
  const [reason, expected, received] = frameFailures[failure]
  const shown = JSON.stringify(column.slice(0, 80))
  const { words, path } = cellPlace(column, row)
  return new BadInput(
    `expected ${expected} within the lists and objects of column ${shown} of ${name}, received ${received}${words}`,
    { reason, path },
  )
}

function* nest(column: AnyColumn, rows: number, depth: number): Nesting<AnyColumn> {
  if (!isJson(column)) return column
  if (depth > maxDepth) throw new FrameFault('nested')
  const cells = new Cells(column)
  let open = 0
  for (let row = 0; row < rows; row++) {
    if (row % pauseCells === pauseCells - 1) yield undefined
    if (!cells.go(row)) continue
    const { data, start, end } = cells
    open ||= data[start]
    const isWhole = end - start >= 2 && data[start] === open && data[end - 1] === open + 2
    if (!isWhole || (open !== 0x5b && open !== 0x7b)) throw new FrameFault('kind', undefined, row)
  }
  return yield* nestCells(cells, rows, depth, open !== 0x7b)
}

/** Cells and bytes that are looked at between two turns of the event loop. */
const pauseCells = 2 ** 14
const pauseBytes = 2 ** 20

/** The texts of a column's cells, without the white space around them. No object per cell: there may be millions. */
class Cells {
  readonly column: Column
  readonly data: Uint8Array
  start = 0
  end = 0
  readonly #offsets: Int32Array

  constructor(column: Column) {
    this.column = column
    this.data = column.data
    this.#offsets = column.offsets as Int32Array
  }

  /** Goes to a cell, which is empty if it is null. Returns whether it is not. */
  go(row: number): boolean {
    const hasValue = isValid(this.column, row)
    this.start = this.#offsets[row]
    this.end = hasValue ? this.#offsets[row + 1] : this.start
    this.#trim()
    return hasValue
  }

  /** Leaves the brackets of a cell out. */
  enter(): void {
    this.start++
    this.end--
    this.#trim()
  }

  #trim(): void {
    const { data } = this
    while (this.start < this.end && data[this.start] <= 0x20) this.start++
    while (this.end > this.start && data[this.end - 1] <= 0x20) this.end--
  }

  get text(): Uint8Array {
    return this.data.subarray(this.start, this.end)
  }
}

const comma = 0x2c
const emptyObject = Buffer.from('{}')

/** Parses what all cells hold as one list: the elements of lists, or one object for each cell. */
function* nestCells(
  cells: Cells,
  rows: number,
  depth: number,
  areLists: boolean,
): Nesting<AnyColumn> {
  const offsets = new Int32Array(rows + 1)
  const json = Buffer.allocUnsafeSlow(cells.data.length + rows * 3 + 2)
  json[0] = 0x5b
  let length = 1
  let seen = 0
  for (let row = 0; row < rows; row++) {
    const hasValue = cells.go(row)
    if (areLists && hasValue) cells.enter()
    const count = areLists ? elementsIn(cells) : 1
    if (count === undefined) throw new FrameFault('syntax', undefined, row)
    offsets[row + 1] = offsets[row] + count
    if (count > 0) {
      const text = hasValue ? cells.text : emptyObject
      if (length > 1) json[length++] = comma
      json.set(text, length)
      length += text.length
    }
    seen += pauseBytes / pauseCells + cells.end - cells.start
    if (seen < pauseBytes) continue
    seen = 0
    yield undefined
  }
  json[length++] = 0x5d
  const parsed = yield { json: json.subarray(0, length), layout: areLists ? 'series' : 'frame' }
  if (parsed === undefined) throw new RangeError('expected the columns of a text that was parsed')
  if ('failure' in parsed) {
    const row = whenDefined(parsed.row, (element) => rowOfElement(offsets, element))
    throw new FrameFault(parsed.failure, undefined, row)
  }
  const { table } = parsed
  if (table.rows !== offsets[rows]) throw new FrameFault('syntax')
  const nested: AnyColumn[] = []
  for (const column of table.columns) nested.push(yield* nest(column, table.rows, depth + 1))
  const { name, validity } = cells.column
  if (areLists) return { name, validity, offsets, items: { ...nested[0], name: 'item' } }
  // Polars has no struct without fields.
  if (nested.length === 0) throw new FrameFault('keys')
  return { name, validity, fields: nested }
}

/**
 * @returns the number of elements between the brackets of a list; undefined if brackets do not
 * match.
 */
function elementsIn({ data, start, end }: Cells): number | undefined {
  if (start >= end) return 0
  let count = 1
  let depth = 0
  for (let i = start; i < end; i++) {
    const byte = data[i]
    if (byte === comma && depth === 0) count++
    else if (byte === 0x22) i = stringEnd(data, i, end)
    else if ((byte | 0x20) === 0x7b) depth++
    else if ((byte | 0x20) === 0x7d && --depth < 0) return undefined
  }
  if (depth === 0) return count
  return undefined
}

/** @returns the position of the quote that ends a string. */
function stringEnd(data: Uint8Array, start: number, end: number): number {
  for (let i = start + 1; i < end; i++) {
    if (data[i] === 0x5c) i++
    else if (data[i] === 0x22) return i
  }
  return end
}
