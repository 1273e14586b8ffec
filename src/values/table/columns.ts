/** Typed columns between wire formats and data frames, laid out like Arrow's buffers. @module */

import { type ColumnKind, dataConstructor, isWideInteger, itemSize } from '../../core/dtype.ts'
import { type Elements, viewAs } from '../../core/memory/byte-copy.ts'
import { utf8Text } from '../../core/platform.ts'
import { isBit, packBits, sliceBits } from './bits.ts'

/** Units of times, as numpy and Arrow name them, in the order of Arrow's codes. */
export const timeUnits = ['s', 'ms', 'us', 'ns'] as const

/** Unit of a time. */
export type TimeUnit = (typeof timeUnits)[number]

/** Of times: days (int32), units since 1970 or midnight, or of a duration (int64). `zone`: undefined if local. */
export type TimeType =
  | { readonly type: 'date' }
  | { readonly type: 'datetime'; readonly unit: TimeUnit; readonly zone?: string | undefined }
  | { readonly type: 'time' | 'duration'; readonly unit: TimeUnit }

/** One column. Little-endian, like Arrow's buffers. */
export interface Column {
  readonly name: string
  readonly kind: ColumnKind
  /** Numbers contiguous; bool as bits, lowest first; str as UTF-8 bytes, or as 16-byte views with `heaps`. */
  readonly data: Uint8Array
  /** One bit per element, 1 if it has a value. Undefined: no element is null. */
  readonly validity?: Uint8Array
  /** str without `heaps`: the start of each element in `data`, then the end of the last one. `rows + 1` numbers. */
  readonly offsets?: Int32Array
  /** str in Arrow's view layout: the buffers that the views in `data` point into. */
  readonly heaps?: readonly Uint8Array[]
  /** str: whether each element is the text of a JSON list or object, which stands for its value. */
  readonly isJson?: true
  readonly isBinary?: true
  readonly time?: TimeType
  /** str: the type of Polars that these texts stand for, and that a frame gives them. */
  readonly polarsType?: PolarsType
}

/** Types that only Polars has: columns hold their elements as texts. */
export type PolarsType = 'Categorical' | `Decimal(${number}, ${number})`

/** A column of lists: the elements of row `i` are `items` from `offsets[i]` to `offsets[i + 1]`. */
export interface ListColumn {
  readonly name: string
  readonly validity?: Uint8Array
  readonly offsets: Int32Array
  readonly items: AnyColumn
}

/** A column of objects with the same fields, which have one element for each row. */
export interface StructColumn {
  readonly name: string
  readonly validity?: Uint8Array
  readonly fields: readonly AnyColumn[]
}

/** A column as Polars holds it. */
export type AnyColumn = Column | ListColumn | StructColumn

/** Columns of equal length. Names are unique. */
export interface ColumnTable<C extends AnyColumn = Column> {
  readonly rows: number
  readonly columns: readonly C[]
}

/** @returns the columns right within a column. */
export function childrenOf(column: AnyColumn): readonly AnyColumn[] {
  if ('items' in column) return [column.items]
  return 'fields' in column ? column.fields : []
}

/** @returns a column with what `change` makes of each flat one within it, or of itself. */
export function mapFlat(
  column: AnyColumn,
  rows: number,
  change: (flat: Column, rows: number) => AnyColumn,
): AnyColumn {
  if ('fields' in column)
    return { ...column, fields: column.fields.map((field) => mapFlat(field, rows, change)) }
  if ('items' in column)
    return { ...column, items: mapFlat(column.items, column.offsets[rows], change) }
  return change(column, rows)
}

/** @returns the time zone of a column of instants; undefined for others. */
export function zoneOf(column: AnyColumn): string | undefined {
  if ('kind' in column && column.time?.type === 'datetime') return column.time.zone
  return undefined
}

/**
 * **Units**: bytes.
 *
 * @returns the memory size of a table's columns.
 */
