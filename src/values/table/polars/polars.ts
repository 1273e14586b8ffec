/** Nodejs-polars by Arrow files: its Series constructors are slow, and its JSON reader is unsafe. @module */

import { encodeArrow } from '../arrow/arrow.ts'
import { type AnyColumn, type ColumnTable, renameColumns, sliceTable } from '../columns.ts'
import type { FieldType } from '../json/table-schema.ts'
import { withoutViews } from '../parquet/parquet-views.ts'
import { encodeParquet } from '../parquet/parquet-writer.ts'
import { exactTimes, type TimeForm } from '../times.ts'
import { ColumnSeries, isPlain } from './column-series.ts'
import { dtypeOf, lazyFrame, lazyFrameWith, tableBehind } from './lazy-frame.ts'
import { frameBehind, lazySeries, type NativeSeries } from './lazy-series.ts'
import {
  arrowOf,
  type ColumnFailure,
  fieldTypes,
  flatColumns,
  ipcOf,
  member,
  namesOf,
  toColumns,
  toVectors,
  variantsOf,
} from './polars-columns.ts'
import { gatherInFile, Pieces } from './polars-output.ts'
import { type DataFrame, ipcScratch, loadPolarsPackage, type pl, type Series } from './polars-package.ts'

/** The operations of Polars that are used here. All throw Polars' own errors, which the callers translate. */
export interface Polars {
  isDataFrame(value: unknown): value is DataFrame
  isSeries(value: unknown): value is Series
  fromColumns(table: ColumnTable<AnyColumn>): DataFrame
  /** As `fromColumns`, once Polars is needed; until then the frame keeps the columns, whose memory must be its own. */
  lazyFrame(table: ColumnTable<AnyColumn>): DataFrame
  /** Makes JSON text of lists and structs, text of categories, floats of decimals, base64 of bytes. */
  toColumns(frame: DataFrame, times?: TimeForm): ColumnTable | ColumnFailure
  fieldTypes(frame: DataFrame): readonly FieldType[]
  /** Returns the columns as Polars holds them, but categories as text and decimals as floats. */
  toVectors(frame: DataFrame): ColumnTable<AnyColumn> | ColumnFailure
  /** Returns the columns as Polars holds them, if all are of numbers, booleans, times, text or bytes. */
  flatColumns(frame: DataFrame): ColumnTable | undefined
  /** Returns the only column of a frame. The user's function must not hold `frame`. */
  seriesOf(frame: DataFrame): Series
  /** Returns a frame with the series as its only column. For reading only. */
  frameOf(series: Series): DataFrame
  /** Returns the frame with other names. It may be the same one: the user's function must not hold it. */
  rename(frame: DataFrame, names: readonly string[]): DataFrame
  names(frame: DataFrame): string[]
  height(frame: DataFrame): number
  dtypes(frame: DataFrame): pl.DataType[]
  /** Returns the names of the column types, even of types that nodejs-polars cannot create an object for. */
  variants(frame: DataFrame): string[]
  clone(frame: DataFrame): DataFrame
  pick(frame: DataFrame, indices: readonly number[]): DataFrame
  put(frame: DataFrame, indices: readonly number[], columns: DataFrame): DataFrame
  slice(frame: DataFrame, start: number, rows: number): DataFrame
  /** Returns the rows of frames with the same columns, in contiguous memory. */
  stack(frames: readonly DataFrame[]): Promise<DataFrame>
  /** Returns one frame with the columns of several. They have the same number of rows and unique names. */
  join(frames: readonly DataFrame[]): DataFrame
  toText(frame: DataFrame, column: number): void
  toCategory(frame: DataFrame, column: number): void
  /** For columns of numbers, booleans, text and times. */
  writeCsv(frame: DataFrame): Buffer
  /** Returns the frame, or a copy of it whose decimals are text with all of their digits. */
  decimalsAsText(frame: DataFrame): DataFrame
  /** Decodes in this process: only for files that we wrote, never for a client's. */
  readParquet(file: Uint8Array): DataFrame
  writeParquet(frame: DataFrame, allocate?: (size: number) => ArrayBuffer): Uint8Array
  readIpc(file: Uint8Array): DataFrame
  readIpcStream(stream: Uint8Array): DataFrame
  writeIpc(frame: DataFrame): Buffer
  writeIpcStream(frame: DataFrame): Buffer
  /** As `writeIpc`, without a copy of the whole. Returns the size. After a failed attempt `write` starts again at 0. */
  writeIpcPieces(frame: DataFrame, write: (piece: Uint8Array, position: number) => void): number
  /** Returns the number of characters in all text columns; a text that rows share counts once for each row. */
  countCharacters(frame: DataFrame): number
}

