/**
 * JSON text becomes typed columns, in plain TypeScript: the fallback of the native add-on, and what names its refusals.
 * @module
 */
import { ColumnBuilder } from './column-builder.ts'
import type { Column } from './columns.ts'
import {
  type FrameCodec,
  type FrameFailure,
  type FrameLayout,
  maxFrameCells,
  maxFrameColumns,
  type ParsedFrame,
} from './frame-codec.ts'
import { FrameColumns, RowLabels } from './frame-columns.ts'
import { encodeFrame } from './frame-encode.ts'
import { JsonScanner, Stop } from './json-scalars.ts'

const open = 0x5b
const close = 0x5d
const brace = 0x7b
const endBrace = 0x7d

/** The codec without the add-on. */
export const typescriptFrameCodec: FrameCodec = { name: 'typescript', parseFrame, encodeFrame }

function parseFrame(json: Uint8Array, layout: FrameLayout): ParsedFrame | FrameFailure {
  const parser = new FrameParser(json)
  try {
    return parser.parse(layout)
  } catch (error) {
    if (!(error instanceof Stop)) throw error
    const { failure, offset, column, row } = error
    return { failure, offset, ...(column !== undefined && { column }), ...(row !== undefined && { row }) }
  }
}

class FrameParser {
  readonly #scan: JsonScanner
  readonly #columns: FrameColumns
  #labels: RowLabels | undefined
  #rows = 0

  constructor(json: Uint8Array) {
    this.#scan = new JsonScanner(json)
    this.#columns = new FrameColumns(this.#scan, maxFrameColumns, maxFrameCells(json.length))
  }

  parse(layout: FrameLayout): ParsedFrame {
    const scan = this.#scan
    const first = scan.peek()
    let rest: Partial<ParsedFrame> = {}
    if (layout === 'split' || layout === 'series-split') rest = this.#split(layout === 'split')
    else if (layout === 'table') rest = this.#table()
    else if (first === 0x6e && scan.word('null')) this.#rows = 0
    else if (layout === 'index') this.#index()
    else if (layout === 'frame') {
      if (first === open) this.#list()
      else if (first === brace) this.#byColumn()
      else throw this.#unexpected()
    } else this.#series()
    if (scan.peek() !== 0 || scan.pos < scan.end) throw new Stop('syntax', scan.pos)
    const columns = this.#columns.finish(this.#rows)
    const labels = rest.labels ?? this.#labels?.finish()
    const hasLabels = labels !== undefined && this.#rows > 0
    return {
      table: { rows: this.#rows, columns },
      keyed: this.#labels !== undefined,
      ...rest,
      ...(hasLabels && { labels }),
    }
  }

  /** A token that the layout does not begin with: another value, or none at all. */
  #unexpected(): Stop {
    const start = this.#scan.pos
    const probe = new ColumnBuilder()
    try {
      this.#scan.scalar(probe)
    } catch (error) {
      if (error instanceof Stop && error.failure !== 'nested') return error
    }
    return new Stop('layout', start)
  }

