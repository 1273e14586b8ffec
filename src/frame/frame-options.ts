/**
 * Options that the frame and the series descriptor share, checked once.
 * @module
 */

import { expected, InvalidArgument } from '../errors.ts'
import { type Orient, orients } from './frame-codec.ts'
import { type FrameType, parseFrameType } from './frame-dtype.ts'

/** Checks a layout's name. **Errors**: InvalidArgument. */
export function parseOrient(orient: unknown): Orient {
  const known = orients.find((name) => name === orient)
  if (known !== undefined) return known
  throw new InvalidArgument(expected(`one of ${orients.join(', ')}`, 'orient', orient))
}

/** Checks that options which enforce something come with it. **Errors**: InvalidArgument. */
export function checkEnforced(
  name: string,
  options: {
    readonly dtype?: unknown
    readonly enforceDtype?: boolean
    readonly shape?: unknown
    readonly enforceShape?: boolean
  },
): void {
  for (const option of ['enforceDtype', 'enforceShape'] as const) {
    const value = options[option]
    if (value !== undefined && typeof value !== 'boolean') {
      throw new InvalidArgument(expected('true or false', option, value))
    }
  }
  if (options.enforceDtype && options.dtype === undefined)
    throw new InvalidArgument(`enforceDtype for ${name} needs dtype`)
  if (options.enforceShape && options.shape === undefined)
    throw new InvalidArgument(`enforceShape for ${name} needs shape`)
}

/** Parses the types of columns; booleans and undefined are returned as they are. **Errors**: InvalidArgument naming the column. */
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