let loaded: Polars | undefined

/** Returns Polars, loaded at the first call. **Errors**: MissingDependencyException with the install command. */
export function loadPolars(neededBy: string): Polars {
  loaded ??= wrap(loadPolarsPackage(neededBy))
  return loaded
}

function wrap(polars: typeof pl): Polars {
  const readIpc = (file: Uint8Array) => polars.readIPC(asBuffer(file))
  const fromColumns = (table: ColumnTable<AnyColumn>) =>
    readIpc(encodeArrow(table, (size) => ipcScratch.take(size).subarray(0, size)))
  const put = (frame: DataFrame, indices: readonly number[], columns: DataFrame) => {
    const names = namesOf(frame)
    const order = names.map((_, i) => `c${i}`)
    for (const [j, index] of indices.entries()) order[index] = `d${j}`
    const whole = underPlainNames(frame, 'c', () =>
      underPlainNames(columns, 'd', () => polars.concat([frame, columns], { how: 'horizontal' }).select(...order)),
    )
    whole.columns = names
    return whole
  }
  return {
    isDataFrame: (value): value is DataFrame => polars.DataFrame.isDataFrame(value),
    isSeries: (value): value is Series => polars.Series.isSeries(value),
    fromColumns,
    lazyFrame: (table) => lazyFrame({ polars, table, make: fromColumns }),
    toColumns: (frame, times = exactTimes) => toColumns(polars, frame, times),
    fieldTypes: (frame) => fieldTypes(polars, frame),
    toVectors: (frame) => toVectors(polars, frame),
    flatColumns,
    seriesOf: (frame) => seriesOf(polars, frame),
    // Not DataFrame([series]): it renames an unnamed series in index, which the user's function may hold.
    frameOf: (series) => frameBehind(series) ?? series.toFrame(),
    names: namesOf,
    height: (frame) => member(frame, 'height'),
    dtypes: (frame) => member(frame, 'dtypes'),
    variants: variantsOf,
    clone(frame) {
      const table = tableBehind(frame)
      return table === undefined ? member(frame, 'clone')() : lazyFrameWith(frame, table)
    },
    pick(frame, indices) {
      const table = tableBehind(frame)
      if (table !== undefined) return lazyFrameWith(frame, { ...table, columns: indices.map((i) => table.columns[i]) })
      const names = namesOf(frame)
      const picked = underPlainNames(frame, 'c', () => frame.select(...indices.map((i) => `c${i}`)))
      picked.columns = indices.map((i) => names[i])
      return picked
    },
    put,
    slice(frame, start, rows) {
      const table = tableBehind(frame)
      if (table === undefined) return member(frame, 'slice')(start, rows)
      return lazyFrameWith(frame, sliceTable(table, start, Math.min(table.rows, start + rows)))
    },
    stack: async (frames) =>
      frames.length === 1
        ? frames[0]
        : polars
            .concat(
              frames.map((frame) => member(frame, 'lazy')()),
              { how: 'vertical', rechunk: true },
            )
            .collect(),
    join: (frames) => polars.concat([...frames], { how: 'horizontal' }),
    rename(frame, names) {
      const table = tableBehind(frame)
      if (table !== undefined) return lazyFrameWith(frame, renameColumns(table, names))
      frame.columns = [...names]
      return frame
    },
    toText: (frame, column) => toText(polars, frame, column),
    toCategory(frame, column) {
      // Not getColumns, which is slow.
      const series = member(frame, 'getColumn')(namesOf(frame)[column])
      if (series.dtype.variant !== 'Categorical') member(frame, 'replaceAtIdx')(column, categoriesOf(polars, series))
    },
    writeCsv: (frame) => member(frame, 'writeCSV')(),
    decimalsAsText(frame) {
      if (tableBehind(frame) !== undefined) return frame
      const decimals = variantsOf(frame).flatMap((variant, i) => (variant === 'Decimal' ? [i] : []))
      if (decimals.length === 0) return frame
      const copy = member(frame, 'clone')()
      for (const i of decimals) toText(polars, copy, i)
      return copy
    },
    readParquet: (file) => polars.readParquet(asBuffer(file)),
    writeParquet: parquetOf,
    readIpc,
    readIpcStream: (stream) => polars.readIPCStream(asBuffer(stream)),
    writeIpc: ipcOf,
    writeIpcStream: (frame) => arrowOf(frame, (whole) => member(whole, 'writeIPCStream')()),
    writeIpcPieces(frame, write) {
      return arrowOf(frame, (whole) => {
        const pieces = new Pieces(write)
        member(whole, 'writeIPC')(pieces)
        return pieces.size
      })
    },
    countCharacters: (frame) => charactersOf(polars, member(frame, 'clone')()),
  }
}

