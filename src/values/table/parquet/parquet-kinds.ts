/**
 * Kinds of columns by the types of Parquet.
 *
 * @see parquet.thrift.
 * @module
 */
import { type ColumnKind, itemSize } from '../../../core/dtype.ts'
import type { ArrowType } from '../arrow/arrow-types.ts'

/** Kinds that physical types hold, by their number in the enum Type. 3 is a time of 96 bits. */
const physicalKinds: readonly (ColumnKind | undefined)[] = [
  'bool',
  'int32',
  'int64',
  undefined,
  'float32',
  'float64',
  'str',
]

/** Whether a physical type holds a kind, so that a column of it needs no logical type. */
export function isPhysical(kind: ColumnKind): boolean {
  return physicalKinds.includes(kind)
}

/** Kinds of integers, by their number in the enum ConvertedType from `firstInteger` up. */
const integerKinds = [
  'uint8',
  'uint16',
  'uint32',
  'uint64',
  'int8',
  'int16',
  'int32',
  'int64',
] as const

/** UINT_8 in the enum ConvertedType. */
const firstInteger = 11

/** @returns the physical type that holds a kind. */
export function physicalOf(kind: ColumnKind): number {
  const own = physicalKinds.indexOf(kind)
  if (own === -1) return physicalKinds.indexOf(itemSize(kind) === 8 ? 'int64' : 'int32')
  return own
}

/** A type whose elements lie one after another. */
export type PlainType = Extract<ArrowType, { readonly layout: 'flat' | 'text' | 'views' }>

const absent = -1
const utf8 = 0
const date = 6
const logicalString = 1
const logicalDate = 6
const logicalInteger = 10

/** @returns the type of a column by the numbers of its types; undefined for one that is not read here. */
export function plainTypeOf(
  type: number,
  converted: number,
  logical: number,
): PlainType | undefined {
  const plain = physicalKinds[type]
  if (plain === 'str') {
    const isText = logical === logicalString || (logical === absent && converted === utf8)
    if (isText) return { layout: 'text', offsetBytes: 4 }
    return undefined
  }
  if (
    plain === 'int32' &&
    (logical === logicalDate || (logical === absent && converted === date))
  ) {
    return { layout: 'flat', kind: 'int32', time: { type: 'date' } }
  }
  if (plain === undefined) return undefined
  if (logical === absent && converted === absent) return { layout: 'flat', kind: plain }
  // Writers of logical integers write the converted type, too.
  const kind = integerKinds[converted - firstInteger]
  if (kind === undefined || (logical !== absent && logical !== logicalInteger)) return undefined
  if (physicalOf(kind) === type) return { layout: 'flat', kind }
  return undefined
}
