/**
 * Typed columns between wire formats and data frames, laid out like Arrow's buffers so that passing them on takes one
 * copy.
 * @module
 */

import { type ColumnKind, dataConstructor, isWideInteger, itemSize } from '../dtype.ts'

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
}

/** Columns of equal length. Names are unique. */
export interface ColumnTable {
  readonly rows: number
  readonly columns: readonly Column[]
}

/** Returns the memory size of a table's columns. **Units**: bytes. */
export function tableBytes({ columns }: ColumnTable): number {
  let bytes = 0
  for (const { data, offsets } of columns) bytes += data.byteLength + (offsets?.byteLength ?? 0)
  return bytes
}

/** Returns rows `start` to `end` of a table. `start` is a multiple of 8. **Cost**: views; copies offsets of text. */
export function sliceTable({ columns }: ColumnTable, start: number, end: number): ColumnTable {
  return { rows: end - start, columns: columns.map((column) => sliceColumn(column, start, end)) }
}

/** Returns rows `start` to `end` of a column. `start` is a multiple of 8. */
export function sliceColumn(column: Column, start: number, end: number): Column {
  const bits = (bytes: Uint8Array) => bytes.subarray(start >> 3, (end + 7) >> 3)
  const { kind, data, offsets } = column
  const validity = column.validity && bits(column.validity)
  const rest = { ...column, ...(validity !== undefined && { validity }) }
  if (kind === 'bool') return { ...rest, data: bits(data) }
  if (offsets === undefined) {
    const size = kind === 'str' ? 16 : itemSize(kind)
    return { ...rest, data: data.subarray(start * size, end * size) }
  }
  const base = offsets[start]
  const own = offsets.slice(start, end + 1)
  if (base !== 0) for (let i = 0; i < own.length; i++) own[i] -= base
  return { ...rest, data: data.subarray(base, offsets[end]), offsets: own }
}

/** Whether element `row` has a value. */
export function isValid(column: Column, row: number): boolean {
  const { validity } = column
  return validity === undefined || (validity[row >> 3] & (1 << (row & 7))) !== 0
}

/** Returns the UTF-8 bytes of element `row` of a str column. **Cost**: a view, no copy. */
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

/** Returns the numbers of a numeric column. **Cost**: a view if aligned in memory, otherwise a copy. */
export function columnNumbers({ kind, data }: Column, rows?: number): ArrayLike<number | bigint> {
  if (kind === 'bool' || kind === 'str') throw new TypeError(`a column of kind ${kind} holds no numbers`)
  const size = itemSize(kind)
  const bytes = data.byteOffset % size === 0 ? data : new Uint8Array(data)
  return new (dataConstructor(kind))(bytes.buffer, bytes.byteOffset, rows ?? Math.floor(bytes.length / size))
}

/**
 * Returns a function that reads the number at a row of a numeric column, a bigint for 64-bit integers. For nulls it
 * returns whatever is stored there.
 * **Errors**: RangeError for a row that the column does not have.
 */
export function numberReader(column: Column): (row: number) => number | bigint {
  const numbers = columnNumbers(column)
  return (row) => {
    if (row < numbers.length) return numbers[row]
    throw new RangeError(`a column of ${numbers.length} elements has no row ${row}`)
  }
}

const empty = new Uint8Array(0)
const encoder = new TextEncoder()

/** Makes a column from values, for samples and small tables; `null` is a null. The values must fit the kind. */
export function columnOf(
  name: string,
  kind: ColumnKind,
  values: readonly (number | bigint | boolean | string | null)[],
): Column {
  const rows = values.length
  let validity: Uint8Array | undefined
  if (values.includes(null)) {
    validity = new Uint8Array((rows + 7) >> 3)
    for (let i = 0; i < rows; i++) if (values[i] !== null) validity[i >> 3] |= 1 << (i & 7)
  }
  const rest = validity === undefined ? {} : { validity }
  if (kind === 'str') {
    const texts = values.map((value) => (value === null ? empty : encoder.encode(String(value))))
    const offsets = new Int32Array(rows + 1)
    for (let i = 0; i < rows; i++) offsets[i + 1] = offsets[i] + texts[i].length
    return { name, kind, data: Buffer.concat(texts), offsets, ...rest }
  }
  if (kind === 'bool') {
    const data = new Uint8Array((rows + 7) >> 3)
    for (let i = 0; i < rows; i++) if (values[i] === true) data[i >> 3] |= 1 << (i & 7)
    return { name, kind, data, ...rest }
  }
  const numbers = new (dataConstructor(kind))(rows)
  const isBig = isWideInteger(kind)
  for (let i = 0; i < rows; i++) {
    const value = values[i] as number | null
    if (value !== null) numbers[i] = (isBig ? BigInt(value) : Number(value)) as number
  }
  return { name, kind, data: new Uint8Array(numbers.buffer), ...rest }
}
