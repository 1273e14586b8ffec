/** Columns ⇄ Arrow IPC files. **Source**: Arrow columnar format 1.5, "IPC File Format". @module */

import { bytesOf } from '../../../core/memory/byte-copy.ts'
import { float16ToNumber } from '../../../core/text/number-text.ts'
import { addLongs, addOffsets, type Builder, borrowBuilder, FlatTable } from '../../array/flatbuffer.ts'
import { type AnyColumn, type Column, type ColumnTable, nullColumn, sliceColumn } from '../columns.ts'
import { type ArrowType, arrowTypeOf, writeArrowType } from './arrow-types.ts'

const magic = Buffer.from('ARROW1\0\0')
const metadataV5 = 4
const schemaMessage = 1
const batchMessage = 3

const align = (size: number) => (size + 63) & ~63

function childrenOf(column: AnyColumn): readonly AnyColumn[] {
  if ('items' in column) return [column.items]
  return 'fields' in column ? column.fields : []
}

function writeField(out: Builder, column: AnyColumn): number {
  const text = out.createString(column.name)
  const type = writeArrowType(out, column)
  const children = addOffsets(
    out,
    childrenOf(column).map((child) => writeField(out, child)),
  )
  out.startObject(6)
  out.addFieldOffset(0, text, 0)
  out.addFieldOffset(3, type.at, 0)
  out.addFieldOffset(5, children, 0)
  out.addFieldInt8(2, type.id, 0)
  out.addFieldInt8(1, 1, 0)
  return out.endObject()
}

function writeSchema(out: Builder, columns: readonly AnyColumn[]): number {
  const vector = addOffsets(
    out,
    columns.map((column) => writeField(out, column)),
  )
  out.startObject(2)
  out.addFieldOffset(1, vector, 0)
  return out.endObject()
}

function layOut({ rows, columns }: ColumnTable<AnyColumn>) {
  const nodes: number[] = []
  const buffers: number[] = []
  const heapCounts: number[] = []
  const pieces: { at: number; bytes: Uint8Array }[] = []
  let length = 0
  const add = (bytes: Uint8Array | undefined) => {
    const size = bytes?.byteLength ?? 0
    buffers.push(length, size)
    if (bytes === undefined || size === 0) return
    pieces.push({ at: length, bytes })
    length += align(size)
  }
  const addColumn = (column: AnyColumn, count: number) => {
    const { validity } = column
    nodes.push(count, validity === undefined ? 0 : count - countBits(validity, count))
    add(validity)
    if ('fields' in column) {
      for (const field of column.fields) addColumn(field, count)
      return
    }
    const { offsets } = column
    if (offsets !== undefined) add(bytesOf(offsets))
    if ('items' in column) {
      addColumn(column.items, column.offsets[count])
      return
    }
    add(column.data)
    if (column.heaps === undefined) return
    for (const heap of column.heaps) add(heap)
    heapCounts.push(column.heaps.length)
  }
  for (const column of columns) addColumn(column, rows)
  return { nodes, buffers, heapCounts, pieces, length }
}

function countBits(bits: Uint8Array, count: number): number {
  let found = 0
  for (let i = 0; i < (count + 7) >> 3; i++) {
    const isLast = i === count >> 3
    for (let byte = isLast ? bits[i] & ((1 << (count & 7)) - 1) : bits[i]; byte !== 0; byte &= byte - 1) found++
  }
  return found
}

function writeBatch(rows: number, body: ReturnType<typeof layOut>): Uint8Array {
  const out = borrowBuilder()
  const nodes = addLongs(out, body.nodes, 2)
  const buffers = addLongs(out, body.buffers, 2)
  const heapCounts = body.heapCounts.length === 0 ? 0 : addLongs(out, body.heapCounts)
  out.startObject(5)
  out.addFieldInt64(0, BigInt(rows), 0n)
  out.addFieldOffset(1, nodes, 0)
  out.addFieldOffset(2, buffers, 0)
  out.addFieldOffset(4, heapCounts, 0)
  // Copied, since the footer is written next by the same builder.
  return messageOf(out, batchMessage, out.endObject(), body.length).slice()
}

/** Returns a message; `at`: position of its header; `length`: that of its body. */
function messageOf(out: Builder, type: number, at: number, length = 0): Uint8Array {
  out.startObject(4)
  out.addFieldInt64(3, BigInt(length), 0n)
  out.addFieldOffset(2, at, 0)
  out.addFieldInt16(0, metadataV5, 0)
  out.addFieldInt8(1, type, 0)
  out.finish(out.endObject())
  return out.asUint8Array()
}