export function tableBytes({ columns }: ColumnTable<AnyColumn>): number {
  let bytes = 0
  for (const column of columns) {
    if ('data' in column) bytes += column.data.byteLength
    if ('offsets' in column) bytes += column.offsets?.byteLength ?? 0
    bytes += tableBytes({ rows: 0, columns: childrenOf(column) })
  }
  return bytes
}

/** @returns the memory of columns, to go to another thread. */
export function buffersOf(
  columns: readonly AnyColumn[],
  buffers = new Set<ArrayBuffer>(),
): Set<ArrayBuffer> {
  const add = (bytes: Uint8Array | Int32Array | undefined) =>
    bytes && buffers.add(bytes.buffer as ArrayBuffer)
  for (const column of columns) {
    add(column.validity)
    if ('offsets' in column) add(column.offsets)
    if ('data' in column) add(column.data)
    buffersOf(childrenOf(column), buffers)
  }
  return buffers
}

/**
 * @returns rows `start` to `end` of a table as views; copies offsets, and bits from the middle of a
 * byte.
 */
export function sliceTable<C extends AnyColumn>(
  { columns }: ColumnTable<C>,
  start: number,
  end: number,
): ColumnTable<C> {
  return { rows: end - start, columns: columns.map((column) => sliceColumn(column, start, end)) }
}

/** @returns rows `start` to `end` of a column. */
export function sliceColumn<C extends AnyColumn>(column: C, start: number, end: number): C {
  const validity = column.validity && sliceBits(column.validity, start, end)
  const rest = { ...column, validity }
  if ('fields' in column)
    return { ...rest, fields: column.fields.map((field) => sliceColumn(field, start, end)) }
  const offsets = column.offsets && movedOffsets(column.offsets, start, end)
  if ('items' in column) {
    const items = sliceColumn(column.items, column.offsets[start], column.offsets[end])
    return { ...rest, offsets: offsets as Int32Array, items }
  }
  const { kind, data } = column as Column
  if (kind === 'bool') return { ...rest, data: sliceBits(data, start, end) }
  if (column.offsets !== undefined) {
    return { ...rest, data: data.subarray(column.offsets[start], column.offsets[end]), offsets }
  }
  const size = kind === 'str' ? 16 : itemSize(kind)
  return { ...rest, data: data.subarray(start * size, end * size) }
}

function movedOffsets(offsets: Int32Array, start: number, end: number): Int32Array {
  const own = offsets.slice(start, end + 1)
  const [base] = own
  if (base !== 0) for (let i = 0; i < own.length; i++) own[i] -= base
  return own
}

/** @returns the same columns with other names. */
export function renameColumns<C extends AnyColumn>(
  { rows, columns }: ColumnTable<C>,
  names: readonly string[],
): ColumnTable<C> {
  return {
    rows,
    columns: columns.map((own, i) => (own.name === names[i] ? own : { ...own, name: names[i] })),
  }
}

/** Arrays of up to so many bytes lie in V8's heap until their buffer is asked for, which takes longer than a copy. */
const maxShortBytes = 64
const shortBytes = new Uint8Array(maxShortBytes)
const shortViews = new Map<unknown, { slice(start: number, end: number): unknown }>()

/**
 * **Cost**: a view if aligned in memory and not short, otherwise a copy.
 *
 * @returns bytes as elements.
 */
function elementsOf<T>(
  bytes: Uint8Array,
  Container: Elements<T>,
  count = bytes.length / Container.BYTES_PER_ELEMENT,
): T {
  const size = Container.BYTES_PER_ELEMENT
  if (bytes.length > maxShortBytes || count * size > bytes.length) {
    return viewAs(Container, bytes, Math.floor(count))
  }
  shortBytes.set(bytes)
  let view = shortViews.get(Container)
  if (view === undefined) {
    view = new Container(shortBytes.buffer) as { slice(start: number, end: number): unknown }
    shortViews.set(Container, view)
  }
  return view.slice(0, count) as T
}