function charactersOf(polars: typeof pl, frame: DataFrame): number {
  const texts = variantsOf(frame).flatMap((variant, i) => (variant === 'String' ? [`c${i}`] : []))
  if (texts.length === 0) return 0
  frame.columns = namesOf(frame).map((_, i) => `c${i}`)
  // As floats: Polars adds up 32-bit integers in 32 bits, so that a text of 1 MiB in 4,096 rows would count as nothing.
  const sums = frame.select(polars.cols(texts).str.lengths().cast(polars.Float64).sum())
  return (sums.row(0) as (number | null)[]).reduce<number>((sum, count) => sum + (count ?? 0), 0)
}

function toText(polars: typeof pl, frame: DataFrame, column: number): void {
  const text = member(frame, 'getColumn')(namesOf(frame)[column]).cast(polars.Utf8)
  member(frame, 'replaceAtIdx')(column, text)
}

function seriesOf(polars: typeof pl, frame: DataFrame): Series {
  const make = () => member(frame, 'getColumns')()[0]
  const table = tableBehind(frame)
  const column = table?.columns[0]
  if (table !== undefined && column !== undefined && isPlain(column)) {
    const native = new ColumnSeries(column, table.rows, () => make().inner() as NativeSeries)
    return lazySeries({ frame, native, dtype: () => dtypeOf(polars, column), make })
  }
  // Not the native object if a column is called `_df`.
  const { _df } = frame as { readonly _df?: { column?(name: string): NativeSeries } }
  if (typeof _df?.column !== 'function') return make()
  return lazySeries({ frame, native: _df.column(namesOf(frame)[0]), dtype: () => member(frame, 'dtypes')[0], make })
}

/** Calls `work` with columns called `c0`, `c1`, …: `*` is a pattern, and a column `select` hides the method. */
function underPlainNames<T>(frame: DataFrame, letter: string, work: () => T): T {
  const names = namesOf(frame)
  frame.columns = names.map((_, i) => `${letter}${i}`)
  try {
    return work()
  } finally {
    frame.columns = names
  }
}

/** Maximum size of a frame whose Parquet Polars writes to a file in memory first. **Units**: cells. */
const maxFileCells = 2 ** 18

/** Frames of at most so many rows are written to the file whatever their width. */
const maxFileRows = 2 ** 13

const maxPolarsColumns = 256

function parquetOf(frame: DataFrame, allocate?: (size: number) => ArrayBuffer): Uint8Array {
  // Of the frames that Polars made, only wide ones: reading the columns of others costs as much as it saves.
  const table = tableBehind(frame) ?? (namesOf(frame).length > maxPolarsColumns ? flatColumns(frame) : undefined)
  const own = table && encodeParquet(table, allocate)
  if (own !== undefined) return own
  const rows = member(frame, 'height')
  const isSmall = rows <= maxFileRows || rows * namesOf(frame).length <= maxFileCells
  const write = member(frame, 'writeParquet')
  return withoutViews((isSmall ? gatherInFile((path) => write(path)) : undefined) ?? write())
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Casts numbers to text first: as codes into the process' table they would reveal another client's texts. */
function categoriesOf(polars: typeof pl, series: Series): Series {
  const texts = series.dtype.variant === 'String' ? series : series.cast(polars.Utf8, true)
  return texts.cast(polars.Categorical, true)
}
