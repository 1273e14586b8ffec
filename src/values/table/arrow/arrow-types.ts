/** Types of columns ⇄ types of Arrow fields. Source: Arrow columnar format 1.5, Schema.fbs. @module */

import { type ColumnKind, elementTypes, isDType, itemSize } from '../../../core/dtype.ts'
import { type Builder, FlatTable } from '../../array/flatbuffer.ts'
import { type AnyColumn, type Column, type TimeType, timeUnits } from '../columns.ts'

/** Type ids of Schema.fbs. */
export const arrowIds = {
  null: 1,
  int: 2,
  float: 3,
  binary: 4,
  utf8: 5,
  bool: 6,
  date: 8,
  time: 9,
  timestamp: 10,
  list: 12,
  struct: 13,
  fixedSizeList: 16,
  duration: 18,
  largeBinary: 19,
  largeUtf8: 20,
  largeList: 21,
  binaryView: 23,
  utf8View: 24,
} as const

/** Writes the type of a column; returns its id and its position. */
export function writeArrowType(out: Builder, column: AnyColumn): { id: number; at: number } {
  const zone = 'time' in column && column.time?.type === 'datetime' ? column.time.zone : undefined
  const zoneAt = zone === undefined ? 0 : out.createString(zone)
  out.startObject(2)
  const id =
    'items' in column ? arrowIds.list : 'fields' in column ? arrowIds.struct : writeFlatType(out, column, zoneAt)
  return { id, at: out.endObject() }
}

function writeFlatType(out: Builder, { kind, heaps, time, isBinary }: Column, zoneAt: number): number {
  if (time !== undefined) return writeTimeType(out, time, zoneAt)
  if (kind === 'bool') return arrowIds.bool
  if (kind === 'str') {
    if (heaps !== undefined) return isBinary ? arrowIds.binaryView : arrowIds.utf8View
    return isBinary ? arrowIds.binary : arrowIds.utf8
  }
  if (kind === 'float32' || kind === 'float64') {
    out.addFieldInt16(0, kind === 'float32' ? 1 : 2, 0)
    return arrowIds.float
  }
  out.addFieldInt32(0, itemSize(kind) * 8, 0)
  out.addFieldInt8(1, elementTypes[kind].kind === 'i' ? 1 : 0, 0)
  return arrowIds.int
}

function writeTimeType(out: Builder, time: TimeType, zoneAt: number): number {
  if (time.type === 'date') {
    out.addFieldInt16(0, 0, 1)
    return arrowIds.date
  }
  const unit = timeUnits.indexOf(time.unit)
  if (time.type === 'datetime') {
    out.addFieldInt16(0, unit, 0)
    out.addFieldOffset(1, zoneAt, 0)
    return arrowIds.timestamp
  }
  out.addFieldInt16(0, unit, 1)
  if (time.type === 'duration') return arrowIds.duration
  out.addFieldInt32(1, 64, 32)
  return arrowIds.time
}

/** Returns the fields of a schema message, in its bytes. **Errors**: what `fault` makes. */
export function schemaFields(message: Buffer, fault: () => Error): FlatTable[] {
  // A marker and the length come first; older writers leave the marker out.
  const start = message.length >= 4 && message.readInt32LE(0) === -1 ? 8 : 4
  const { buffer, byteOffset, length } = message.subarray(start)
  return (
    FlatTable.root(new Uint8Array(buffer, byteOffset, length), fault)
      .table(2)
      ?.tables(1) ?? []
  )
}

/** How the buffers of a field's column are laid out, and what they mean. */
export type ArrowType =
  | { readonly layout: 'flat'; readonly kind: ColumnKind; readonly time?: TimeType }
  | { readonly layout: 'text'; readonly offsetBytes: 4 | 8; readonly isBinary?: true }
  | { readonly layout: 'views'; readonly isBinary?: true }
  | { readonly layout: 'list'; readonly offsetBytes: 4 | 8 }
  | { readonly layout: 'fixed-list'; readonly length: number }
  | { readonly layout: 'struct' }
  | { readonly layout: 'null' }
  | { readonly layout: 'half' }

const plainTypes: Readonly<Record<number, ArrowType | undefined>> = {
  [arrowIds.null]: { layout: 'null' },
  [arrowIds.bool]: { layout: 'flat', kind: 'bool' },
  [arrowIds.binary]: { layout: 'text', offsetBytes: 4, isBinary: true },
  [arrowIds.utf8]: { layout: 'text', offsetBytes: 4 },
  [arrowIds.largeBinary]: { layout: 'text', offsetBytes: 8, isBinary: true },
  [arrowIds.largeUtf8]: { layout: 'text', offsetBytes: 8 },
  [arrowIds.binaryView]: { layout: 'views', isBinary: true },
  [arrowIds.utf8View]: { layout: 'views' },
  [arrowIds.list]: { layout: 'list', offsetBytes: 4 },
  [arrowIds.largeList]: { layout: 'list', offsetBytes: 8 },
  [arrowIds.struct]: { layout: 'struct' },
}

const flat = (kind: ColumnKind, time: TimeType): ArrowType => ({ layout: 'flat', kind, time })

/** Returns the type of a field; undefined for one that columns do not have. */
export function arrowTypeOf(field: FlatTable): ArrowType | undefined {
  // A dictionary: the data are codes, whatever the type of the values. Polars writes categories this way.
  if (field.table(4) !== undefined) return undefined
  const type = field.table(3)
  const id = field.uint8(2)
  switch (id) {
    case arrowIds.int: {
      const kind = `${type?.uint8(1) ? '' : 'u'}int${type?.int32(0) ?? 0}`
      return isDType(kind) ? { layout: 'flat', kind: kind as ColumnKind } : undefined
    }
    case arrowIds.float: {
      const width = type?.int16(0) ?? 0
      return width === 0 ? { layout: 'half' } : { layout: 'flat', kind: width === 1 ? 'float32' : 'float64' }
    }
    case arrowIds.fixedSizeList:
      return { layout: 'fixed-list', length: type?.int32(0) ?? 0 }
    case arrowIds.date:
      return type?.int16(0, 1) === 0 ? flat('int32', { type: 'date' }) : undefined
    case arrowIds.timestamp: {
      const unit = timeUnits[type?.int16(0) ?? 0]
      return flat('int64', { type: 'datetime', unit, zone: type?.string(1) || undefined })
    }
    case arrowIds.time:
      return type?.int32(1) === 64 ? flat('int64', { type: 'time', unit: timeUnits[type.int16(0, 1)] }) : undefined
    case arrowIds.duration:
      return flat('int64', { type: 'duration', unit: timeUnits[type?.int16(0, 1) ?? 1] })
    default:
      return plainTypes[id]
  }
}
