/** Types of columns ⇄ types of Arrow fields. Source: Arrow columnar format 1.5, Schema.fbs. @module */

import { type ColumnKind, elementTypes, isDType, itemSize } from '../../../core/dtype.ts'
import type { Builder, FlatTable } from '../../array/flatbuffer.ts'
import { type AnyColumn, type TimeType, type TimeUnit, timeUnits, zoneOf } from '../columns.ts'

/** Type ids of Schema.fbs. */
export const arrowIds = {
  null: 1,
  int: 2,
  float: 3,
  binary: 4,
  utf8: 5,
  bool: 6,
  decimal: 7,
  date: 8,
  time: 9,
  timestamp: 10,
  interval: 11,
  list: 12,
  struct: 13,
  union: 14,
  fixedSizeBinary: 15,
  fixedSizeList: 16,
  map: 17,
  duration: 18,
  largeBinary: 19,
  largeUtf8: 20,
  largeList: 21,
  runEndEncoded: 22,
  binaryView: 23,
  utf8View: 24,
  listView: 25,
  largeListView: 26,
} as const

/** @returns the name of a field's type, for messages. */
export function arrowTypeName(field: FlatTable): string {
  const id = field.uint8(2)
  return Object.entries(arrowIds).find(([, own]) => own === id)?.[0] ?? `number ${id}`
}

/** Whether a field is a map: a list of entries, each of a key and a value. */
export function isMap(field: FlatTable): boolean {
  return field.uint8(2) === arrowIds.map
}

/** Writes the type of a column; returns its id and its position. */
export function writeArrowType(out: Builder, column: AnyColumn): { id: number; at: number } {
  const zone = zoneOf(column)
  const zoneAt = zone === undefined ? 0 : out.createString(zone)
  out.startObject(2)
  const id = writeTypeOf(out, column, zoneAt)
  return { id, at: out.endObject() }
}

function writeTypeOf(out: Builder, column: AnyColumn, zoneAt: number): number {
  if ('items' in column) return arrowIds.list
  if ('fields' in column) return arrowIds.struct
  const { kind, heaps, time, isBinary } = column
  if (time !== undefined) return writeTimeType(out, time, zoneAt)
  if (kind === 'bool') return arrowIds.bool
  if (kind === 'str') {
    if (heaps !== undefined) return isBinary ? arrowIds.binaryView : arrowIds.utf8View
    if (isBinary) return arrowIds.binary
    return arrowIds.utf8
  }
  if (kind === 'float32' || kind === 'float64') {
    out.addFieldInt16(0, kind === 'float32' ? 1 : 2, 0)
    return arrowIds.float
  }
  out.addFieldInt32(0, itemSize(kind) * 8, 0)
  out.addFieldInt8(1, Number(elementTypes[kind].kind === 'i'), 0)
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
  | { readonly layout: 'fixed-bytes'; readonly length: number }
  | {
      readonly layout: 'decimal'
      readonly bytes: number
      readonly precision: number
      readonly scale: number
    }
  | {
      readonly layout: 'scaled'
      readonly kind: 'int32' | 'int64'
      readonly time: TimeType
      readonly scale: Scale
    }

/** What turns the integers of a time into those that columns have: a factor, or a divisor. */
type Scale = { readonly times: bigint } | { readonly by: bigint }

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
  [arrowIds.map]: { layout: 'list', offsetBytes: 4 },
  [arrowIds.struct]: { layout: 'struct' },
}

/** By the enum Precision. */
const floatTypes: readonly (ArrowType | undefined)[] = [
  { layout: 'half' },
  { layout: 'flat', kind: 'float32' },
  { layout: 'flat', kind: 'float64' },
]

const flat = (kind: ColumnKind, time: TimeType): ArrowType => ({ layout: 'flat', kind, time })

const dayMs = 86_400_000n

/**
 * @returns the kind of the codes of a field whose values are in a dictionary, and the number of the
 * dictionary.
 */
