import type { TimeUnit } from '../values/table/columns.ts'
import type { FrameFormat } from '../values/table/frame-formats.ts'
import type { TimeOptions } from '../values/table/frame-options.ts'
import type { Orient } from '../values/table/json/frame-plan.ts'
import type { ParquetCompression } from '../values/table/parquet/parquet-writer.ts'

/**
 * Options of `PandasDataFrame`.
 *
 * @see SPEC "PandasDataFrame".
 */
export interface PandasDataFrameOptions extends TimeOptions {
  /**
   * JSON layout of requests and responses.
   *
   * @default `records`
   */
  readonly orient?: Orient
  /** Names for the columns, in order. Ignored unless `applyColumnNames` is set. */
  readonly columns?: readonly string[] | null
  /** Rename incoming and outgoing columns by position. Needs `columns`. */
  readonly applyColumnNames?: boolean
  /** Types to cast incoming columns to, by name. `false` leaves CSV columns as text. Not for orient `table`. */
  readonly dtype?: boolean | Readonly<Record<string, string>> | null
  /**
   * Also refuse nulls in integers and booleans, and frames without a column of `dtype` (except under orient `values`,
   * whose rows have no names). Needs `dtype`.
   */
  readonly enforceDtype?: boolean
  /** Columns that a request must have, by their name in it or after `applyColumnNames`. */
  readonly required?: readonly string[] | null
  /** `[rows, columns]`; only the number of columns is checked. */
  readonly shape?: readonly number[] | null
  /** Refuse frames with another number of columns. Needs `shape`. */
  readonly enforceShape?: boolean
  /**
   * Format of requests without Content-Type, and of responses.
   *
   * @default `json`
   */
  readonly defaultFormat?: FrameFormat
  /**
   * Unit of bare numbers in CSV columns of dtype datetime64 and timedelta64, which may also have ISO 8601 texts.
   * Without it numbers are refused: `20200131` may be a day.
   */
  readonly csvDateUnit?: TimeUnit | null
  /**
   * How Parquet responses are compressed, in pandas' names.
   *
   * @default `snappy`
   */
  readonly compression?: ParquetCompression | null
}

/** Names of the published options. */
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
/** Not in metadata: BentoML's clients fail on an option that they do not know. */
export const ownOptions = [
  'required',
  'dateFormat',
  'dateUnit',
  'csvDateUnit',
  'compression',
] as const
