/**
 * The native add-on behind the frame contract, and the choice between it and the TypeScript codec.
 * @module
 */
import { randomBytes } from 'node:crypto'
import { type ColumnKind, dtypes, elementTypes } from '../dtype.ts'
import { type FrameAddon, frameAddon } from '../native/add-on.ts'
import type { Column, ColumnTable } from './columns.ts'
import {
  type FrameCodec,
  type FrameFailure,
  type FrameLayout,
  type FrameText,
  maxFrameCells,
  maxFrameColumns,
  type ParsedFrame,
} from './frame-codec.ts'
import { typescriptFrameCodec } from './frame-parse.ts'

/** The order of native/src/frame_parse.h. */
const layouts: readonly FrameLayout[] = ['frame', 'index', 'split', 'table', 'series', 'series-split']

/** The key of the add-on's hash tables: nobody outside can choose names that collide. Four words of 32 bits. */
const secret = new Uint32Array(randomBytes(16).buffer.slice(0, 16))

/** Most columns, most cells, the key; the add-on overwrites the first two. Kept: memory that is new to the add-on costs 0.3 µs. */
const head = Float64Array.of(0, 0, ...secret)

// The words of native/src/frame_addon.cpp.
const frameWords = 8
const columnWords = 7

function parseWith(addon: FrameAddon, json: Uint8Array, layout: FrameLayout): ParsedFrame | FrameFailure {
  head[0] = maxFrameColumns
  head[1] = maxFrameCells(json.length)
  const buffer = addon.parseFrame(json, layouts.indexOf(layout), head)
  // The add-on only says that a text is none; the TypeScript parser finds the place again, and the column and the row.
  if (buffer === undefined) return typescriptFrameCodec.parseFrame(json, layout)
  const bytes = Buffer.from(buffer)
  const words = new Float64Array(buffer, 0, frameWords)
  // Not by destructuring, which goes through an iterator.
  const rows = words[0]
  const count = words[1]
  const hasLabels = words[2] === 1
  const nameStart = words[4]
  const table = { rows, columns: new Array<Column>(count) }
  const places = new Float64Array(buffer, frameWords * 8, (count + 1) * columnWords)
  for (let i = 0; i < count; i++) table.columns[i] = columnAt(bytes, places, i * columnWords, rows)
  return {
    table,
    keyed: words[3] === 1,
    labels: hasLabels ? columnAt(bytes, places, count * columnWords, rows) : undefined,
    name: nameStart === -1 ? undefined : bytes.toString('utf8', nameStart, nameStart + words[5]),
    schema: layout === 'table' ? [words[6], words[7]] : undefined,
  }
}

/**
 * The lines below a CSV header become columns of the header's names, text where `isText` says so. Undefined: they must be read
 * in another way, be it to say what is wrong with them.
 */
export type CsvParser = (lines: Uint8Array, names: readonly string[], isText: Uint8Array) => ColumnTable | undefined

function parseCsvWith(addon: FrameAddon, ...[lines, names, isText]: Parameters<CsvParser>): ColumnTable | undefined {
  const buffer = addon.parseCsv(lines, isText, maxFrameCells(lines.length))
  if (buffer === undefined) return undefined
  const [rows] = new Float64Array(buffer, 0, 1)
  const bytes = Buffer.from(buffer)
  const words = new Float64Array(buffer, frameWords * 8, names.length * columnWords)
  return { rows, columns: names.map((name, i) => ({ ...columnAt(bytes, words, i * columnWords, rows), name })) }
}

/** The add-on's; undefined when it is not loaded. */
export const parseCsv: CsvParser | undefined =
  frameAddon && ((...args) => parseCsvWith(frameAddon as FrameAddon, ...args))

function columnAt(bytes: Buffer<ArrayBuffer>, words: Float64Array, at: number, rows: number): Column {
  const { buffer } = bytes
  const validity = words[at + 5]
  const offsets = words[at + 6]
  return {
    name: bytes.toString('utf8', words[at + 1], words[at + 1] + words[at + 2]),
    kind: dtypes[words[at]] as ColumnKind,
    data: new Uint8Array(buffer, words[at + 3], words[at + 4]),
    validity: validity === -1 ? undefined : new Uint8Array(buffer, validity, (rows + 7) >> 3),
    offsets: offsets === -1 ? undefined : new Int32Array(buffer, offsets, rows + 1),
  }
}

/** What the add-on is to write: columns, pieces of text, and steps over both. */
class EncodePlan {
  readonly parts: Uint8Array[] = []
  readonly #columns: number[] = []
  readonly #steps: number[] = []
  #count = 0
  #text = ''
  #textBytes = 0

  /** Where a piece of text lies: start and end. */
  #piece(text: string): readonly [number, number] {
    const start = this.#textBytes
    this.#text += text
    this.#textBytes += Buffer.byteLength(text)
    return [start, this.#textBytes]
  }

  /** Takes a column in; answers its number. */
  column(column: Column, key: string): number {
    const { kind, data, validity, offsets, heaps = [] } = column
    const part = (bytes: Uint8Array | undefined) => (bytes === undefined ? -1 : this.parts.push(bytes) - 1)
    const offsetBytes =
      offsets === undefined ? undefined : new Uint8Array(offsets.buffer, offsets.byteOffset, offsets.byteLength)
    const { code } = elementTypes[kind]
    this.#columns.push(code, part(data), part(validity), part(offsetBytes), this.parts.length, heaps.length)
    this.#columns.push(...this.#piece(key))
    this.parts.push(...heaps)
    return this.#count++
  }

