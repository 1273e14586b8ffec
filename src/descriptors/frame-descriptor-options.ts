/**
 * The options of the descriptor for data frames.
 * @module
 */
import type { TimeUnit } from '../values/table/columns.ts'
import type { FrameFormat } from '../values/table/frame-formats.ts'
import type { TimeOptions } from '../values/table/frame-options.ts'
import type { Orient } from '../values/table/json/frame-plan.ts'

/** Options of `PandasDataFrame`. **Source**: SPEC "PandasDataFrame". */
export interface PandasDataFrameOptions extends TimeOptions {
  /** JSON layout of requests and responses. Default `records`. */
  readonly orient?: Orient
  /** Names for the columns, in order. Ignored unless `applyColumnNames` is set. */
  readonly columns?: readonly string[] | null
  /** Rename incoming and outgoing columns by position. Needs `columns`. */
  readonly applyColumnNames?: boolean
  /**
   * Types by column name that incoming columns are cast to; `true` infers types, `false` leaves CSV columns as text.
   * Not for orient `table`.
   */
  readonly dtype?: boolean | Readonly<Record<string, string>> | null
  /**
   * Also refuse nulls in columns whose numpy type cannot hold them, integers and booleans, and frames without one of
   * the columns of `dtype`; under orient `values`, whose rows have no names, columns may be missing. Needs `dtype`.
   */
  readonly enforceDtype?: boolean
  /** Columns that a request must have, by their name in it or after `applyColumnNames`. */
  readonly required?: readonly string[] | null
  /** `[rows, columns]`; only the number of columns is checked. */
  readonly shape?: readonly number[] | null
  /** Refuse frames with another number of columns. Needs `shape`. */
  readonly enforceShape?: boolean
  /** Format of requests without Content-Type, and of responses. Default `json`. */
  readonly defaultFormat?: FrameFormat
  /**
   * What digits alone count in CSV columns of dtype datetime64 and timedelta64; such columns may also have texts of
   * ISO 8601 alone. Without it they are refused: `20200131` may be a day.
   */
  readonly csvDateUnit?: TimeUnit | null
}

/** Names of the options that metadata publish. */
export const optionNames = [
  'orient',
  'columns',
  'applyColumnNames',
  'dtype',
  'enforceDtype',
  'shape',
  'enforceShape',
  'defaultFormat',
] as const
/** Not in metadata: the reference's clients fail on an option that theirs does not have. */
export const ownOptions = ['required', 'dateFormat', 'dateUnit', 'csvDateUnit'] as const
