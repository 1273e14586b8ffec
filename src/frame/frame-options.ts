/**
 * Options that the frame and the series descriptor share, checked once.
 * @module
 */

import { expected, InvalidArgument } from '../errors.ts'
import { timeUnits } from './columns.ts'
import { type FrameType, parseFrameType } from './frame-dtype.ts'
import { type Orient, orients } from './frame-plan.ts'
import { type TimeForm, timeFormats } from './times.ts'

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

/** Options of the form of times in JSON, in pandas' names. */
export interface TimeOptions {
  /**
   * `epoch`: numbers since 1970; `iso`: texts of ISO 8601, in UTC where the column has a zone. Default `epoch`, but
   * `iso` for orient `table`. Times of day are always text.
   */
  readonly dateFormat?: (typeof timeFormats)[number] | null
  /** Unit of the numbers, or of the texts' last digit. Default `ms`. */
  readonly dateUnit?: TimeForm['unit'] | null
}

/** Parses the form of times. **Errors**: InvalidArgument. */
export function parseTimeForm({ dateFormat, dateUnit }: TimeOptions, orient: Orient): TimeForm {
  const format = dateFormat ?? (orient === 'table' ? 'iso' : 'epoch')
  const unit = dateUnit ?? 'ms'
  if (!timeFormats.includes(format)) {
    throw new InvalidArgument(expected(`one of ${timeFormats.join(', ')}`, 'dateFormat', format))
  }
  if (format === 'epoch' && orient === 'table') {
    throw new InvalidArgument("dateFormat 'epoch' is not for orient 'table', whose times are text")
  }
  if (!timeUnits.includes(unit)) throw new InvalidArgument(expected(`one of ${timeUnits.join(', ')}`, 'dateUnit', unit))
  return { format, unit }
}

/** Returns the numpy name of a Polars type, for descriptors made from samples; undefined if it has none. */
export function dtypeNameOf(variant: string): string | undefined {
  if (variant === 'String' || variant === 'Utf8') return 'str'
  if (variant === 'Categorical') return 'category'
  if (variant === 'Date') return 'date'
  return /^(Bool|U?Int\d+|Float\d+)$/.test(variant) ? variant.toLowerCase() : undefined
}