function writeFooter(columns: readonly AnyColumn[], block: readonly number[]): Uint8Array {
  const out = borrowBuilder()
  const schema = writeSchema(out, columns)
  const batches = addLongs(out, block, 3)
  const dictionaries = addLongs(out, [], 3)
  out.startObject(4)
  out.addFieldOffset(1, schema, 0)
  out.addFieldOffset(2, dictionaries, 0)
  out.addFieldOffset(3, batches, 0)
  out.addFieldInt16(0, metadataV5, 0)
  out.finish(out.endObject())
  return out.asUint8Array()
}

/** Returns the schema of columns as a message, as Parquet files keep it beside their own. */
export function encodeArrowSchema(columns: readonly AnyColumn[]): Buffer {
  const out = borrowBuilder()
  const bytes = messageOf(out, schemaMessage, writeSchema(out, columns))
  const message = Buffer.alloc(8 + ((bytes.length + 7) & ~7))
  message.writeInt32LE(-1)
  message.writeInt32LE(message.length - 8, 4)
  message.set(bytes, 8)
  return message
}

/** Encodes columns as an Arrow IPC file for Polars, which reads only the footer, without the schema at the start. */
export function encodeArrow(table: ColumnTable<AnyColumn>, allocate: (size: number) => Buffer): Buffer {
  const body = layOut(table)
  const batch = writeBatch(table.rows, body)
  const batchAt = magic.length
  const bodyAt = batchAt + 8 + batch.length
  const footer = writeFooter(table.columns, [batchAt, 8 + batch.length, body.length])
  const endAt = bodyAt + body.length
  const file = allocate(endAt + 8 + footer.length + 10)
  file.set(magic, 0)
  const message = (at: number, bytes: Uint8Array) => {
    file.writeInt32LE(-1, at)
    file.writeInt32LE(bytes.length, at + 4)
    file.set(bytes, at + 8)
  }
  message(batchAt, batch)
  let filled = bodyAt
  for (const { at, bytes } of body.pieces) {
    // The memory is uninitialised: zero the padding, so that no old data gets into the file.
    file.fill(0, filled, bodyAt + at)
    file.set(bytes, bodyAt + at)
    filled = bodyAt + at + bytes.length
  }
  file.fill(0, filled, endAt)
  file.writeInt32LE(-1, endAt)
  file.writeInt32LE(0, endAt + 4)
  file.set(footer, endAt + 8)
  file.writeInt32LE(footer.length, endAt + 8 + footer.length)
  file.set(magic.subarray(0, 6), endAt + 12 + footer.length)
  return file
}

const notArrow = () => new RangeError('expected offsets within the metadata of an Arrow file, received one beyond')

/** Decodes an Arrow IPC file of Polars to views; undefined for several or compressed batches, and other columns. */
export function decodeArrow(file: Uint8Array): ColumnTable<AnyColumn> | undefined {
  const { footer, fields } = footerOf(file)
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  const blocks = footer.longs(3, 3)
  if (blocks.length !== 3) return blocks.length === 0 ? tableOf(fields, noBatch) : undefined
  const [at] = blocks
  const metadataLength = view.getInt32(at + 4, true)
  const batch = FlatTable.root(file.subarray(at + 8, at + 8 + metadataLength), notArrow).table(2)
  if (batch === undefined || batch.table(3) !== undefined) return undefined
  return tableOf(fields, new Batch(file, at + 8 + metadataLength, batch))
}

/** As {@link decodeArrow}, for files whose columns are all of numbers, booleans, times, text or bytes. */
export function decodeFlatArrow(file: Uint8Array): ColumnTable | undefined {
  const isFlat = footerOf(file).fields.every((field) => flatLayouts.has(arrowTypeOf(field)?.layout))
  return isFlat ? (decodeArrow(file) as ColumnTable | undefined) : undefined
}

const flatLayouts: ReadonlySet<ArrowType['layout'] | undefined> = new Set(['flat', 'text', 'views'] as const)

/** Returns which columns of an Arrow IPC file hold bytes or float16, at any depth. */
export function holdBytesOrHalves(file: Uint8Array): boolean[] {
  return footerOf(file).fields.map(holdsBytesOrHalves)
}

function holdsBytesOrHalves(field: FlatTable): boolean {
  const type = arrowTypeOf(field)
  if (type === undefined) return false
  return type.layout === 'half' || 'isBinary' in type || field.tables(5).some(holdsBytesOrHalves)
}

function footerOf(file: Uint8Array): { readonly footer: FlatTable; readonly fields: readonly FlatTable[] } {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  const length = view.getInt32(file.length - 10, true)
  const footer = FlatTable.root(file.subarray(file.length - 10 - length, file.length - 10), notArrow)
  return { footer, fields: footer.table(1)?.tables(1) ?? [] }
}

function tableOf(fields: readonly FlatTable[], batch: Batch): ColumnTable<AnyColumn> | undefined {
  const columns = readColumns(fields, batch)
  return columns && { rows: batch.rows, columns }
}