  /** `[…]`: records, lists of values, or scalars, as the first row is. */
  #list(): void {
    const scan = this.#scan
    scan.expect(open)
    if (scan.peek() === close) {
      scan.pos++
      return
    }
    const first = scan.peek()
    do {
      const byte = scan.peek()
      const start = scan.pos
      const isScalar = byte !== brace && byte !== open
      if (isScalar ? first === brace || first === open : byte !== first) throw new Stop('ragged', start)
      if (byte === brace) this.#record()
      else if (byte === open) this.#values()
      else this.#columns.scalar(this.#rows === 0 ? this.#columns.add('0') : 0, this.#rows)
      this.#rows++
      this.#columns.check(this.#rows, start)
    } while (scan.more(close))
  }

  /** `{"a":1,"b":2}`: one row. */
  #record(): void {
    const scan = this.#scan
    scan.expect(brace)
    if (scan.peek() === endBrace) {
      scan.pos++
      return
    }
    let predicted = 0
    do {
      const column = this.#columns.find(predicted, this.#rows)
      this.#columns.scalar(column, this.#rows)
      predicted = column + 1
    } while (scan.more(endBrace))
  }

  /** `[1,2]`: one row, columns by their place. */
  #values(): void {
    const scan = this.#scan
    const start = scan.pos
    scan.expect(open)
    let next = 0
    if (scan.peek() === close) scan.pos++
    else
      do {
        if (next === this.#columns.count) {
          if (this.#rows > 0) throw new Stop('ragged', start)
          this.#columns.add(String(next))
        }
        this.#columns.scalar(next++, this.#rows)
      } while (scan.more(close))
    if (next !== this.#columns.count) throw new Stop('ragged', start)
  }

  /** `{"label":{"a":1}}`: a record per label. */
  #index(): void {
    const scan = this.#scan
    if (scan.peek() !== brace) throw this.#unexpected()
    const labels = new RowLabels(scan)
    this.#labels = labels
    this.#eachKey((start) => {
      if (labels.find(this.#rows) !== this.#rows) throw new Stop('duplicate', start)
      if (scan.peek() !== brace) throw this.#unexpected()
      this.#record()
      this.#rows++
      this.#columns.check(this.#rows, start)
    })
  }

  /** Reads `{` … `}`; `each` reads what stands behind a key. */
  #eachKey(each: (start: number) => void): void {
    const scan = this.#scan
    scan.expect(brace)
    if (scan.peek() === endBrace) {
      scan.pos++
      return
    }
    do each(scan.key())
    while (scan.more(endBrace))
  }

  /** `{"a":{"label":1}}` or `{"a":[1]}`: values column by column. */
  #byColumn(): void {
    const scan = this.#scan
    let form = 0
    this.#eachKey((start) => {
      const column = this.#columns.addKey(start)
      const byte = scan.peek()
      const at = scan.pos
      if (byte !== brace && byte !== open) throw this.#unexpected()
      if (form !== 0 && byte !== form) throw new Stop('ragged', at)
      if (byte === open) {
        const rows = this.#listInto(column)
        if (form !== 0 && rows !== this.#rows) throw new Stop('ragged', at)
        this.#rows = rows
      } else {
        this.#labels ??= new RowLabels(scan)
        this.#labelled(column, this.#labels)
      }
      form = byte
      this.#columns.check(this.#rows, start)
    })
  }

  /** A list of scalars into a column; answers how many. */
  #listInto(column: number): number {
    const scan = this.#scan
    scan.expect(open)
    if (scan.peek() === close) {
      scan.pos++
      return 0
    }
    let rows = 0
    do this.#columns.scalar(column, rows++)
    while (scan.more(close))
    return rows
  }

  /** `{"label":1}` into a column, whatever the labels' order. */
  #labelled(column: number, labels: RowLabels): void {
    let count = 0
    this.#eachKey((start) => {
      const row = labels.find(count)
      if (row === labels.count - 1 && row === this.#rows) {
        this.#rows++
        this.#columns.check(this.#rows, start)
      }
      if (!this.#columns.place(column, count, row)) throw new Stop('duplicate', start)
      this.#columns.scalar(column, row)
      count++
    })
  }

  /** A list, an object of labels, or one scalar, into the column ''. */
  #series(): void {
    const first = this.#scan.peek()
    const column = this.#columns.add('')
    if (first === open) this.#rows = this.#listInto(column)
    else if (first === brace) {
      this.#labels = new RowLabels(this.#scan)
      this.#labelled(column, this.#labels)
    } else {
      this.#columns.scalar(column, 0)
      this.#rows = 1
    }
  }

  /** `{"columns":[…],"index":[…],"data":[[…]]}`, in any order; for series `name` instead of `columns`. */
  #split(isFrame: boolean): Partial<ParsedFrame> {
    const scan = this.#scan
    const begin = scan.pos
    if (scan.peek() !== brace) throw this.#unexpected()
    const seen = new Map<string, number>()
    let names: Column | undefined
    let index: Column | undefined
    let name: string | undefined
    this.#eachKey((start) => {
      const key = scan.textValue()
      if (seen.has(key)) throw new Stop('duplicate', start)
      scan.peek()
      seen.set(key, scan.pos)
      if (key === 'index') index = this.#labelList()
      else if (key === 'columns' && isFrame) names = this.#labelList()
      else if (key === 'name' && !isFrame) name = this.#name()
      else if (key === 'data') {
        if (scan.peek() !== open) throw this.#unexpected()
        if (isFrame) this.#rowsOfValues()
        else this.#rows = this.#listInto(this.#columns.add(''))
      } else throw new Stop('keys', start)
    })
    const dataAt = seen.get('data')
    if (dataAt === undefined || (isFrame && names === undefined)) throw new Stop('keys', begin)
    if (index !== undefined && lengthOf(index) !== this.#rows) throw new Stop('ragged', seen.get('index') ?? begin)
    if (names !== undefined) this.#columns.rename(names, this.#rows === 0, seen.get('columns') ?? begin)
    return {
      ...(index !== undefined && this.#rows > 0 && { labels: index }),
      ...(name !== undefined && { name }),
      keyed: false,
    }
  }

  #rowsOfValues(): void {
    const scan = this.#scan
    scan.expect(open)
    if (scan.peek() === close) {
      scan.pos++
      return
    }
    do {
      const start = scan.pos
      if (scan.peek() !== open) throw new Stop('ragged', scan.pos)
      this.#values()
      this.#rows++
      this.#columns.check(this.#rows, start)
    } while (scan.more(close))
  }

  /** A list of strings or of integers. */
  #labelList(): Column {
    const scan = this.#scan
    if (scan.peek() !== open) throw this.#unexpected()
    scan.expect(open)
    const builder = new ColumnBuilder()
    if (scan.peek() === close) scan.pos++
    else
      do {
        const byte = scan.peek()
        const start = scan.pos
        const before = builder.kind
        if (byte !== 0x22 && byte !== 0x2d && !(byte >= 0x30 && byte <= 0x39)) throw this.#notLabel()
        try {
          scan.scalar(builder)
        } catch (error) {
          throw error instanceof Stop && error.failure === 'kind' ? new Stop('labels', start) : error
        }
        if (builder.kind === 'float' || (before !== 'null' && builder.kind !== before)) throw new Stop('labels', start)
      } while (scan.more(close))
    return builder.finish('')
  }

  #notLabel(): Stop {
    const stop = this.#unexpected()
    return stop.failure === 'layout' ? new Stop('labels', stop.offset) : stop
  }

  #name(): string | undefined {
    const scan = this.#scan
    const byte = scan.peek()
    if (byte === 0x6e && scan.word('null')) return undefined
    if (byte !== 0x22) {
      const builder = new ColumnBuilder()
      const start = scan.pos
      scan.scalar(builder)
      if (builder.kind !== 'int') throw new Stop('labels', start)
      return Buffer.from(scan.bytes.buffer, scan.bytes.byteOffset + start, scan.pos - start).toString()
    }
    scan.string()
    return scan.textValue()
  }

  /** `{"schema":{…},"data":[{…}]}`. */
  #table(): Partial<ParsedFrame> {
    const scan = this.#scan
    const begin = scan.pos
    if (scan.peek() !== brace) throw this.#unexpected()
    let schema: readonly [number, number] | undefined
    let hasData = false
    this.#eachKey((start) => {
      const key = scan.textValue()
      if (key === 'schema' && schema === undefined) {
        if (scan.peek() !== brace) throw this.#unexpected()
        schema = this.#skipObject()
      } else if (key === 'data' && !hasData) {
        if (scan.peek() !== open) throw this.#unexpected()
        hasData = true
        this.#records()
      } else throw new Stop(key === 'schema' || key === 'data' ? 'duplicate' : 'keys', start)
    })
    if (schema === undefined || !hasData) throw new Stop('keys', begin)
    return { schema, keyed: false }
  }

  #records(): void {
    const scan = this.#scan
    scan.expect(open)
    if (scan.peek() === close) {
      scan.pos++
      return
    }
    do {
      const start = scan.pos
      if (scan.peek() !== brace) throw new Stop('ragged', scan.pos)
      this.#record()
      this.#rows++
      this.#columns.check(this.#rows, start)
    } while (scan.more(close))
  }

  /** Passes over an object by its brackets and strings alone; who reads it later judges the rest. */
  #skipObject(): readonly [number, number] {
    const scan = this.#scan
    const start = scan.pos
    let depth = 0
    do {
      const byte = scan.peek()
      if (byte === 0x22) scan.string()
      else {
        if (scan.pos >= scan.end) throw new Stop('syntax', scan.pos)
        if ((byte | 0x20) === brace) depth++
        else if ((byte | 0x20) === endBrace) depth--
        scan.pos++
      }
    } while (depth > 0)
    return [start, scan.pos]
  }
}

function lengthOf(column: Column): number {
  return column.offsets === undefined ? column.data.length / 8 : column.offsets.length - 1
}
