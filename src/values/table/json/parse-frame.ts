/** JSON text to columns by JSON.parse, for use without the native add-on. @module */
import { isRecord } from '../../../core/options.ts'
import { utf8Text } from '../../../core/platform.ts'
import { whenDefined } from '../../../core/promise.ts'
import { measureJson } from '../../../core/text/json-scan.ts'
import { parseMarked, syntaxFailure } from '../../../core/text/marked-json.ts'
import { requireShort } from '../../../core/text/parse-json.ts'
import { type Column, columnOf } from '../columns.ts'
import {
  type FrameFailure,
  type FrameFailureKind,
  FrameFault,
  type FrameLayout,
  maxFrameCells,
  maxFrameColumns,
  type ParsedFrame,
} from './frame-codec.ts'

/** A value whose numbers are strings: `n1.5`, beside `sText`. Keys are numbered, so that each is kept. */
type Marked = null | boolean | string | readonly Marked[] | MarkedObject
type MarkedObject = { readonly [key: string]: Marked }

/**
 * See `FrameCodec`.
 *
 * @throws PayloadTooLarge, since JSON.parse holds the event loop.
 */
export function parseFrame(
  json: Uint8Array,
  layout: FrameLayout,
  asWritten = false,
): ParsedFrame | FrameFailure {
  requireShort(json, 'of a frame that is read without the native add-on')
  const { deepAt } = measureJson(json)
  if (deepAt !== -1) return { failure: 'nested', offset: deepAt }
  const text = utf8Text(json)
  let value: Marked
  try {
    value = parseMarked(text, true) as Marked
  } catch {
    return syntaxFailure(json, text)
  }
  try {
    return new FrameReader(maxFrameCells(json.length), asWritten).read(value, layout)
  } catch (error) {
    if (error instanceof FrameFault) return error.why
    throw error
  }
}

type Scalar = null | boolean | number | bigint | string
type Kind = 'null' | 'bool' | 'int' | 'uint' | 'float' | 'str' | 'json'

type Draft = ReturnType<typeof draftOf>

function draftOf(name: string) {
  return { name, values: [] as Scalar[], kind: 'null' as Kind, isSigned: false }
}

class FrameReader {
  readonly #maxCells: number
  readonly #asWritten: boolean
  readonly #columns: Draft[] = []
  readonly #byName = new Map<string, Draft>()
  #rows = 0
  #keys: Map<string, number> | undefined

  constructor(maxCells: number, asWritten: boolean) {
    this.#maxCells = maxCells
    this.#asWritten = asWritten
  }

