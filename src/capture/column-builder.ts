/** Builds columns of values of one type, row by row. @module */
import { isWideInteger, itemSize } from '../core/dtype.ts'
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

/** A column that grows. Its memory is its own, to be given away. */
export class ColumnBuilder {
  readonly #like: AnyColumn
  readonly #flags = emptyBytes()
  /** Of lists and texts: the end of each row. */
  readonly #ends = emptyBytes()
  /** Bools have a byte each until the end. */
  readonly #data = emptyBytes()
  readonly #inner: readonly ColumnBuilder[]
  #hasNulls = false

  /** `like`: a column of the type, of any rows. */
  constructor(like: AnyColumn) {
    this.#like = like
    this.#inner = childrenOf(like).map((child) => new ColumnBuilder(child))
  }

  get rows(): number {
    return this.#flags.length
  }

  /** Appends nulls up to so many rows. */
  padTo(rows: number): void {
    const like = this.#like
    const missing = rows - this.rows
    if (missing <= 0) return
    this.#hasNulls = true
    appendZeros(this.#flags, missing)
    if ('fields' in like) for (const child of this.#inner) child.padTo(rows)
    else if (hasEnds(like)) for (let i = 0; i < missing; i++) this.#end(0)
    else appendZeros(this.#data, missing * sizeOf(like as Column))
  }

  /** Appends one value to a flat column. */
  append(value: Scalar): void {
    const { kind } = this.#like as Column
    this.#flag(true)
    const data = this.#data
    if (kind === 'str') {
      const start = data.length
      if (typeof value === 'string') {
        data.reserve(value.length * 3)
        data.length += data.buffer.write(value, start)
      } else data.append(value as Uint8Array)
      this.#end(data.length - start)
      return
    }
    const at = data.length
    appendZeros(data, sizeOf(this.#like as Column))
    if (isWideInteger(kind)) data.buffer.writeBigInt64LE(BigInt(value as number), at)
    else if (kind === 'bool') data.buffer[at] = Number(value)
    else data.buffer.writeDoubleLE(value as number, at)
  }

  /** Appends rows of a column of the type. */
  appendColumn(column: AnyColumn, rows: number): void {
    for (let row = 0; row < rows; row++) this.#flag(isValid(column, row))
    if ('fields' in column) {
      for (const [i, child] of this.#inner.entries()) child.appendColumn(column.fields[i], rows)
    } else if ('items' in column) {
      const { offsets, items } = column
      this.#appendEnds(offsets, rows)
      const [first, last] = [offsets[0], offsets[rows]]
      this.#inner[0].appendColumn(sliceColumn(items, first, last), last - first)
    } else if (column.kind === 'str') {
      const { data, offsets = new Int32Array(1) } = contiguousText(column, rows)
      this.#appendEnds(offsets, rows)
      this.#data.append(data.subarray(offsets[0], offsets[rows]))
    } else if (column.kind === 'bool') {
      for (let row = 0; row < rows; row++)
        this.#data.append(Uint8Array.of((column.data[row >> 3] >> (row & 7)) & 1))
    } else this.#data.append(column.data.subarray(0, rows * itemSize(column.kind)))
  }

  /** Appends one row to a column of lists. */
  appendList(items: AnyColumn, count: number): void {
    this.#flag(true)
    this.#end(count)
    this.#inner[0].appendColumn(items, count)
  }

  /** @returns the column. Nothing may be appended afterwards. */
  finish(name: string): AnyColumn {
    const like = this.#like
    const validity = this.#hasNulls ? { validity: packBits(this.#flags.bytes) } : {}
    if ('fields' in like)
      return {
        name,
        ...validity,
        fields: this.#inner.map((child, i) => child.finish(like.fields[i].name)),
      }
    const ends = this.#ends.bytes
    const offsets = new Int32Array(this.rows + 1)
    if (hasEnds(like)) offsets.set(new Int32Array(ends.buffer, 0, this.rows), 1)
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

  #flag(isValue: boolean): void {
    if (!isValue) this.#hasNulls = true
    const flags = this.#flags
    flags.reserve(1)
    flags.buffer[flags.length++] = isValue ? 1 : 0
  }

  /** Ends a row of so many items or bytes. */
  #end(length: number): void {
    const ends = this.#ends
    const last = ends.length === 0 ? 0 : ends.buffer.readInt32LE(ends.length - 4)
    ends.reserve(4)
    ends.buffer.writeInt32LE(last + length, ends.length)
    ends.length += 4
  }

  #appendEnds(offsets: Int32Array, rows: number): void {
    for (let row = 0; row < rows; row++) this.#end(offsets[row + 1] - offsets[row])
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

const sizeOf = ({ kind }: Column) => (kind === 'bool' ? 1 : itemSize(kind))

function appendZeros(bytes: GrowableBytes, count: number): void {
  bytes.reserve(count)
  bytes.buffer.fill(0, bytes.length, bytes.length + count)
  bytes.length += count
}
