/**
 * Columns ⇄ Arrow IPC files, the only format that Polars imports and exports without touching single values.
 * Source: Arrow columnar format 1.5, "IPC File Format"; Schema.fbs, Message.fbs, File.fbs.
 * @module
 */

import { addLongs, addOffsets, type Builder, borrowBuilder, FlatTable } from '../array/flatbuffer.ts'
import { type ColumnKind, elementTypes, isDType, itemSize } from '../dtype.ts'
import type { Column, ColumnTable } from './columns.ts'

const magic = Buffer.from('ARROW1\0\0')
const metadataV5 = 4
const batchMessage = 3
// Type ids of Schema.fbs.
const typeInt = 2
const typeFloat = 3
const typeUtf8 = 5
const typeBool = 6
const typeLargeUtf8 = 20
const typeUtf8View = 24

const align = (size: number) => (size + 63) & ~63

function writeType(out: Builder, { kind, heaps }: Column): { id: number; at: number } {
  out.startObject(2)
  if (kind === 'bool') return { id: typeBool, at: out.endObject() }
  if (kind === 'str') return { id: heaps === undefined ? typeUtf8 : typeUtf8View, at: out.endObject() }
  if (kind === 'float32' || kind === 'float64') {
    out.addFieldInt16(0, kind === 'float32' ? 1 : 2, 0)
    return { id: typeFloat, at: out.endObject() }
  }
  out.addFieldInt32(0, itemSize(kind) * 8, 0)
  out.addFieldInt8(1, elementTypes[kind].kind === 'i' ? 1 : 0, 0)
  return { id: typeInt, at: out.endObject() }
}

function writeSchema(out: Builder, columns: readonly Column[]): number {
  const fields = columns.map((column) => {
    const text = out.createString(column.name)
    const type = writeType(out, column)
    const children = addOffsets(out, [])
    out.startObject(6)
    out.addFieldOffset(0, text, 0)
    out.addFieldOffset(3, type.at, 0)
    out.addFieldOffset(5, children, 0)
    out.addFieldInt8(2, type.id, 0)
    out.addFieldInt8(1, 1, 0)
    return out.endObject()
  })
  const vector = addOffsets(out, fields)
  out.startObject(2)
  out.addFieldOffset(1, vector, 0)
  return out.endObject()
}

interface Body {
  readonly nodes: number[]
  readonly places: number[]
  readonly heapCounts: number[]
  readonly pieces: { readonly at: number; readonly bytes: Uint8Array }[]
  readonly length: number
}

/** Returns the position of each buffer of each column in the body. Aligned to 64 bytes, as the format recommends. */
function layOut({ rows, columns }: ColumnTable): Body {
  const nodes: number[] = []
  const places: number[] = []
  const heapCounts: number[] = []
  const pieces: { at: number; bytes: Uint8Array }[] = []
  let length = 0
  const add = (bytes: Uint8Array | undefined) => {
    const size = bytes?.byteLength ?? 0
    places.push(length, size)
    if (bytes === undefined || size === 0) return
    pieces.push({ at: length, bytes })
    length += align(size)
  }
  for (const column of columns) {
    const { validity, offsets, data, heaps } = column
    nodes.push(rows, validity === undefined ? 0 : rows - countBits(validity, rows))
    add(validity)
    if (offsets !== undefined) add(new Uint8Array(offsets.buffer, offsets.byteOffset, offsets.byteLength))
    add(data)
    if (heaps === undefined) continue
    for (const heap of heaps) add(heap)
    heapCounts.push(heaps.length)
  }
  return { nodes, places, heapCounts, pieces, length }
}

function countBits(bits: Uint8Array, count: number): number {
  let found = 0
  for (let i = 0; i < count >> 3; i++) {
    let byte = bits[i]
    byte -= (byte >> 1) & 0x55
    byte = (byte & 0x33) + ((byte >> 2) & 0x33)
    found += (byte + (byte >> 4)) & 0x0f
  }
  for (let i = count & ~7; i < count; i++) if (bits[i >> 3] & (1 << (i & 7))) found++
  return found
}

function writeBatch(rows: number, body: Body): Uint8Array {
  const out = borrowBuilder()
  const nodes = addLongs(out, body.nodes, 2)
  const places = addLongs(out, body.places, 2)
  const heapCounts = body.heapCounts.length === 0 ? 0 : addLongs(out, body.heapCounts)
  out.startObject(5)
  out.addFieldInt64(0, BigInt(rows), 0n)
  out.addFieldOffset(1, nodes, 0)
  out.addFieldOffset(2, places, 0)
  out.addFieldOffset(4, heapCounts, 0)
  const at = out.endObject()
  out.startObject(4)
  out.addFieldInt64(3, BigInt(body.length), 0n)
  out.addFieldOffset(2, at, 0)
  out.addFieldInt16(0, metadataV5, 0)
  out.addFieldInt8(1, batchMessage, 0)
  out.finish(out.endObject())
  // Copied, since the footer is written next by the same builder.
  return out.asUint8Array().slice()
}

