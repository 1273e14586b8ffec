/** Options that the frame and the series descriptor share, checked once. @module */

import { badInput, expected, InvalidArgument } from '../../core/errors.ts'
import { checkOneOf, isRecord } from '../../core/options.ts'
import { timeUnits } from './columns.ts'
import { type FrameType, parseFrameType } from './frame-dtype.ts'
import type { Orient } from './json/frame-plan.ts'
import { type TimeForm, timeFormats } from './times.ts'

/**
 * Parses the types of columns; returns booleans and undefined.
 *
 * @throws InvalidArgument that names the column.
 */
export function parseDtypes(dtype: unknown): ReadonlyMap<string, FrameType> | boolean | undefined {
  if (dtype === undefined || typeof dtype === 'boolean') return dtype
  if (!isRecord(dtype)) {
    throw new InvalidArgument(
      expected('an object of column to type, true or false', 'dtype', dtype),
    )
  }
  return new Map(
    Object.entries(dtype).map(([column, type]) => [
      column,
      parseFrameType(type, `dtype of column ${column}`),
    ]),
  )
}

/**
 * Checks a list of column names.
 *
 * @throws InvalidArgument.
 */
export function parseColumnNames(columns: unknown, option = 'columns'): readonly string[] {
  if (!Array.isArray(columns) || !columns.every((name) => typeof name === 'string')) {
    throw new InvalidArgument(expected('a list of strings', option, columns))
  }
  if (new Set(columns).size !== columns.length) {
    throw new InvalidArgument(expected('names that differ', option, columns))
  }
  return columns
}

/**
 * Checks that no column is missing, by its name after or before renaming.
 *
 * @throws BadInput.
 */
export function checkRequired(
  required: readonly string[],
  columns: readonly { readonly name: string }[],
  own: readonly { readonly name: string }[],
): void {
  if (required.length === 0) return
  const names = new Set([...columns, ...own].map(({ name }) => name))
  const missing = required.find((name) => !names.has(name))
  if (missing === undefined) return
  const shown = own.slice(0, maxShownNames).map(({ name }) => JSON.stringify(name.slice(0, 80)))
  const rest = own.length > maxShownNames ? `, and ${own.length - maxShownNames} more` : ''
  const received = own.length === 0 ? 'no columns' : `columns ${shown.join(', ')}${rest}`
  const message = `expected column ${JSON.stringify(missing)} for PandasDataFrame, received ${received}`
  throw badInput('columns', message)
}

const maxShownNames = 8

/** Options of the form of times in JSON, in pandas' names. */
export interface TimeOptions {
  /**
   * `epoch`: numbers since 1970; `iso`: ISO 8601, UTC for a zone.
   *
   * @default `epoch`; `iso` for orient `table`
   */
  readonly dateFormat?: (typeof timeFormats)[number] | null
  /**
   * Unit of the numbers, or of the texts' last digit.
   *
   * @default `ms`
   */
  readonly dateUnit?: TimeForm['unit'] | null
}

/**
 * Parses the form of times.
 *
 * @throws InvalidArgument.
 */
export function parseTimeForm({ dateFormat, dateUnit }: TimeOptions, orient: Orient): TimeForm {
  const isTable = orient === 'table'
  const format = checkOneOf('dateFormat', dateFormat ?? (isTable ? 'iso' : 'epoch'), timeFormats)
  if (format === 'epoch' && isTable) {
    throw new InvalidArgument("dateFormat 'epoch' is not for orient 'table', whose times are text")
  }
  return { format, unit: checkOneOf('dateUnit', dateUnit ?? 'ms', timeUnits) }
}

/** @returns the numpy name of a Polars type, for descriptors made from samples, or undefined. */
export function dtypeNameOf(variant: string): string | undefined {
  if (variant === 'String' || variant === 'Utf8') return 'str'
  if (variant === 'Categorical') return 'category'
  if (variant === 'Date') return 'date'
  if (/^(Bool|U?Int\d+|Float\d+)$/.test(variant)) return variant.toLowerCase()
  return undefined
}