/**
 * **Cost**: see {@link elementsOf}.
 *
 * @returns a column's data in 32-bit words.
 */
export function columnWords({ data }: Column): Int32Array {
  return elementsOf(data, Int32Array)
}

/** Whether element `row` has a value. */
export function isValid(column: Pick<Column, 'validity'>, row: number): boolean {
  const { validity } = column
  return validity === undefined || isBit(validity, row)
}

/** @returns the first row without a value; -1 if all have one. */
export function firstNull(column: Pick<Column, 'validity'>, rows: number): number {
  if (column.validity === undefined) return -1
  for (let row = 0; row < rows; row++) if (!isValid(column, row)) return row
  return -1
}

/** @returns the row of lists with these offsets that holds an element. */
export function rowOfElement(offsets: Int32Array, element: number): number {
  return offsets.findIndex((end, i) => i > 0 && end > element) - 1
}

/** @returns offsets of elements of one length. */
export function evenOffsets(rows: number, length: number): Int32Array {
  return Int32Array.from({ length: rows + 1 }, (_, row) => row * length)
}

/**
 * **Cost**: a view, no copy.
 *
 * @returns the UTF-8 bytes of element `row` of a str column.
 */
export function bytesAt(column: Column, row: number): Uint8Array {
  const { data, offsets, heaps } = column
  if (offsets !== undefined) return data.subarray(offsets[row], offsets[row + 1])
  // A view holds the length, then 12 bytes of text, or 4 bytes of prefix, buffer index and offset.
  const view = new DataView(data.buffer, data.byteOffset + row * 16, 16)
  const length = view.getInt32(0, true)
  if (length <= 12) return data.subarray(row * 16 + 4, row * 16 + 4 + length)
  const start = view.getInt32(12, true)
  return (heaps as Uint8Array[])[view.getInt32(8, true)].subarray(start, start + length)
}

/** @returns element `row` of a str column. */
export function textAt(column: Column, row: number): string {
  return utf8Text(bytesAt(column, row))
}

/**
 * **Cost**: a copy of the text if it is in Arrow's view layout, else no copy.
 *
 * @returns a str column with offsets.
 */
export function contiguousText(column: Column, rows: number): Column {
  const { heaps, ...rest } = column
  if (heaps === undefined) return column
  const words = columnWords(column)
  const offsets = new Int32Array(rows + 1)
  for (let row = 0; row < rows; row++)
    offsets[row + 1] = offsets[row] + (isValid(column, row) ? words[row * 4] : 0)
  const text = Buffer.allocUnsafeSlow(offsets[rows])
  for (let row = 0; row < rows; row++) {
    const [at, end] = [offsets[row], offsets[row + 1]]
    const isShort = end - at <= 12
    const source = isShort ? column.data : heaps[words[row * 4 + 2]]
    const from = isShort ? row * 16 + 4 : words[row * 4 + 3]
    for (let i = 0; i < end - at; i++) text[at + i] = source[from + i]
  }
  return { ...rest, data: text, offsets }
}

/**
 * **Cost**: see {@link elementsOf}.
 *
 * @returns the numbers of a numeric column.
 */
export function columnNumbers({ kind, data }: Column, rows?: number): ArrayLike<number | bigint> {
  if (kind === 'bool' || kind === 'str')
    throw new TypeError(`a column of kind ${kind} holds no numbers`)
  return elementsOf(data, dataConstructor(kind) as Elements<ArrayLike<number | bigint>>, rows)
}

/**
 * @returns a reader of a numeric column: bigints for 64-bit integers, anything for nulls.
 * @throws RangeError.
 */
export function numberReader(column: Column): (row: number) => number | bigint {
  const numbers = columnNumbers(column)
  return (row) => {
    if (row < numbers.length) return numbers[row]
    throw new RangeError(`a column of ${numbers.length} elements has no row ${row}`)
  }
}

