/**
 * Options that the frame and the series descriptor share, checked once.
 * @module
 */

import { expected, InvalidArgument } from '../errors.ts'
import { type FrameType, parseFrameType } from './frame-dtype.ts'
import { type Orient, orients } from './frame-plan.ts'

/** Checks a layout's name. **Errors**: InvalidArgument. */
export function parseOrient(orient: unknown): Orient {
  const known = orients.find((name) => name === orient)
  if (known !== undefined) return known
  throw new InvalidArgument(expected(`one of ${orients.join(', ')}`, 'orient', orient))
}

/**
 * Parses the types of columns; booleans and undefined are returned as they are. **Errors**: InvalidArgument naming the
 * column.
 */
export function parseDtypes(dtype: unknown): ReadonlyMap<string, FrameType> | boolean | undefined {
  if (dtype === undefined || typeof dtype === 'boolean') return dtype
  if (typeof dtype !== 'object' || dtype === null || Array.isArray(dtype)) {
    throw new InvalidArgument(expected('an object of column to type, true or false', 'dtype', dtype))
  }
  return new Map(
    Object.entries(dtype).map(([column, type]) => [column, parseFrameType(type, `dtype of column ${column}`)]),
  )
}

/** Returns the numpy name of a Polars type, for descriptors made from samples; undefined if it has none. */
export function dtypeNameOf(variant: string): string | undefined {
  if (variant === 'String' || variant === 'Utf8') return 'str'
  if (variant === 'Categorical') return 'category'
  if (variant === 'Date') return 'date'
  return /^(Bool|U?Int\d+|Float\d+)$/.test(variant) ? variant.toLowerCase() : undefined
}