  /** Writes a piece of text. */
  text(text: string): void {
    this.#steps.push(0, ...this.#piece(text), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
  }

  /** Writes rows with commas between: before, label, after, elements of `count` columns, close. */
  rows(
    rows: number,
    columns: readonly [first: number, count: number],
    how: {
      before?: string
      label?: readonly [mode: 1 | 2, column: number]
      after?: string
      close?: string
      keys?: boolean
    },
  ): void {
    const [mode, label] = how.label ?? [0, -1]
    this.#steps.push(1, rows, mode, label, ...this.#piece(how.before ?? ''), ...this.#piece(how.after ?? ''))
    this.#steps.push(...this.#piece(how.close ?? ''), ...columns, how.keys ? 1 : 0)
  }

  /** The text; undefined when the add-on cannot write it. */
  run(addon: FrameAddon): Uint8Array | undefined {
    const program = Float64Array.from([0, 0, this.#count, this.#steps.length / 13, ...this.#columns, ...this.#steps])
    const buffer = addon.encodeFrame(program, this.parts, Buffer.from(this.#text))
    return buffer === undefined ? undefined : new Uint8Array(buffer, 0, program[1])
  }
}

function encodeWith(addon: FrameAddon, table: ColumnTable, text: FrameText): Uint8Array {
  const { rows, columns } = table
  const plan = new EncodePlan()
  for (const column of columns) plan.column(column, `${JSON.stringify(column.name)}:`)
  const labels = text.labels === undefined ? -1 : plan.column(text.labels, '')
  const all = [0, columns.length] as const
  const none = [0, 0] as const
  const key = [2, labels] as const
  const split = () => {
    plan.rows(rows, none, { label: [1, labels] })
    plan.text('],"data":[')
  }
  switch (text.layout) {
    case 'records':
      plan.text('[')
      plan.rows(rows, all, { before: '{', keys: true, close: '}' })
      plan.text(']')
      break
    case 'values':
      plan.text('[')
      plan.rows(rows, all, { before: '[', close: ']' })
      plan.text(']')
      break
    case 'index':
      plan.text('{')
      plan.rows(rows, all, { label: key, after: ':{', keys: true, close: '}' })
      plan.text('}')
      break
    case 'columns':
      for (const [i, { name }] of columns.entries()) {
        plan.text(`${i === 0 ? '{' : '},'}${JSON.stringify(name)}:{`)
        plan.rows(rows, [i, 1], { label: key, after: ':' })
      }
      plan.text(columns.length === 0 ? '{}' : '}}')
      break
    case 'split':
      plan.text(`{"columns":[${columns.map(({ name }) => JSON.stringify(name)).join()}],"index":[`)
      split()
      plan.rows(rows, all, { before: '[', close: ']' })
      plan.text(']}')
      break
    case 'table': {
      const comma = columns.length > 0 ? ',' : ''
      const labelled = text.labelKey !== undefined
      plan.text(`{"schema":${text.schema ?? '{}'},"data":[`)
      plan.rows(rows, all, {
        before: labelled ? `{${JSON.stringify(text.labelKey)}:` : '{',
        ...(labelled && { label: [1, labels] as const, after: comma }),
        keys: true,
        close: '}',
      })
      plan.text(']}')
      break
    }
    case 'series':
      plan.text('[')
      plan.rows(rows, [0, 1], {})
      plan.text(']')
      break
    case 'series-index':
      plan.text('{')
      plan.rows(rows, [0, 1], { label: key, after: ':' })
      plan.text('}')
      break
    case 'series-split':
      plan.text(`{"name":${text.name === undefined ? 'null' : JSON.stringify(text.name)},"index":[`)
      split()
      plan.rows(rows, [0, 1], {})
      plan.text(']}')
  }
  return plan.run(addon) ?? typescriptFrameCodec.encodeFrame(table, text)
}

/** The add-on alone, at any size: for tests and benchmarks. Undefined when it is not loaded. */
export const nativeFrameCodec: FrameCodec | undefined =
  frameAddon === undefined
    ? undefined
    : {
        name: 'native',
        parseFrame: (json, layout) => parseWith(frameAddon as FrameAddon, json, layout),
        encodeFrame: (table, text) => encodeWith(frameAddon as FrameAddon, table, text),
      }

/**
 * From which size on the add-on writes faster; it reads faster at any. **Units**: cells. **Source**: bench/micro/frame-codec.ts --small:
 * reading 66 bytes takes 2.4 µs against 6.1, writing 8 cells 5.3 against 4.5, writing 32 cells 5 against 7.
 */
export const minFrameCells = 24

function bySize(native: FrameCodec): FrameCodec {
  return {
    name: 'native',
    parseFrame: native.parseFrame,
    encodeFrame: (table, text) =>
      (table.rows * table.columns.length < minFrameCells ? typescriptFrameCodec : native).encodeFrame(table, text),
  }
}

/** The codec that serves: the add-on from the sizes on where it is faster, the TypeScript codec below and where it is not loaded. */
export const frameCodec: FrameCodec = nativeFrameCodec === undefined ? typescriptFrameCodec : bySize(nativeFrameCodec)
