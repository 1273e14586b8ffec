/**
 * Columns → Arrow IPC streams.
 *
 * @see Arrow columnar format 1.5, "IPC Streaming Format".
 * @module
 */

import { bytesOf } from '../../../core/memory/byte-copy.ts'
import { addLongs, addOffsets, type Builder, borrowBuilder } from '../../array/flatbuffer.ts'
import { type AnyColumn, type ColumnTable, childrenOf } from '../columns.ts'
import { writeArrowType } from './arrow-types.ts'

const metadataV5 = 4
const schemaMessage = 1
const batchMessage = 3

const align = (size: number) => (size + 63) & ~63

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
    for (
      let byte = isLast ? bits[i] & ((1 << (count & 7)) - 1) : bits[i];
      byte !== 0;
      byte &= byte - 1
    )
      found++
  }
  return found
}

function writeBatch(rows: number, body: ReturnType<typeof layOut>): Buffer {
  const out = borrowBuilder()
  const nodes = addLongs(out, body.nodes, 2)
  const buffers = addLongs(out, body.buffers, 2)
  const heapCounts = body.heapCounts.length === 0 ? 0 : addLongs(out, body.heapCounts)
  out.startObject(5)
  out.addFieldInt64(0, BigInt(rows), 0n)
  out.addFieldOffset(1, nodes, 0)
  out.addFieldOffset(2, buffers, 0)
  out.addFieldOffset(4, heapCounts, 0)
  return messageOf(out, batchMessage, out.endObject(), body.length)
}

/**
 * `at`: position of its header; `length`: that of its body.
 *
 * @returns a message behind its marker and length, padded to words of 8 bytes.
 */
function messageOf(out: Builder, type: number, at: number, length = 0): Buffer {
  out.startObject(4)
  out.addFieldInt64(3, BigInt(length), 0n)
  out.addFieldOffset(2, at, 0)
  out.addFieldInt16(0, metadataV5, 0)
  out.addFieldInt8(1, type, 0)
  out.finish(out.endObject())
  const bytes = out.asUint8Array()
  const message = Buffer.alloc(8 + ((bytes.length + 7) & ~7))
  message.writeInt32LE(-1)
  message.writeInt32LE(message.length - 8, 4)
  message.set(bytes, 8)
  return message
}

/** @returns the schema of columns as a message, as Parquet files keep it beside their own. */
export function encodeArrowSchema(columns: readonly AnyColumn[]): Buffer {
  const out = borrowBuilder()
  return messageOf(out, schemaMessage, writeSchema(out, columns))
}

/** @returns columns as an Arrow IPC stream of one batch, whose end needs no mark. */
export function encodeArrow(
  table: ColumnTable<AnyColumn>,
  allocate: (size: number) => Buffer,
): Buffer {
  const body = layOut(table)
  const head = Buffer.concat([encodeArrowSchema(table.columns), writeBatch(table.rows, body)])
  const stream = allocate(head.length + body.length)
  stream.set(head)
  let filled = head.length
  for (const { at, bytes } of body.pieces) {
    // The memory is uninitialised: zero the padding, so that no old data gets into the stream.
    stream.fill(0, filled, head.length + at)
    stream.set(bytes, head.length + at)
    filled = head.length + at + bytes.length
  }
  return stream.fill(0, filled)
}
