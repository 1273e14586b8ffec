/**
 * Typed columns: what stands between a wire format and a data frame. Laid out as Arrow lays out its buffers, so that
 * handing them on is one copy.
 * @module
 */

/** Element kinds of a column, in the order of their stable numeric codes (the add-on uses the code). */
export const columnKinds = [
  'bool',
  'int8',
  'int16',
  'int32',
  'int64',
  'uint8',
  'uint16',
  'uint32',
  'uint64',
  'float32',
  'float64',
  'str',
] as const

/** Name of an element kind. */
export type ColumnKind = (typeof columnKinds)[number]

/** Bytes of one element; 0 for bool (a bit) and str (no fixed size). */
export const kindSizes: Readonly<Record<ColumnKind, number>> = {
  bool: 0,
  int8: 1,
  int16: 2,
  int32: 4,
  int64: 8,
  uint8: 1,
  uint16: 2,
  uint32: 4,
  uint64: 8,
  float32: 4,
  float64: 8,
  str: 0,
}

/** One column. Little-endian, as Arrow's buffers. */
export interface Column {
  readonly name: string
  readonly kind: ColumnKind
  /** Numbers one after another; bool as a bitmap, lowest bit first; str as UTF-8 bytes, or as 16-byte views with `heaps`. */
  readonly data: Uint8Array
  /** A bit per element, 1 where there is a value. Undefined: no element is null. */
  readonly validity?: Uint8Array
  /** str without `heaps`: where each element starts in `data`, and where the last one ends. `rows + 1` numbers. */
  readonly offsets?: Int32Array
  /** str of Arrow's view layout: the buffers that the views in `data` point into. */
  readonly heaps?: readonly Uint8Array[]
}

/** Columns of one length. Names are unique. */
export interface ColumnTable {
  readonly rows: number
  readonly columns: readonly Column[]
}

/** Whether element `row` has a value. */
export function isValid(column: Column, row: number): boolean {
  const { validity } = column
  return validity === undefined || (validity[row >> 3] & (1 << (row & 7))) !== 0
}

/** The UTF-8 bytes of element `row` of a str column. **Cost**: a view, no copy. */
export function bytesAt(column: Column, row: number): Uint8Array {
  const { data, offsets, heaps } = column
  if (offsets !== undefined) return data.subarray(offsets[row], offsets[row + 1])
  // A view: length, then 12 bytes of text, or 4 bytes of prefix, buffer index and offset.
  const view = new DataView(data.buffer, data.byteOffset + row * 16, 16)
  const length = view.getInt32(0, true)
  if (length <= 12) return data.subarray(row * 16 + 4, row * 16 + 4 + length)
  const start = view.getInt32(12, true)
  return (heaps as Uint8Array[])[view.getInt32(8, true)].subarray(start, start + length)
}

/** A function from row to number (bigint for 64-bit integers) of a numeric column. Reads nulls as whatever lies there. */
export function numberReader(column: Column): (row: number) => number | bigint {
  const { buffer, byteOffset, byteLength } = column.data
  const view = new DataView(buffer, byteOffset, byteLength)
  switch (column.kind) {
    case 'int8':
      return (row) => view.getInt8(row)
    case 'int16':
      return (row) => view.getInt16(row * 2, true)
    case 'int32':
      return (row) => view.getInt32(row * 4, true)
    case 'int64':
      return (row) => view.getBigInt64(row * 8, true)
    case 'uint8':
      return (row) => view.getUint8(row)
    case 'uint16':
      return (row) => view.getUint16(row * 2, true)
    case 'uint32':
      return (row) => view.getUint32(row * 4, true)
    case 'uint64':
      return (row) => view.getBigUint64(row * 8, true)
    case 'float32':
      return (row) => view.getFloat32(row * 4, true)
    case 'float64':
      return (row) => view.getFloat64(row * 8, true)
    default:
      throw new TypeError(`a column of kind ${column.kind} holds no numbers`)
  }
}

const empty = new Uint8Array(0)
const encoder = new TextEncoder()

/** Values become a column, for samples and small tables: `null` is null. The values must fit the kind. */
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
  const view = new DataView(new ArrayBuffer(rows * kindSizes[kind]))
  const write = numberWriter(view, kind)
  for (let i = 0; i < rows; i++) if (values[i] !== null) write(i, values[i] as number)
  return { name, kind, data: new Uint8Array(view.buffer), ...rest }
}

function numberWriter(view: DataView, kind: ColumnKind): (row: number, value: number | bigint) => void {
  switch (kind) {
    case 'int8':
      return (row, value) => view.setInt8(row, Number(value))
    case 'int16':
      return (row, value) => view.setInt16(row * 2, Number(value), true)
    case 'int32':
      return (row, value) => view.setInt32(row * 4, Number(value), true)
    case 'int64':
      return (row, value) => view.setBigInt64(row * 8, BigInt(value), true)
    case 'uint8':
      return (row, value) => view.setUint8(row, Number(value))
    case 'uint16':
      return (row, value) => view.setUint16(row * 2, Number(value), true)
    case 'uint32':
      return (row, value) => view.setUint32(row * 4, Number(value), true)
    case 'uint64':
      return (row, value) => view.setBigUint64(row * 8, BigInt(value), true)
    case 'float32':
      return (row, value) => view.setFloat32(row * 4, Number(value), true)
    default:
      return (row, value) => view.setFloat64(row * 8, Number(value), true)
  }
}