function writeFooter(columns: readonly Column[], block: readonly number[]): Uint8Array {
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

/**
 * Encodes columns as an Arrow IPC file for Polars, which reads only the footer: the second copy of the schema that
 * belongs at the start is left out. `allocate` returns memory, which need not be zeroed.
 * **Cost**: copies each buffer once.
 */
export function encodeArrow(table: ColumnTable, allocate: (size: number) => Buffer): Buffer {
  const body = layOut(table)
  const batch = writeBatch(table.rows, body)
  const batchAt = magic.length
  const bodyAt = batchAt + 8 + batch.length
  // Offset, metadata length (32 bits and padding, so one little-endian 64-bit number) and body length.
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

function kindOf(field: FlatTable): ColumnKind | undefined {
  // A dictionary: the data are codes, whatever the type of the values. Polars writes categories this way.
  if (field.table(4) !== undefined) return undefined
  const type = field.table(3)
  switch (field.uint8(2)) {
    case typeInt: {
      const kind = `${type?.uint8(1) ? '' : 'u'}int${type?.int32(0) ?? 0}`
      return isDType(kind) ? (kind as ColumnKind) : undefined
    }
    case typeFloat:
      return type?.int16(0) === 2 ? 'float64' : type?.int16(0) === 1 ? 'float32' : undefined
    case typeBool:
      return 'bool'
    case typeUtf8:
    case typeLargeUtf8:
    case typeUtf8View:
      return 'str'
    default:
      return undefined
  }
}

// Polars wrote the file, so only a bug leads here.
const notArrow = () => new RangeError('expected offsets within the metadata of an Arrow file, received one beyond')

/**
 * Decodes an Arrow IPC file that Polars wrote; the columns are views of the file. Returns undefined if the file has
 * more than one batch, a compressed batch, or a column of another kind.
 */
export function decodeArrow(file: Uint8Array): ColumnTable | undefined {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  const footerLength = view.getInt32(file.length - 10, true)
  const footer = FlatTable.root(file.subarray(file.length - 10 - footerLength, file.length - 10), notArrow)
  const fields = footer.table(1)?.tables(1) ?? []
  const blocks = footer.longs(3, 3)
  if (blocks.length !== 3) return blocks.length === 0 ? emptyTable(fields) : undefined
  const [at] = blocks
  // In the Block, the metadata length is 32 bits followed by padding; the message repeats it.
  const metadataLength = view.getInt32(at + 4, true)
  const batch = FlatTable.root(file.subarray(at + 8, at + 8 + metadataLength), notArrow).table(2)
  if (batch === undefined || batch.table(3) !== undefined) return undefined
  const rows = batch.long(0)
  const nodes = batch.longs(1, 2)
  const places = batch.longs(2, 2)
  const heapCounts = batch.longs(4)
  const bodyAt = at + 8 + metadataLength
  let next = 0
  const take = () => {
    const start = bodyAt + places[next]
    const bytes = file.subarray(start, start + places[next + 1])
    next += 2
    return bytes
  }
  const columns: Column[] = []
  for (let i = 0; i < fields.length; i++) {
    const name = fields[i].string(0)
    const kind = kindOf(fields[i])
    if (kind === undefined) return undefined
    const bits = take()
    const rest = nodes[i * 2 + 1] === 0 || bits.length === 0 ? {} : { validity: bits }
    const type = fields[i].uint8(2)
    if (type === typeUtf8View) {
      const data = take()
      const heaps = Array.from({ length: heapCounts.shift() ?? 0 }, take)
      columns.push({ name, kind, data, heaps, ...rest })
    } else if (kind === 'str') {
      const offsets = offsetsOf(take(), type === typeLargeUtf8, rows)
      columns.push({ name, kind, data: take(), offsets, ...rest })
    } else columns.push({ name, kind, data: take(), ...rest })
  }
  return { rows, columns }
}

function offsetsOf(bytes: Uint8Array, isLarge: boolean, rows: number): Int32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const offsets = new Int32Array(rows + 1)
  if (bytes.length === 0) return offsets
  for (let i = 0; i <= rows; i++)
    offsets[i] = isLarge ? Number(view.getBigInt64(i * 8, true)) : view.getInt32(i * 4, true)
  return offsets
}

function emptyTable(fields: readonly FlatTable[]): ColumnTable | undefined {
  const kinds = fields.map(kindOf)
  if (kinds.includes(undefined)) return undefined
  const data = new Uint8Array(0)
  const columns = fields.map((field, i): Column => {
    const kind = kinds[i] as ColumnKind
    return { name: field.string(0), kind, data, ...(kind === 'str' && { offsets: new Int32Array(1) }) }
  })
  return { rows: 0, columns }
}
