/**
 * Parses JSON text to typed columns in plain TypeScript, for use without the native add-on. Returns the same columns,
 * and the same errors at the same offsets; not optimised for speed.
 * @module
 */

import { type Column, columnOf } from '../columns.ts'
import { ColumnDraft } from './column-draft.ts'
import {
  type FrameCodec,
  type FrameFailure,
  type FrameLayout,
  maxFrameCells,
  maxFrameColumns,
  type ParsedFrame,
} from './frame-codec.ts'
import { encodeFrame, encodeRows, encodeSteps } from './frame-encode.ts'
import { JsonReader, type Scalar, Stop } from './json-reader.ts'

const bracket = 0x5b
const brace = 0x7b

/** The codec used without the add-on. */
export const typescriptFrameCodec: FrameCodec = { name: 'typescript', parseFrame, encodeFrame, encodeSteps, encodeRows }

function parseFrame(json: Uint8Array, layout: FrameLayout, asWritten = false): ParsedFrame | FrameFailure {
  try {
    return new FrameParser(json, asWritten).parse(layout)
  } catch (error) {
    if (error instanceof Stop) return { ...error }
    throw error
  }
}

class FrameParser {
  readonly #json: JsonReader
  readonly #maxCells: number
  readonly #asWritten: boolean
  readonly #columns: ColumnDraft[] = []
  readonly #byName = new Map<string, ColumnDraft>()
  #rows = 0
  /** Row labels that were object keys → row numbers. */
  #keys: Map<string, number> | undefined

  constructor(json: Uint8Array, asWritten: boolean) {
    this.#asWritten = asWritten
    this.#json = new JsonReader(json)
    this.#maxCells = maxFrameCells(json.length)
  }