  read(value: Marked, layout: FrameLayout): ParsedFrame {
    const rest = this.#readAs(value, layout) ?? {}
    const labels = rest.labels ?? (this.#keys && labelsOf([...this.#keys.keys()]))
    const columns = this.#columns.map((draft) => columnFrom(draft, this.#rows))
    return {
      table: { rows: this.#rows, columns },
      ...rest,
      labels: this.#rows > 0 ? labels : undefined,
    }
  }

  #readAs(value: Marked, layout: FrameLayout): Partial<ParsedFrame> | undefined {
    if (layout === 'split' || layout === 'series-split')
      return this.#split(value, layout === 'split')
    if (layout === 'table') return this.#table(value)
    if (value === null) return undefined
    if (layout === 'series') this.#series(value)
    else if (isObject(value) && layout === 'index') this.#index(value)
    else if (isObject(value)) this.#byColumn(value)
    else if (layout === 'frame') this.#list(value)
    else throw new FrameFault('layout')
    return undefined
  }

  #list(rows: Marked, form?: string): void {
    if (!Array.isArray(rows)) throw new FrameFault('layout')
    const expected = form ?? formOf(rows[0])
    for (const row of rows) {
      if (formOf(row) !== expected) throw new FrameFault('ragged', undefined, this.#rows)
      if (isObject(row)) this.#record(row)
      else this.#values([row].flat() as readonly Marked[])
      this.#checkCells(++this.#rows)
    }
  }

  #record(record: MarkedObject): void {
    for (const [name, value] of members(record)) {
      const draft = this.#byName.get(name) ?? this.#add(name)
      if (draft.values.length > this.#rows) throw new FrameFault('duplicate', name, this.#rows)
      this.#put(draft, this.#rows, value)
    }
  }

  #values(row: readonly Marked[]): void {
    if (this.#rows === 0) for (let i = 0; i < row.length; i++) this.#add(String(i))
    if (row.length !== this.#columns.length) throw new FrameFault('ragged', undefined, this.#rows)
    for (const [i, value] of row.entries()) this.#put(this.#columns[i], this.#rows, value)
  }

  #index(rows: MarkedObject): void {
    const keys = new Map<string, number>()
    this.#keys = keys
    for (const [label, row] of members(rows)) {
      if (keys.has(label)) throw new FrameFault('duplicate', undefined, this.#rows)
      if (!isObject(row)) throw new FrameFault('layout', undefined, this.#rows)
      keys.set(label, this.#rows)
      this.#record(row)
      this.#checkCells(++this.#rows)
    }
  }

  #byColumn(columns: MarkedObject): void {
    let form: string | undefined
    for (const [name, values] of members(columns)) {
      if (this.#byName.has(name)) throw new FrameFault('duplicate', name)
      const own = formOf(values)
      if (own === 'scalar') throw new FrameFault('layout', name)
      form ??= own
      if (own !== form) throw new FrameFault('ragged', name)
      const isFirst = this.#columns.length === 0
      const rows = this.#fill(this.#add(name), values)
      if (!isFirst && own === 'list' && rows !== this.#rows) throw new FrameFault('ragged', name)
      this.#rows = rows
      this.#checkCells(rows)
    }
  }

  #series(value: Marked): void {
    this.#rows = this.#fill(this.#add(''), value)
  }

  #fill(draft: Draft, values: Marked): number {
    if (!isObject(values)) {
      const list = [values].flat() as readonly Marked[]
      for (const [row, value] of list.entries()) this.#put(draft, row, value)
      return list.length
    }
    this.#keys ??= new Map()
    for (const [label, value] of members(values)) {
      const row = this.#keys.get(label) ?? this.#keys.size
      this.#keys.set(label, row)
      if (draft.values[row] !== undefined) throw new FrameFault('duplicate', draft.name, row)
      this.#put(draft, row, value)
    }
    return this.#keys.size
  }

  #split(value: Marked, isFrame: boolean): Partial<ParsedFrame> {
    const parts = partsOf(value, ['data', 'index', isFrame ? 'columns' : 'name'])
    const names = parts.get('columns')
    const index = parts.get('index')
    const data = parts.get('data')
    if (data === undefined || (isFrame && names === undefined)) throw new FrameFault('keys')
    if (isFrame) this.#list(data, 'list')
    else if (Array.isArray(data)) this.#series(data)
    else throw new FrameFault('layout')
    if (names !== undefined) this.#rename(labelList(names, false).values.map(String))
    const labels = whenDefined(index, (list) => labelList(list, true))
    if (labels !== undefined && labels.values.length !== this.#rows) throw new FrameFault('ragged')
    const name = nameOf(parts.get('name') ?? null)
    return { labels: labels && columnFrom(labels, this.#rows), name }
  }

  #rename(names: readonly string[]): void {
    if (this.#rows === 0 && this.#columns.length === 0) for (const name of names) this.#add(name)
    if (names.length !== this.#columns.length) throw new FrameFault('ragged')
    for (const [i, name] of names.entries()) this.#columns[i].name = name
  }

  #table(value: Marked): Partial<ParsedFrame> {
    const parts = partsOf(value, ['schema', 'data'])
    const schema = parts.get('schema')
    const data = parts.get('data')
    if (schema === undefined || data === undefined) throw new FrameFault('keys')
    if (!isObject(schema)) throw new FrameFault('layout')
    this.#list(data, 'object')
    return { schema: { text: Buffer.from(jsonText(schema)) } }
  }

  #add(name: string): Draft {
    if (this.#columns.length === maxFrameColumns) throw new FrameFault('columns')
    const draft = draftOf(name)
    this.#columns.push(draft)
    this.#byName.set(name, draft)
    return draft
  }

  #put(draft: Draft, row: number, value: Marked): void {
    const isText = this.#asWritten && value !== null && value !== 'nNaN'
    const failure = put(isText ? draftOf(draft.name) : draft, row, value)
    if (isText) append(draft, row, 'json', jsonText(value))
    if (failure !== undefined) throw new FrameFault(failure, draft.name, row)
  }

  #checkCells(rows: number): void {
    if (rows * this.#columns.length > this.#maxCells) throw new FrameFault('cells')
  }
}

function isObject(value: Marked | undefined): value is MarkedObject {
  return isRecord(value)
}

function formOf(value: Marked | undefined): 'list' | 'object' | 'scalar' {
  if (Array.isArray(value)) return 'list'
  if (isObject(value)) return 'object'
  return 'scalar'
}

function members(object: MarkedObject): (readonly [string, Marked])[] {
  return Object.entries(object).map(([key, value]) => {
    const name = key.slice(key.indexOf(':') + 1)
    if (!name.isWellFormed()) throw new FrameFault('encoding')
    return [name, value]
  })
}

function partsOf(value: Marked, keys: readonly string[]): ReadonlyMap<string, Marked> {
  if (!isObject(value)) throw new FrameFault('layout')
  const parts = members(value)
  if (parts.some(([key]) => !keys.includes(key))) throw new FrameFault('keys')
  const byKey = new Map(parts)
  if (byKey.size !== parts.length) throw new FrameFault('duplicate')
  return byKey
}

function labelList(value: Marked, floats: boolean): Draft {
  if (!Array.isArray(value)) throw new FrameFault('layout')
  const draft = draftOf('')
  for (const [row, label] of (value as readonly Marked[]).entries()) {
    const failure = put(draft, row, label)
    const isNumber =
      draft.kind === 'int' ||
      (floats && draft.kind === 'float' && Number.isFinite(draft.values[row]))
    if (
      failure !== undefined ||
      draft.values[row] === null ||
      !(isNumber || draft.kind === 'str')
    ) {
      throw new FrameFault('labels', undefined, row)
    }
  }
  return draft
}

function nameOf(value: Marked): string | undefined {
  if (value === null) return undefined
  if (typeof value !== 'string' || !/^s|^n-?\d+$/.test(value)) throw new FrameFault('labels')
  return value.slice(1)
}

function put(draft: Draft, row: number, value: Marked): FrameFailureKind | undefined {
  if (value === null || value === 'nNaN') return append(draft, row, 'null', null)
  if (typeof value === 'boolean') return append(draft, row, 'bool', value)
  if (typeof value === 'object') return append(draft, row, 'json', jsonText(value))
  const text = value.slice(1)
  if (value[0] === 's') return text.isWellFormed() ? append(draft, row, 'str', text) : 'encoding'
  const number = Number(text)
  if (!/^-?\d+$/.test(text)) {
    if (Number.isFinite(number) || text.endsWith('y')) return append(draft, row, 'float', number)
    return 'range'
  }
  if (Number.isSafeInteger(number)) return append(draft, row, 'int', number + 0)
  // A longer text cannot be in range, and BigInt takes quadratic time on it.
  const exact = text.length > 20 ? 2n ** 64n : BigInt(text)
  if (BigInt.asIntN(64, exact) === exact) return append(draft, row, 'int', exact)
  if (BigInt.asUintN(64, exact) === exact) return append(draft, row, 'uint', exact)
  return 'range'
}

const numbers: readonly Kind[] = ['int', 'uint', 'float']

function append(
  draft: Draft,
  row: number,
  kind: Kind,
  value: Scalar,
): FrameFailureKind | undefined {
  draft.values[row] = value
  if (kind === 'null') return undefined
  draft.isSigned ||= kind === 'int' && (value as number | bigint) < 0
  if (draft.kind === 'null') draft.kind = kind
  else if (draft.kind !== kind) {
    const common = numbers[Math.max(numbers.indexOf(draft.kind), numbers.indexOf(kind))]
    if (!numbers.includes(draft.kind) || !numbers.includes(kind)) return 'kind'
    draft.kind = common
  }
  if (draft.kind === 'uint' && draft.isSigned) return 'kind'
  return undefined
}

const columnKindOf = {
  null: 'float64',
  bool: 'bool',
  int: 'int64',
  uint: 'uint64',
  float: 'float64',
  str: 'str',
  json: 'str',
} as const

function columnFrom({ name, values, kind }: Draft, rows: number): Column {
  const cells = Array.from({ length: rows }, (_, row) => values[row] ?? null)
  const column = columnOf(name, columnKindOf[kind], cells)
  if (kind === 'json') return { ...column, isJson: true }
  return column
}

function labelsOf(keys: readonly string[]): Column {
  const areIntegers = keys.every((key) => /^(?:0|-?[1-9]\d{0,14})$/.test(key))
  if (areIntegers) return columnOf('', 'int64', keys.map(Number))
  return columnOf('', 'str', keys)
}

function jsonText(value: Marked): string {
  if (typeof value === 'string') return value[0] === 's' ? quoted(value.slice(1)) : value.slice(1)
  if (Array.isArray(value)) return `[${value.map(jsonText).join()}]`
  if (!isObject(value)) return String(value)
  const parts = members(value).map(([key, one]) => `${quoted(key)}:${jsonText(one)}`)
  return `{${parts.join()}}`
}

function quoted(text: string): string {
  if (!text.isWellFormed()) throw new FrameFault('encoding')
  return JSON.stringify(text)
}
