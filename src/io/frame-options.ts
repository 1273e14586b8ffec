/**
 * Options that the frame and the series descriptor share, checked once.
 * @module
 */
import type { DataFrame, Polars } from '../bindings/polars.ts'
import { type Orient, orients } from '../data/frame-codec.ts'
import { type FrameType, parseFrameType, refusesNulls } from '../data/frame-dtype.ts'
import { BadInput, expected, InvalidArgument } from '../errors.ts'

/** A layout's name, checked. **Errors**: InvalidArgument. */
export function parseOrient(orient: unknown): Orient {
  const known = orients.find((name) => name === orient)
  if (known !== undefined) return known
  throw new InvalidArgument(expected(`one of ${orients.join(', ')}`, 'orient', orient))
}

/** Options that enforce something need it. **Errors**: InvalidArgument. */
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

/** A dict of types becomes a map of them; booleans and nothing stay. **Errors**: InvalidArgument naming the column. */
export function parseDtypes(dtype: unknown): ReadonlyMap<string, FrameType> | boolean | undefined {
  if (dtype === undefined || typeof dtype === 'boolean') return dtype
  if (typeof dtype !== 'object' || dtype === null || Array.isArray(dtype)) {
    throw new InvalidArgument(expected('an object of column to type, true or false', 'dtype', dtype))
  }
  return new Map(
    Object.entries(dtype).map(([column, type]) => [column, parseFrameType(type, `dtype of column ${column}`)]),
  )
}

/**
 * Columns of a fresh frame get their types, in place. **Errors**: BadInput naming the column; with `enforce` also for nulls where
 * numpy's type of that name has no place for them.
 */
export function castColumns(
  polars: Polars,
  frame: DataFrame,
  types: readonly (FrameType | undefined)[],
  enforce: boolean,
  name: string,
): void {
  const columns = frame.columns
  for (let i = 0; i < types.length; i++) {
    const type = types[i]
    if (type === undefined) continue
    const where = name === 'PandasSeries' ? name : `column ${JSON.stringify(columns[i].slice(0, 80))} of ${name}`
    try {
      polars.cast(frame, i, type)
    } catch (cause) {
      throw new BadInput(`expected elements that fit ${type} for ${where}, received one that does not`, {
        reason: 'dtype',
        path: columns[i],
        cause,
      })
    }
    if (enforce && refusesNulls(type) && frame.getColumns()[i].nullCount() > 0) {
      throw new BadInput(`expected ${type} without nulls for ${where}, received one`, {
        reason: 'dtype',
        path: columns[i],
      })
    }
  }
}

/** The numpy name of a Polars type, for descriptors made from samples. Undefined: there is none. */
export function dtypeNameOf(variant: string): string | undefined {
  if (variant === 'String' || variant === 'Utf8') return 'str'
  if (variant === 'Categorical') return 'category'
  if (variant === 'Date') return 'date'
  return /^(Bool|U?Int\d+|Float\d+)$/.test(variant) ? variant.toLowerCase() : undefined
}
