/** Nodejs-polars by Arrow IPC: its Series constructors are slow, and its JSON reader is unsafe. @module */

import { bufferPool } from '../../../core/memory/buffer-pool.ts'
import { encodeArrow } from '../arrow/arrow-writer.ts'
import {
  type AnyColumn,
  type ColumnTable,
  type PolarsType,
  renameColumns,
  sliceTable,
} from '../columns.ts'
import type { FieldType } from '../json/table-schema.ts'
import { withoutViews } from '../parquet/parquet-schema.ts'
import { encodeParquet, type ParquetCompression } from '../parquet/parquet-writer.ts'
import { exactTimes, type TimeForm } from '../times.ts'
import { lazyFrame, lazySeries, tableBehind } from './lazy.ts'
import {
  arrowOf,
  type ColumnFailure,
  columnAt,
  fieldTypes,
  flatColumns,
  member,
  namesOf,
  toVectors,
  underPlainNames,
  variantsOf,
} from './polars-columns.ts'
import { type DataFrame, loadPolarsPackage, type pl, type Series } from './polars-package.ts'
import { printableColumns, unnestColumns } from './unnest.ts'

/** By what needs it, which errors name. */
const byUser = new Map<string, Polars>()

/**
 * Flat columns do not need the package. All else throws MissingDependencyException with the install
 * command without it.
 *
 * @returns Polars, loaded at the first call if it is installed: no request waits for it, and builds
 * pack it.
 */
export function loadPolars(neededBy: string): Polars {
  const known = byUser.get(neededBy)
  if (known !== undefined) return known
  const polars = new Polars(neededBy)
  byUser.set(neededBy, polars)
  return polars
}

/** The operations of Polars that are used here. All throw Polars' own errors, which the callers translate. */
export class Polars {
  readonly #neededBy: string
  #loaded: typeof pl | undefined
  readonly isDataFrame = isDataFrame
  readonly isSeries = isSeries
  /** @returns the columns as Polars holds them, but categories as text, and decimals as floats or as text. */
  readonly toVectors = toVectors
  readonly flatColumns = flatColumns
  readonly names = namesOf
  /** @returns the names of the column types, even of those that nodejs-polars cannot create an object for. */
  readonly variants = variantsOf

  constructor(neededBy: string) {
    this.#neededBy = neededBy
    try {
      this.#package()
    } catch {
      // What needs it tells.
    }
  }