  parse(layout: FrameLayout): ParsedFrame {
    const json = this.#json
    const isNull = json.peek() === 0x6e && json.text(json.pos, json.pos + 4) === 'null'
    let rest: Partial<ParsedFrame> = {}
    if (layout === 'split' || layout === 'series-split') rest = this.#split(layout === 'split')
    else if (layout === 'table') rest = this.#table()
    else if (isNull) json.scalar()
    else this.#plain(layout)
    if (json.peek() !== undefined) throw new Stop('syntax', json.pos)
    const columns = this.#columns.map((draft) => draft.finish(this.#rows))
    const labels = rest.labels ?? (this.#keys && labelsOf([...this.#keys.keys()]))
    return {
      table: { rows: this.#rows, columns },
      ...rest,
      ...(labels !== undefined && this.#rows > 0 && { labels }),
    }
  }

  #plain(layout: FrameLayout): void {
    const first = this.#json.peek()
    if (layout === 'series') this.#series()
    else if (first === brace) layout === 'index' ? this.#index() : this.#byColumn()
    else if (first === bracket && layout === 'frame') this.#list()
    else throw this.#unexpected()
  }

  /** Returns the error for a value that the layout does not allow here, or for a missing value. */
  #unexpected(): Stop {
    const start = this.#json.pos
    try {
      this.#json.scalar()
    } catch (error) {
      if (error instanceof Stop) return error
    }
    return new Stop('layout', start)
  }

  /** Throws unless `byte` is next. */
  #require(byte: number): void {
    if (this.#json.peek() !== byte) throw this.#unexpected()
  }

  /** `[…]`: rows that begin with `form`: records, or lists of values. Without it all are as the first, or scalars. */
  #list(form?: number): void {
    let expected = form
    this.#require(bracket)
    this.#json.elements('[', () => {
      const byte = this.#json.peek()
      const start = this.#json.pos
      const own = byte === brace || byte === bracket ? byte : undefined
      if (this.#rows === 0 && form === undefined) expected = own
      if (own !== expected) throw new Stop('ragged', start)
      if (own === brace) this.#record()
      else if (own === bracket) this.#values()
      else this.#cell(this.#rows === 0 ? this.#add('0') : this.#columns[0], this.#rows)
      this.#checkCells(++this.#rows, start)
    })
  }

  /** `{"a":1,"b":2}`: one row. */
  #record(): void {
    this.#json.members((name, start) => {
      let draft = this.#byName.get(name)
      if (draft === undefined) {
        draft = this.#add(name)
        this.#checkCells(this.#rows + 1, start)
      } else if (draft.values.length > this.#rows) {
        throw located(new Stop('duplicate', start), draft, this.#rows)
      }
      this.#cell(draft, this.#rows)
    })
  }

  /** `[1,2]`: one row, columns by position. */
  #values(): void {
    const start = this.#json.pos
    let next = 0
    this.#json.elements('[', () => {
      if (next === this.#columns.length) {
        if (this.#rows > 0) throw new Stop('ragged', start)
        this.#add(String(next))
      }
      this.#cell(this.#columns[next++], this.#rows)
    })
    if (next !== this.#columns.length) throw new Stop('ragged', start)
  }

  /** `{"label":{"a":1}}`: a record per label. */
  #index(): void {
    const keys = new Map<string, number>()
    this.#keys = keys
    this.#json.members((label, start) => {
      if (keys.has(label)) throw new Stop('duplicate', start)
      keys.set(label, this.#rows)
      this.#require(brace)
      this.#record()
      this.#checkCells(++this.#rows, start)
    })
  }

  /** `{"a":{"label":1}}` or `{"a":[1]}`: values column by column. */
  #byColumn(): void {
    let form: number | undefined
    this.#json.members((name, start) => {
      const known = this.#byName.get(name)
      if (known !== undefined) throw located(new Stop('duplicate', start), known)
      const draft = this.#add(name)
      const byte = this.#json.peek()
      const value = this.#json.pos
      if (byte !== brace && byte !== bracket) throw this.#unexpected()
      if (form !== undefined && byte !== form) throw new Stop('ragged', value)
      if (byte === brace) this.#labelled(draft)
      else {
        const rows = this.#listInto(draft)
        if (form !== undefined && rows !== this.#rows) throw new Stop('ragged', value)
        this.#rows = rows
      }
      form = byte
      this.#checkCells(this.#rows, start)
    })
  }

  /** Reads a list of elements into a column; returns their number. */
  #listInto(draft: ColumnDraft): number {
    let rows = 0
    this.#json.elements('[', () => this.#cell(draft, rows++))
    return rows
  }

  /** Reads `{"label":1}` into a column, with the labels in any order. */
  #labelled(draft: ColumnDraft): void {
    this.#keys ??= new Map()
    const keys = this.#keys
    this.#json.members((label, start) => {
      const row = keys.get(label) ?? keys.size
      if (row === keys.size) {
        keys.set(label, row)
        this.#checkCells(++this.#rows, start)
      }
      if (draft.values[row] !== undefined) throw new Stop('duplicate', start)
      this.#cell(draft, row)
    })
  }

  /** Reads a list, an object keyed by label, or one scalar into the column ''. */
  #series(): void {
    const first = this.#json.peek()
    const draft = this.#add('')
    if (first === bracket) this.#rows = this.#listInto(draft)
    else if (first === brace) this.#labelled(draft)
    else {
      this.#cell(draft, 0)
      this.#rows = 1
    }
  }

  /** `{"columns":[…],"index":[…],"data":[[…]]}`, in any order; for series `name` instead of `columns`. */
  #split(isFrame: boolean): Partial<ParsedFrame> {
    const json = this.#json
    const begin = json.pos
    const starts = new Map<string, number>()
    let names: ColumnDraft | undefined
    let index: ColumnDraft | undefined
    let name: string | undefined
    this.#require(brace)
    json.members((key, start) => {
      if (key !== 'data' && key !== 'index' && key !== (isFrame ? 'columns' : 'name')) throw new Stop('keys', start)
      if (starts.has(key)) throw new Stop('duplicate', start)
      json.peek()
      starts.set(key, json.pos)
      if (key === 'index') index = this.#labelList(true)
      else if (key === 'columns') names = this.#labelList(false)
      else if (key === 'name') name = this.#name()
      else if (isFrame) this.#list(bracket)
      else {
        this.#require(bracket)
        this.#rows = this.#listInto(this.#add(''))
      }
    })
    if (!starts.has('data') || (isFrame && names === undefined)) throw new Stop('keys', begin)
    if (index !== undefined && index.values.length !== this.#rows)
      throw new Stop('ragged', starts.get('index') ?? begin)
    if (names !== undefined) this.#rename(names.values.map(String), starts.get('columns') ?? begin)
    return {
      ...(index !== undefined && this.#rows > 0 && { labels: index.finish(this.#rows) }),
      ...(name !== undefined && { name }),
    }
  }

  /** Names the columns by position from split's list of names, which starts at `offset`. */
  #rename(names: readonly string[], offset: number): void {
    if (this.#rows === 0 && this.#columns.length === 0) for (const name of names) this.#add(name)
    if (names.length !== this.#columns.length) throw new Stop('ragged', offset)
    for (const [i, name] of names.entries()) this.#columns[i].name = name
  }

  /** Returns a list of strings, or of integers and, if `floats`, other finite numbers. */
  #labelList(floats: boolean): ColumnDraft {
    const json = this.#json
    const draft = new ColumnDraft('')
    this.#require(bracket)
    json.elements('[', () => {
      const byte = json.peek()
      const start = json.pos
      if (byte === brace || byte === bracket) throw new Stop('labels', start)
      const value = json.scalar()
      const isFloat = floats && json.kind === 'float' && Number.isFinite(value)
      const isLabel = json.kind === 'str' || json.kind === 'int' || isFloat
      if (!isLabel || !draft.put(draft.values.length, value, json.kind)) throw new Stop('labels', start)
    })
    return draft
  }

  /** Returns a string, an integer or null. */
  #name(): string | undefined {
    const json = this.#json
    json.peek()
    const start = json.pos
    const value = json.scalar()
    if (typeof value === 'string') return value
    if (value === null && json.text(start, json.pos) === 'null') return undefined
    if (json.kind !== 'int') throw new Stop('labels', start)
    return json.text(start, json.pos)
  }

  /** `{"schema":{…},"data":[{…}]}`. */
  #table(): Partial<ParsedFrame> {
    const begin = this.#json.pos
    let schema: readonly [number, number] | undefined
    let hasData = false
    this.#require(brace)
    this.#json.members((key, start) => {
      if (key !== 'schema' && key !== 'data') throw new Stop('keys', start)
      if (key === 'schema' ? schema !== undefined : hasData) throw new Stop('duplicate', start)
      if (key === 'data') {
        hasData = true
        this.#list(brace)
      } else {
        this.#require(brace)
        schema = this.#json.skipNested()
      }
    })
    if (schema === undefined || !hasData) throw new Stop('keys', begin)
    return { schema }
  }

  #add(name: string): ColumnDraft {
    if (this.#columns.length === maxFrameColumns) throw new Stop('columns', this.#json.pos)
    const draft = new ColumnDraft(name)
    this.#columns.push(draft)
    this.#byName.set(name, draft)
    return draft
  }

  #checkCells(rows: number, offset: number): void {
    if (rows * this.#columns.length > this.#maxCells) throw new Stop('cells', offset)
  }

  /** Reads the element of a column and a row. */
  #cell(draft: ColumnDraft, row: number): void {
    const json = this.#json
    json.peek()
    const start = json.pos
    let value: Scalar
    try {
      value = json.scalar()
    } catch (error) {
      throw error instanceof Stop ? located(error, draft, row) : error
    }
    if (this.#asWritten) {
      draft.values[row] = json.kind === 'null' ? null : json.written(start)
      if (json.kind !== 'null') draft.kind = 'json'
      return
    }
    if (!draft.put(row, value, json.kind)) throw located(new Stop('kind', start), draft, row)
  }
}

function located(stop: Stop, { name }: ColumnDraft, row?: number): Stop {
  stop.column = name
  if (row !== undefined) stop.row = row
  return stop
}

/** Converts object keys to labels; 15 digits are always exact. */
function labelsOf(keys: readonly string[]): Column {
  const areIntegers = keys.every((key) => /^(?:0|-?[1-9]\d{0,14})$/.test(key))
  return columnOf('', areIntegers ? 'int64' : 'str', areIntegers ? keys.map(Number) : keys)
}