function readColumns(fields: readonly FlatTable[], batch: Batch): AnyColumn[] | undefined {
  const columns: AnyColumn[] = []
  for (const field of fields) {
    const column = readColumn(field, batch)
    if (column === undefined) return undefined
    columns.push(column)
  }
  return columns
}

class Batch {
  readonly rows: number
  readonly #file: Uint8Array
  readonly #bodyAt: number
  readonly #nodes: readonly number[]
  readonly #buffers: readonly number[]
  readonly #heapCounts: readonly number[]
  #node = 0
  #buffer = 0
  #heap = 0

  constructor(file: Uint8Array, bodyAt: number, batch: FlatTable | undefined) {
    this.rows = batch?.long(0) ?? 0
    this.#file = file
    this.#bodyAt = bodyAt
    this.#nodes = batch?.longs(1, 2) ?? []
    this.#buffers = batch?.longs(2, 2) ?? []
    this.#heapCounts = batch?.longs(4) ?? []
  }

  node(): readonly [rows: number, nulls: number] {
    const at = this.#node
    this.#node += 2
    return [this.#nodes[at] ?? 0, this.#nodes[at + 1] ?? 0]
  }

  bytes(): Uint8Array {
    const at = this.#buffer
    this.#buffer += 2
    const start = this.#bodyAt + (this.#buffers[at] ?? 0)
    return this.#file.subarray(start, start + (this.#buffers[at + 1] ?? 0))
  }

  heaps(): Uint8Array[] {
    return Array.from({ length: this.#heapCounts[this.#heap++] ?? 0 }, () => this.bytes())
  }
}

const noBatch = new Batch(new Uint8Array(0), 0, undefined)

function readColumn(field: FlatTable, batch: Batch): AnyColumn | undefined {
  const type = arrowTypeOf(field)
  if (type === undefined) return undefined
  const name = field.string(0)
  const [rows, nulls] = batch.node()
  if (type.layout === 'null') return nullColumn(name, rows)
  const bits = batch.bytes()
  const rest = { name, ...(nulls > 0 && bits.length > 0 && { validity: bits }) }
  if (type.layout === 'list' || type.layout === 'fixed-list' || type.layout === 'struct') {
    return readNested(field, type, rows, rest, batch)
  }
  return readFlat(type, rows, rest, batch)
}

type Flat = Exclude<ArrowType, { readonly layout: 'list' | 'fixed-list' | 'struct' | 'null' }>

function readFlat(type: Flat, rows: number, rest: Pick<Column, 'name' | 'validity'>, batch: Batch): Column {
  if (type.layout === 'half') return { ...rest, kind: 'float32', data: floatsOf(batch.bytes(), rows) }
  if (type.layout === 'flat') {
    const { kind, time } = type
    return { ...rest, kind, data: batch.bytes(), ...(time !== undefined && { time }) }
  }
  const text = { ...rest, kind: 'str' as const, ...(type.isBinary && { isBinary: type.isBinary }) }
  if (type.layout === 'views') {
    const data = batch.bytes()
    return { ...text, data, heaps: batch.heaps() }
  }
  const offsets = offsetsOf(batch.bytes(), type.offsetBytes, rows)
  return { ...text, offsets, data: batch.bytes() }
}

function readNested(
  field: FlatTable,
  type: Extract<ArrowType, { readonly layout: 'list' | 'fixed-list' | 'struct' }>,
  rows: number,
  rest: Pick<Column, 'name' | 'validity'>,
  batch: Batch,
): AnyColumn | undefined {
  const offsets = type.layout === 'list' ? offsetsOf(batch.bytes(), type.offsetBytes, rows) : undefined
  const children = readColumns(field.tables(5), batch)
  if (children === undefined) return undefined
  if (type.layout === 'struct') return { ...rest, fields: children }
  if (type.layout === 'fixed-list') {
    return {
      ...rest,
      offsets: Int32Array.from({ length: rows + 1 }, (_, row) => row * type.length),
      items: children[0],
    }
  }
  const own = offsets as Int32Array
  const [base] = own
  if (base === 0) return { ...rest, offsets: own, items: children[0] }
  return { ...rest, offsets: own.map((at) => at - base), items: sliceColumn(children[0], base, own[rows]) }
}

function offsetsOf(bytes: Uint8Array, size: 4 | 8, rows: number): Int32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const offsets = new Int32Array(rows + 1)
  if (bytes.length === 0) return offsets
  for (let i = 0; i <= rows; i++)
    offsets[i] = size === 8 ? Number(view.getBigInt64(i * 8, true)) : view.getInt32(i * 4, true)
  return offsets
}

function floatsOf(halves: Uint8Array, rows: number): Uint8Array {
  const floats = new Float32Array(rows)
  for (let i = 0; i < rows; i++) floats[i] = float16ToNumber(halves[i * 2] | (halves[i * 2 + 1] << 8))
  return new Uint8Array(floats.buffer)
}
