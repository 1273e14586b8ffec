/**
 * The columns and row labels of a frame while it is parsed: found by a guess first, by a map when that fails.
 * @module
 */
import { ColumnBuilder } from './column-builder.ts'
import { bytesAt, type Column, numberReader } from './columns.ts'
import { type JsonScanner, Stop } from './json-scalars.ts'

interface Slot {
  name: string
  key: Uint8Array
  builder: ColumnBuilder
  /** Row → element, where the elements did not come in the rows' order. */
  places: Int32Array | undefined
}

const encoder = new TextEncoder()

/** Columns by name and by place. */
export class FrameColumns {
  readonly #scan: JsonScanner
  readonly #slots: Slot[] = []
  readonly #byName = new Map<string, number>()
  readonly #maxColumns: number
  readonly #maxCells: number

  constructor(scan: JsonScanner, maxColumns: number, maxCells: number) {
    this.#scan = scan
    this.#maxColumns = maxColumns
    this.#maxCells = maxCells
  }

  get count(): number {
    return this.#slots.length
  }

  /** Stops when so many rows make too many cells. */
  check(rows: number, offset: number): void {
    if (rows * this.#slots.length > this.#maxCells) throw new Stop('cells', offset)
  }

  /** A new column; answers its place. */
  add(name: string): number {
    if (this.#slots.length === this.#maxColumns) throw new Stop('columns', this.#scan.pos)
    this.#byName.set(name, this.#slots.length)
    return this.#slots.push({ name, key: encoder.encode(name), builder: new ColumnBuilder(), places: undefined }) - 1
  }

  /** Reads a key that must be new. */
  addKey(start: number): number {
    const name = this.#scan.textValue()
    if (this.#byName.has(name)) throw this.#at(new Stop('duplicate', start), name)
    return this.add(name)
  }

  /** Reads a key of a record; answers its column, which has no element of this row yet. Keys mostly come in the same order. */
  find(predicted: number, row: number): number {
    const scan = this.#scan
    const start = scan.key()
    const guess = this.#slots[predicted]
    let column = predicted
    if (guess === undefined || !isKey(guess.key, scan)) {
      const name = scan.textValue()
      const known = this.#byName.get(name)
      column = known ?? this.add(name)
      if (known === undefined) this.check(row + 1, start)
    }
    const { builder, name } = this.#slots[column]
    if (builder.length > row) throw this.#at(new Stop('duplicate', start), name, row)
    if (builder.length < row) builder.padTo(row)
    return column
  }

  /** Reads a scalar into a column; `row` is told when it does not fit. */
  scalar(column: number, row: number): void {
    const slot = this.#slots[column]
    try {
      this.#scan.scalar(slot.builder)
    } catch (error) {
      throw error instanceof Stop ? this.#at(error, slot.name, row) : error
    }
  }

  #at(stop: Stop, column: string, row?: number): Stop {
    stop.column = column
    if (row !== undefined) stop.row = row
    return stop
  }

  /** Element `count` of a column belongs to `row`. False when the row has one already. */
  place(column: number, count: number, row: number): boolean {
    const slot = this.#slots[column]
    if (slot.places === undefined) {
      if (row === count) return true
      slot.places = Int32Array.from({ length: Math.max(8, count * 2) }, (_, i) => (i < count ? i : -1))
    }
    if (row >= slot.places.length) {
      const grown = new Int32Array(Math.max(row + 1, slot.places.length * 2)).fill(-1)
      grown.set(slot.places)
      slot.places = grown
    }
    if (slot.places[row] !== -1) return false
    slot.places[row] = count
    return true
  }

  /** The columns by place get names. Stops when there are more or fewer names. */
  rename(names: Column, isEmpty: boolean, offset: number): void {
    const texts: string[] = []
    if (names.offsets !== undefined) {
      for (let i = 0; i < names.offsets.length - 1; i++) texts.push(Buffer.from(bytesAt(names, i)).toString())
    } else {
      const read = numberReader(names.data.length === 0 ? { ...names, kind: 'int64' } : names)
      for (let i = 0; i < names.data.length / 8; i++) texts.push(String(read(i)))
    }
    if (isEmpty && this.#slots.length === 0) for (const text of texts) this.add(text)
    else if (texts.length !== this.#slots.length) throw new Stop('ragged', offset)
    for (let i = 0; i < texts.length; i++) this.#slots[i].name = texts[i]
  }

  /** All columns, with as many rows each. */
  finish(rows: number): Column[] {
    return this.#slots.map(({ name, builder, places }) => {
      if (places !== undefined) return builder.gather(places, rows).finish(name)
      builder.padTo(rows)
      return builder.finish(name)
    })
  }
}

function isKey(key: Uint8Array, { text, textStart, textEnd }: JsonScanner): boolean {
  if (key.length !== textEnd - textStart) return false
  for (let i = 0; i < key.length; i++) if (key[i] !== text[textStart + i]) return false
  return true
}

/** Labels that are object keys: each once, in the order of their first appearance. */
export class RowLabels {
  readonly #scan: JsonScanner
  readonly #builder = new ColumnBuilder()
  /** Whether label `i` is the text of `i`, for all of them; then no map is needed. */
  #isRange = true
  #map: Map<string, number> | undefined

  constructor(scan: JsonScanner) {
    this.#scan = scan
  }

  get count(): number {
    return this.#builder.length
  }

  /** The row of the label that was just read as a key; a new one goes to the end. */
  find(predicted: number): number {
    const { text, textStart, textEnd } = this.#scan
    const builder = this.#builder
    if (predicted < builder.length && builder.holds(predicted, text, textStart, textEnd)) return predicted
    if (this.#isRange) {
      const row = rowNumber(text, textStart, textEnd)
      if (row !== -1 && row < builder.length) return row
      if (row !== builder.length) this.#isRange = false
    }
    if (!this.#isRange) {
      this.#map ??= new Map(Array.from({ length: builder.length }, (_, row) => [builder.textAt(row), row]))
      const key = this.#scan.textValue()
      const known = this.#map.get(key)
      if (known !== undefined) return known
      this.#map.set(key, builder.length)
    }
    builder.str(text, textStart, textEnd)
    return builder.length - 1
  }

  /** The labels, as text. */
  finish(): Column {
    return this.#builder.finish('')
  }
}

/** `0`, `17`: the number; -1 for what is not written so. */
function rowNumber(bytes: Uint8Array, start: number, end: number): number {
  if (end === start || end - start > 9 || (bytes[start] === 0x30 && end - start > 1)) return -1
  let value = 0
  for (let i = start; i < end; i++) {
    const digit = bytes[i] - 0x30
    if (digit < 0 || digit > 9) return -1
    value = value * 10 + digit
  }
  return value
}
