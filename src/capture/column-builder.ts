/** Builds columns of values of one type, row by row. @module */
import { type DTypeData, dataConstructor, isWideInteger, itemSize } from '../core/dtype.ts'
import { GrowableBytes } from '../core/memory/growable-bytes.ts'
import {
  type AnyColumn,
  type Column,
  contiguousText,
  isValid,
  packBits,
  sliceColumn,
} from '../values/table/columns.ts'

const emptyBytes = () => new GrowableBytes(Buffer.alloc(0))

/** What a flat column has in a row. */
export type Scalar = string | number | bigint | boolean | Uint8Array

/** Elements in a container of a numeric type. */
export type Elements = DTypeData['float64' | 'int64' | 'uint8']

/** A column that grows. Its memory is its own, to be given away. */
export class ColumnBuilder {
  readonly #like: AnyColumn
  /** A byte for each row, from the first null on. */
  #flags: GrowableBytes | undefined
  /** Of lists and texts: the end of each row. */
  readonly #ends = emptyBytes()
  /** Bools have a byte each until the end. */
  readonly #data = emptyBytes()
  readonly #inner: readonly ColumnBuilder[]
  #view: Elements | undefined
  #rows = 0
  #end = 0

  /** `like`: a column of the type, of any rows. */
  constructor(like: AnyColumn) {
    this.#like = like
    this.#inner = childrenOf(like).map((child) => new ColumnBuilder(child))
  }

  get rows(): number {
    return this.#rows
  }

  /** Appends nulls up to so many rows. */
  padTo(rows: number): void {
    const like = this.#like
    const missing = rows - this.#rows
    if (missing <= 0) return
    this.#addRows(missing, false)
    if ('fields' in like) for (const child of this.#inner) child.padTo(rows)
    else if (hasEnds(like)) for (let i = 0; i < missing; i++) this.#endRow(0)
    else fill(this.#data, missing * itemSize((like as Column).kind), 0)
  }

  /** Appends one value to a flat column. */
  append(value: Scalar): void {
    const { kind } = this.#like as Column
    this.#addRows(1, true)
    const data = this.#data
    const start = data.length
    if (kind === 'str') {
      if (typeof value === 'string') {
        data.reserve(value.length * 3)
        data.length += data.buffer.write(value, start)
      } else data.append(value as Uint8Array)
      this.#endRow(data.length - start)
      return
    }
    fill(data, itemSize(kind), 0)
    if (isWideInteger(kind)) data.buffer.writeBigInt64LE(BigInt(value as number), start)
    else if (kind === 'bool') data.buffer[start] = Number(value)
    else data.buffer.writeDoubleLE(value as number, start)
  }

  /** Appends one row to a column of lists of numbers. */
  appendElements(elements: Elements): void {
    this.#addRows(1, true)
    this.#endRow(elements.length)
    this.#inner[0].#add(elements)
  }

  /** Appends one row to a column of lists. */
  appendList(items: AnyColumn, count: number): void {
    this.#addRows(1, true)
    this.#endRow(count)
    this.#inner[0].appendColumn(items, count)
  }

  /** Appends rows of a column of the type. */
  appendColumn(column: AnyColumn, rows: number): void {
    if (column.validity === undefined) this.#addRows(rows, true)
    else for (let row = 0; row < rows; row++) this.#addRows(1, isValid(column, row))
    if ('fields' in column) {
      for (const [i, child] of this.#inner.entries()) child.appendColumn(column.fields[i], rows)
    } else if ('items' in column) {
      const { offsets, items } = column
      for (let row = 0; row < rows; row++) this.#endRow(offsets[row + 1] - offsets[row])
      const [first, last] = [offsets[0], offsets[rows]]
      this.#inner[0].appendColumn(sliceColumn(items, first, last), last - first)
    } else if (column.kind === 'str') {
      const { data, offsets = new Int32Array(1) } = contiguousText(column, rows)
      for (let row = 0; row < rows; row++) this.#endRow(offsets[row + 1] - offsets[row])
      this.#data.append(data.subarray(offsets[0], offsets[rows]))
    } else if (column.kind === 'bool') {
      const { data } = column
      this.#data.append(Uint8Array.from({ length: rows }, (_, i) => (data[i >> 3] >> (i & 7)) & 1))
    } else this.#data.append(column.data.subarray(0, rows * itemSize(column.kind)))
  }

  /** @returns the column. Nothing may be appended afterwards. */
  finish(name: string): AnyColumn {
    const like = this.#like
    const validity = this.#flags && { validity: packBits(this.#flags.bytes) }
    if ('fields' in like) {
      const fields = this.#inner.map((child, i) => child.finish(like.fields[i].name))
      return { name, ...validity, fields }
    }
    const offsets = new Int32Array(this.#rows + 1)
    if (hasEnds(like)) offsets.set(new Int32Array(this.#ends.bytes.buffer, 0, this.#rows), 1)
    if ('items' in like)
      return { name, ...validity, offsets, items: this.#inner[0].finish(like.items.name) }
    const { kind, time, isBinary } = like
    const bytes = this.#data.bytes
    return {
      name,
      kind,
      data: kind === 'bool' ? packBits(bytes) : bytes,
      ...validity,
      ...(kind === 'str' && { offsets }),
      ...(time && { time }),
      ...(isBinary && { isBinary }),
    }
  }

  #addRows(rows: number, areValues: boolean): void {
    if (!areValues && this.#flags === undefined) {
      this.#flags = emptyBytes()
      fill(this.#flags, this.#rows, 1)
    }
    if (this.#flags !== undefined) fill(this.#flags, rows, areValues ? 1 : 0)
    this.#rows += rows
  }

  /** Ends a row of so many items or bytes. */
  #endRow(length: number): void {
    const ends = this.#ends
    this.#end += length
    ends.reserve(4)
    ends.buffer.writeInt32LE(this.#end, ends.length)
    ends.length += 4
  }

  #add(elements: Elements): void {
    const data = this.#data
    data.reserve(elements.byteLength)
    const { buffer } = data.buffer
    const size = elements.BYTES_PER_ELEMENT
    if (this.#view?.buffer !== buffer) {
      const Container = dataConstructor((this.#like as Column).kind as 'float64')
      this.#view = new Container(buffer, 0, Math.floor(buffer.byteLength / size))
    }
    this.#view.set(elements as never, data.length / size)
    data.length += elements.byteLength
    this.#addRows(elements.length, true)
  }
}

/** @returns the name of a type, equal for equal types. */
export function typeName(column: AnyColumn): string {
  if ('items' in column) return `list<${typeName(column.items)}>`
  if ('fields' in column)
    return `struct<${column.fields.map((field) => `${JSON.stringify(field.name)}: ${typeName(field)}`)}>`
  const { kind, time, isBinary } = column
  if (time !== undefined) return Object.values(time).join(' ')
  return isBinary ? 'bytes' : kind
}

function childrenOf(column: AnyColumn): readonly AnyColumn[] {
  if ('items' in column) return [column.items]
  return 'fields' in column ? column.fields : []
}

const hasEnds = (column: AnyColumn) =>
  'items' in column || ('kind' in column && column.kind === 'str')

function fill(bytes: GrowableBytes, count: number, value: number): void {
  bytes.reserve(count)
  bytes.buffer.fill(value, bytes.length, bytes.length + count)
  bytes.length += count
}