/**
 * @returns a reader of a column's elements: bigints for integers beyond ±2^53, anything for nulls.
 */
export function valueReader(column: Column): (row: number) => number | bigint | boolean | string {
  const { kind, data } = column
  if (kind === 'str') return (row) => textAt(column, row)
  if (kind === 'bool') return (row) => isBit(data, row)
  if (!isWideInteger(kind)) return numberReader(column)
  const words = columnWords(column)
  let read: ReturnType<typeof numberReader> | undefined
  return (row) => {
    const high = words[row * 2 + 1]
    if (high >= (kind === 'int64' ? -0x200000 : 0) && high < 0x200000)
      return high * 2 ** 32 + (words[row * 2] >>> 0)
    read ??= numberReader(column)
    return read(row)
  }
}

/** What columns are made from, and what they give back; `null` is a null. */
export type Cell = number | bigint | boolean | string | null

/** The first row whose element does not fit. */
export interface CastFailure {
  readonly failure: 'misfit'
  readonly row: number
}

/** @returns what `read` returns for the rows that have a value, and nulls. */
export function cellsOf(
  column: Pick<Column, 'validity'>,
  rows: number,
  read: (row: number) => Cell,
): Cell[] {
  return Array.from({ length: rows }, (_, row) => (isValid(column, row) ? read(row) : null))
}

/** Makes a column of what `cast` returns for the rows that have a value; undefined does not fit. */
export function castCells(
  column: Column,
  rows: number,
  kind: ColumnKind,
  cast: (row: number) => Cell | undefined,
): Column | CastFailure {
  const cells = new Array<Cell>(rows).fill(null)
  for (let row = 0; row < rows; row++) {
    if (!isValid(column, row)) continue
    const cell = cast(row)
    if (cell === undefined) return { failure: 'misfit', row }
    cells[row] = cell
  }
  return columnOf(column.name, kind, cells)
}

/** @returns a column of nulls alone. */
export function nullColumn(name: string, rows: number): Column {
  return {
    name,
    kind: 'float64',
    data: new Uint8Array(rows * 8),
    validity: new Uint8Array((rows + 7) >> 3),
  }
}

/** Makes a column from values that fit the kind; `null` is a null, half a surrogate pair becomes U+FFFD. */
export function columnOf(name: string, kind: ColumnKind, values: readonly Cell[]): Column {
  const rows = values.length
  const hasNulls = values.includes(null)
  const validity = hasNulls ? packBits(values.map((value) => value !== null)) : undefined
  if (kind === 'str') {
    const texts = values.map((value) => String(value ?? ''))
    const whole = texts.join('')
    const data = Buffer.from(whole)
    const isAscii = data.length === whole.length
    const offsets = new Int32Array(rows + 1)
    for (let i = 0; i < rows; i++) {
      if (!isAscii) texts[i] = texts[i].toWellFormed()
      offsets[i + 1] = offsets[i] + (isAscii ? texts[i].length : Buffer.byteLength(texts[i]))
    }
    return { name, kind, data: isAscii ? data : Buffer.from(texts.join('')), offsets, validity }
  }
  if (kind === 'bool') return { name, kind, data: packBits(values), validity }
  const numbers = new (dataConstructor(kind))(rows)
  // 64-bit integers by 32-bit halves, without a bigint for each.
  const words = isWideInteger(kind) ? new Int32Array(numbers.buffer) : undefined
  for (const [i, value] of values.entries()) {
    if (value === null) continue
    if (words === undefined) numbers[i] = Number(value)
    else if (typeof value === 'number') {
      words[i * 2] = value
      words[i * 2 + 1] = Math.floor(value / 2 ** 32)
    } else numbers[i] = BigInt(value) as unknown as number
  }
  return { name, kind, data: new Uint8Array(numbers.buffer), validity }
}