export function dictionaryOf(
  field: FlatTable,
): { readonly id: number; readonly kind: ColumnKind } | undefined {
  const encoding = field.table(4)
  if (encoding === undefined) return undefined
  return { id: encoding.long(0), kind: integerKind(encoding.table(1)) ?? 'int32' }
}

function integerKind(type: FlatTable | undefined): ColumnKind | undefined {
  const kind = `${type?.uint8(1) ? '' : 'u'}int${type?.int32(0)}`
  if (isDType(kind)) return kind as ColumnKind
  return undefined
}

/**
 * @returns the type of a field, or of its values in a dictionary; undefined for one that columns do
 * not have.
 */
export function arrowTypeOf(field: FlatTable): ArrowType | undefined {
  const type = field.table(3)
  const id = field.uint8(2)
  switch (id) {
    case arrowIds.int: {
      const kind = integerKind(type)
      return kind && { layout: 'flat', kind }
    }
    case arrowIds.float:
      return floatTypes[type?.int16(0) ?? 0]
    case arrowIds.fixedSizeList:
      return { layout: 'fixed-list', length: type?.int32(0) ?? 0 }
    case arrowIds.fixedSizeBinary:
      return { layout: 'fixed-bytes', length: type?.int32(0) ?? 0 }
    case arrowIds.decimal:
      return decimalOf(type)
    default:
      return timeOf(id, type) ?? plainTypes[id]
  }
}

/** Maximum number of digits of a decimal: that of Polars. */
const maxPrecision = 38

function decimalOf(type: FlatTable | undefined): ArrowType | undefined {
  const [precision, scale, bits] = [type?.int32(0) ?? 0, type?.int32(1) ?? 0, type?.int32(2) || 128]
  const isKnown = precision > 0 && precision <= maxPrecision && scale >= 0 && scale <= precision
  if (!isKnown || bits % 32 !== 0 || bits > 256) return undefined
  return { layout: 'decimal', bytes: bits / 8, precision, scale }
}

/**
 * Polars has no units of seconds, and times of a day in nanoseconds alone.
 *
 * @returns the type of a time.
 */
function timeOf(id: number, type: FlatTable | undefined): ArrowType | undefined {
  switch (id) {
    case arrowIds.date: {
      const time: TimeType = { type: 'date' }
      if (type?.int16(0, 1) === 0) return flat('int32', time)
      return { layout: 'scaled', kind: 'int64', time, scale: { by: dayMs } }
    }
    case arrowIds.timestamp: {
      const zone = type?.string(1) || undefined
      return withoutSeconds(timeUnits[type?.int16(0) ?? 0], (unit) => ({
        type: 'datetime',
        unit,
        zone,
      }))
    }
    case arrowIds.time: {
      const unit = type?.int16(0, 1) ?? 1
      const time: TimeType = { type: 'time', unit: 'ns' }
      const kind = type?.int32(1) === 64 ? 'int64' : 'int32'
      if (timeUnits[unit] === undefined) return undefined
      const factor = 1000n ** BigInt(timeUnits.length - 1 - unit)
      if (factor !== 1n) return { layout: 'scaled', kind, time, scale: { times: factor } }
      if (kind === 'int64') return flat(kind, time)
      return undefined
    }
    case arrowIds.duration:
      return withoutSeconds(timeUnits[type?.int16(0, 1) ?? 1], (unit) => ({
        type: 'duration',
        unit,
      }))
    default:
      return undefined
  }
}

function withoutSeconds(
  unit: TimeUnit | undefined,
  timeIn: (unit: TimeUnit) => TimeType,
): ArrowType | undefined {
  if (unit === undefined) return undefined
  if (unit !== 's') return flat('int64', timeIn(unit))
  return { layout: 'scaled', kind: 'int64', time: timeIn('ms'), scale: { times: 1000n } }
}