  #package(): typeof pl {
    this.#loaded ??= loadPolarsPackage(this.#neededBy)
    return this.#loaded
  }

  readonly readIpc = (file: Uint8Array): DataFrame => this.#package().readIPC(asBuffer(file))

  readonly fromColumns = (table: ColumnTable<AnyColumn>): DataFrame => {
    const stream = encodeArrow(table, (size) => Buffer.from(bufferPool.take(size), 0, size))
    const frame = this.#package().readIPCStream(stream)
    // Polars has copied it.
    bufferPool.give(stream.buffer as ArrayBuffer)
    return frame
  }

  /** As `fromColumns`, once Polars is needed; until then the frame keeps the columns, whose memory must be theirs. */
  lazyFrame(table: ColumnTable<AnyColumn>): DataFrame {
    return lazyFrame(table, this.fromColumns)
  }

  /** Makes JSON text of lists and structs, text of categories, floats of decimals, base64 of bytes. */
  toColumns(value: DataFrame | Series, times: TimeForm = exactTimes): ColumnTable | ColumnFailure {
    const table = vectorsOf(value)
    if ('failure' in table) return table
    return unnestColumns(table, times)
  }

  /** As `toColumns`, but lists and structs stay columns. */
  toPrintable(
    value: DataFrame | Series,
    times: TimeForm = exactTimes,
  ): ColumnTable<AnyColumn> | ColumnFailure {
    const table = vectorsOf(value)
    if ('failure' in table) return table
    return printableColumns(table, times)
  }

  fieldTypes(frame: DataFrame): readonly FieldType[] {
    return fieldTypes(this.#package(), frame)
  }

  /**
   * The user's function must not hold `frame`.
   *
   * @returns the only column of a frame.
   */
  seriesOf(frame: DataFrame): Series {
    const table = tableBehind(frame)
    if (table === undefined) return columnAt(frame, 0)
    return lazySeries(table, this.fromColumns)
  }

  /**
   * For reading only.
   *
   * @returns a frame with the series as its only column.
   */
  frameOf(series: Series): DataFrame {
    const table = tableBehind(series)
    // Not DataFrame([series]): it renames an unnamed series in index, which the user's function may hold.
    if (table === undefined) return series.toFrame()
    return this.lazyFrame(table)
  }

  height(frame: DataFrame): number {
    return member(frame, 'height')
  }

  dtypes(frame: DataFrame): DataFrame['dtypes'] {
    return member(frame, 'dtypes')
  }

  clone(frame: DataFrame): DataFrame {
    const table = tableBehind(frame)
    if (table === undefined) return member(frame, 'clone')()
    return this.lazyFrame(table)
  }

  pick(frame: DataFrame, indices: readonly number[]): DataFrame {
    const table = tableBehind(frame)
    if (table !== undefined)
      return this.lazyFrame({ ...table, columns: indices.map((i) => table.columns[i]) })
    const names = namesOf(frame)
    const picked = underPlainNames(frame, 'c', () => frame.select(...indices.map((i) => `c${i}`)))
    picked.columns = indices.map((i) => names[i])
    return picked
  }

  slice(frame: DataFrame, start: number, rows: number): DataFrame {
    const table = tableBehind(frame)
    if (table === undefined) return member(frame, 'slice')(start, rows)
    return this.lazyFrame(sliceTable(table, start, Math.min(table.rows, start + rows)))
  }

  /** @returns the rows of frames with the same columns, in contiguous memory. */
  async stack(frames: readonly DataFrame[]): Promise<DataFrame> {
    if (frames.length === 1) return frames[0]
    const parts = frames.map((frame) => member(frame, 'lazy')())
    return this.#package().concat(parts, { how: 'vertical', rechunk: true }).collect()
  }

  /**
   * They have the same number of rows and unique names.
   *
   * @returns one frame with the columns of several.
   */
  join(frames: readonly DataFrame[]): DataFrame {
    return this.#package().concat([...frames], { how: 'horizontal' })
  }

  /**
   * It may be the same one: the user's function must not hold it.
   *
   * @returns the frame with other names.
   */
  rename(frame: DataFrame, names: readonly string[]): DataFrame {
    const table = tableBehind(frame)
    if (table !== undefined) return this.lazyFrame(renameColumns(table, names))
    frame.columns = [...names]
    return frame
  }

  /** Casts a column that {@link fromColumns} made. */
  toPolarsType(frame: DataFrame, column: number, type: PolarsType): void {
    const series = castTo(this.#package(), columnAt(frame, column), type)
    member(frame, 'replaceAtIdx')(column, series)
  }

  /** For columns of numbers, booleans, text and times. */
  writeCsv(frame: DataFrame): Buffer {
    return member(frame, 'writeCSV')()
  }

  /** Decodes in this process: only for files that we wrote, never for a client's. */
  readParquet(file: Uint8Array): DataFrame {
    return this.#package().readParquet(asBuffer(file))
  }

  /** Polars writes what the own writer does not: nested columns, categories and decimals. */
  writeParquet(
    frame: DataFrame,
    compression: ParquetCompression = 'snappy',
    allocate?: (size: number) => ArrayBuffer,
  ): Uint8Array {
    const table = flatColumns(frame)
    const flat = table && encodeParquet(table, compression, allocate)
    if (flat !== undefined) return flat
    const codec = compression === 'none' ? 'uncompressed' : compression
    return withoutViews(member(frame, 'writeParquet')({ compression: codec }))
  }

  writeIpc(frame: DataFrame): Buffer {
    return arrowOf(frame)
  }

  writeIpcStream(frame: DataFrame): Buffer {
    return arrowOf(frame, 'writeIPCStream')
  }
}

const vectorsOf = (value: DataFrame | Series) =>
  tableBehind(value) ?? toVectors(isSeries(value) ? value.toFrame() : value)

/** By the tag, as nodejs-polars does: it may be absent. */
function isDataFrame(value: unknown): value is DataFrame {
  return tagOf(value) === 'DataFrame'
}

function isSeries(value: unknown): value is Series {
  const tag = tagOf(value)
  return typeof tag === 'function' && tag() === 'Series'
}

function tagOf(value: unknown): unknown {
  return (value as Readonly<Record<symbol, unknown>> | null | undefined)?.[Symbol.toStringTag]
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Casts numbers to text first: as codes into the process' table they would reveal another client's texts. */
function castTo(polars: typeof pl, series: Series, type: PolarsType): Series {
  const texts = series.dtype.variant === 'String' ? series : series.cast(polars.Utf8, true)
  if (type === 'Categorical') return texts.cast(polars.Categorical, true)
  const [, precision, scale] = /^Decimal\((\d+), (\d+)\)$/.exec(type) ?? []
  return texts.cast(polars.Decimal(Number(precision), Number(scale)), true)
}
