/**
 * A narrow interface to nodejs-polars.
 *
 * Columns go in and out as Arrow files: measured on 0.24.1, two small columns take 13 µs that way and 345 µs through
 * its Series constructors; 100,000 strings take 1 ms instead of 12. Client JSON is never passed to its JSON reader,
 * which allocates gigabytes for 1 KB of brackets.
 * @module
 */

import { type ColumnKind, isWideInteger } from '../dtype.ts'
import { decodeArrow, encodeArrow } from './arrow.ts'
import { type Column, type ColumnTable, columnOf } from './columns.ts'
import { type FrameType, kindOfType } from './frame-dtype.ts'
import { frameBehind, lazySeries, type NativeSeries } from './lazy-series.ts'
import { gatherInFile, Pieces } from './polars-output.ts'
import { type DataFrame, ipcScratch, loadPolarsPackage, type pl, type Series } from './polars-package.ts'

/** The operations of Polars that are used here. All throw Polars' own errors, which the callers translate. */
export interface Polars {
  isDataFrame(value: unknown): value is DataFrame
  isSeries(value: unknown): value is Series
  /** **Cost**: one copy of the columns. */
  fromColumns(table: ColumnTable): DataFrame
  /** Converts dates to ISO 8601 text, categories to their text, decimals to floats. */
  toColumns(frame: DataFrame): ColumnTable | ColumnFailure
  /** As `toColumns` for a frame of at most `maxCells` elements; undefined for a larger one. */
  toColumnsWithin(frame: DataFrame, maxCells: number): ColumnTable | ColumnFailure | undefined
  /** Returns the only column of a frame. The user's function must not hold `frame`. */
  seriesOf(frame: DataFrame): Series
  /** Returns a frame with the series as its only column. For reading only. */
  frameOf(series: Series): DataFrame
  /** Renames the columns in place. The user's function must not hold `frame`. */
  rename(frame: DataFrame, names: readonly string[]): DataFrame
  /** Returns the column names. Use this and the functions below, not the frame's members, which columns can hide. */
  names(frame: DataFrame): string[]
  height(frame: DataFrame): number
  dtypes(frame: DataFrame): pl.DataType[]
  /** Returns the names of the column types, even of types that nodejs-polars cannot create an object for. */
  variants(frame: DataFrame): string[]
  clone(frame: DataFrame): DataFrame
  /** Returns a new frame with the columns at `places`; shares their memory. */
  pick(frame: DataFrame, places: readonly number[]): DataFrame
  /** Returns a frame with the columns at `places` replaced by those of another frame. */
  put(frame: DataFrame, places: readonly number[], columns: DataFrame): DataFrame
  /** Returns a new frame with some rows of a frame; shares their memory. */
  slice(frame: DataFrame, start: number, rows: number): DataFrame
  /** Returns the rows of frames with the same columns, in contiguous memory. **Cost**: a copy by Polars' threads. */
  stack(frames: readonly DataFrame[]): Promise<DataFrame>
  /** Returns one frame with the columns of several. They have the same number of rows and unique names. */
  join(frames: readonly DataFrame[]): DataFrame
  /** Casts one column in place. Throws if an element does not fit the type; never wraps. */
  cast(frame: DataFrame, column: number, type: FrameType): void
  /** Casts columns in `places` without any value to Float64. **Cost**: one call for all; one column costs 0.5 ms. */
  floatsOfNothing(frame: DataFrame, places: readonly number[]): DataFrame
  /** Reads text with a header line. `textColumns` are left as text; `'all'` leaves every column. */
  readCsv(csv: Uint8Array, textColumns: readonly string[] | 'all', nullWords: readonly string[]): DataFrame
  writeCsv(frame: DataFrame): Buffer
  /** Decodes in this process: only for files that we wrote, never for a client's. */
  readParquet(file: Uint8Array): DataFrame
  writeParquet(frame: DataFrame): Uint8Array
  readIpc(file: Uint8Array): DataFrame
  writeIpc(frame: DataFrame): Buffer
  /** As `writeIpc`, without a copy of the whole. Returns the size. After a failed attempt `write` starts again at 0. */
  writeIpcPieces(frame: DataFrame, write: (piece: Uint8Array, position: number) => void): number
  /** Returns the number of characters in all text columns; a text that rows share counts once for each row. */
  countCharacters(frame: DataFrame): number
}

/** Names a column that cannot be represented as numbers, booleans or text. */
export interface ColumnFailure {
  readonly failure: 'type'
  /** Name of the column. */
  readonly column: string
}

let loaded: Polars | undefined

/** Returns Polars, loaded at the first call. **Errors**: MissingDependencyException with the install command. */
export function loadPolars(neededBy: string): Polars {
  loaded ??= wrap(loadPolarsPackage(neededBy))
  return loaded
}

function wrap(polars: typeof pl): Polars {
  const readIpc = (file: Uint8Array) => polars.readIPC(asBuffer(file))
  return {
    isDataFrame: (value): value is DataFrame => polars.DataFrame.isDataFrame(value),
    isSeries: (value): value is Series => polars.Series.isSeries(value),
    fromColumns: (table) => readIpc(encodeArrow(table, (size) => ipcScratch.take(size).subarray(0, size))),
    toColumns: (frame) => toColumns(polars, frame, Number.POSITIVE_INFINITY) as ColumnTable | ColumnFailure,
    toColumnsWithin: (frame, maxCells) => toColumns(polars, frame, maxCells),
    seriesOf,
    // Not DataFrame([series]): it renames an unnamed series in place, which the user's function may hold.
    frameOf: (series) => frameBehind(series) ?? series.toFrame(),
    names: namesOf,
    height: (frame) => member(frame, 'height'),
    dtypes: (frame) => member(frame, 'dtypes'),
    variants: variantsOf,
    clone: (frame) => member(frame, 'clone')(),
    pick(frame, places) {
      const names = namesOf(frame)
      const picked = underPlainNames(frame, 'c', () => frame.select(...places.map((i) => `c${i}`)))
      picked.columns = places.map((i) => names[i])
      return picked
    },
    put(frame, places, columns) {
      const names = namesOf(frame)
      const order = names.map((_, i) => `c${i}`)
      for (const [j, place] of places.entries()) order[place] = `d${j}`
      const put = underPlainNames(frame, 'c', () =>
        underPlainNames(columns, 'd', () => polars.concat([frame, columns], { how: 'horizontal' }).select(...order)),
      )
      put.columns = names
      return put
    },
    slice: (frame, start, rows) => member(frame, 'slice')(start, rows),
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
      frame.columns = [...names]
      return frame
    },
    cast(frame, column, type) {
      if (isOfType(member(frame, 'dtypes')[column], typeOf(polars, type), type)) return
      // Not getColumns, which takes 0.5 ms for each column of the frame.
      const series = member(frame, 'getColumn')(namesOf(frame)[column])
      member(frame, 'replaceAtIdx')(column, castSeries(polars, series, type))
    },
    floatsOfNothing(frame, places) {
      // Read once: each access to a property of a frame first looks up all of its columns.
      const height = member(frame, 'height')
      if (places.length === 0) return frame
      const nulls: number[] = member(member(frame, 'nullCount')(), 'row')(0)
      const empty = places.filter((i) => nulls[i] === height)
      if (empty.length === 0) return frame
      const names = namesOf(frame)
      // Renamed, because names such as `*` and `^a$` are patterns in an expression.
      frame.columns = names.map((_, i) => `c${i}`)
      const cast = frame.withColumns(polars.cols(empty.map((i) => `c${i}`)).cast(polars.Float64, true))
      cast.columns = names
      return cast
    },
    readCsv: (csv, textColumns, nullWords) =>
      polars.readCSV(asBuffer(csv), {
        // With 0 no line is inspected and all columns are text; otherwise all lines are inspected, or line 101 could
        // contradict the first 100. Never a large round number: Polars allocates 24 bytes for each of these lines, and
        // aborts the process if it cannot.
        inferSchemaLength: textColumns === 'all' ? 0 : lineCount(csv),
        ignoreErrors: false,
        truncateRaggedLines: false,
        nullValues: [...nullWords],
        ...(textColumns !== 'all' && textColumns.length > 0 && { dtypes: textTypes(polars, textColumns) }),
      }),
    writeCsv: (frame) => member(frame, 'writeCSV')(),
    readParquet: (file) => polars.readParquet(asBuffer(file)),
    writeParquet: parquetOf,
    readIpc,
    writeIpc: ipcOf,
    writeIpcPieces(frame, write) {
      return arrowOf(frame, (whole) => {
        const pieces = new Pieces(write)
        member(whole, 'writeIPC')(pieces)
        return pieces.size
      })
    },
    countCharacters(frame) {
      const variants = variantsOf(frame)
      const texts = namesOf(frame).filter((_, i) => variants[i] === 'String')
      return texts.reduce((sum, name) => sum + Number(member(frame, 'getColumn')(name).str.lengths().sum()), 0)
    },
  }
}

/** Returns the column names. A column called `columns` hides that property, but not `ownKeys`, which takes 10 µs. */
function namesOf(frame: DataFrame): string[] {
  const names: unknown = frame.columns
  return Array.isArray(names) ? names : (Reflect.ownKeys(frame) as string[])
}

/**
 * Returns a member of a frame that is a function, a number or an array. A frame is a Proxy: with a column called
 * `width`, `frame.width` is a Series. The columns of such a frame are renamed during the look-up. The methods do not
 * use `this`, and see the names that the columns have when they run.
 */
function member<K extends keyof DataFrame>(frame: DataFrame, name: K): DataFrame[K] {
  const found: unknown = frame[name]
  if (typeof found !== 'object' || Array.isArray(found)) return found as DataFrame[K]
  const names = namesOf(frame)
  frame.columns = names.map((_, i) => `\0${i}`)
  try {
    return frame[name]
  } finally {
    frame.columns = names
  }
}

function seriesOf(frame: DataFrame): Series {
  const make = () => member(frame, 'getColumns')()[0]
  // Not the native object if a column is called `_df`.
  const { _df } = frame as { readonly _df?: { column?(name: string): NativeSeries } }
  if (typeof _df?.column !== 'function') return make()
  return lazySeries({ frame, native: _df.column(namesOf(frame)[0]), dtype: () => member(frame, 'dtypes')[0], make })
}

/**
 * Calls `work` while the columns of a frame are called `c0`, `c1`, … (for the letter `c`). Needed because names such as
 * `*` and `^a$` are patterns in an expression, and a column called `select` hides the method.
 */
function underPlainNames<T>(frame: DataFrame, letter: string, work: () => T): T {
  const names = namesOf(frame)
  frame.columns = names.map((_, i) => `${letter}${i}`)
  try {
    return work()
  } finally {
    frame.columns = names
  }
}

/** Writes a frame as an Arrow file, in one chunk if its own chunks cannot be written. */
function arrowOf<T>(frame: DataFrame, write: (frame: DataFrame) => T): T {
  try {
    return write(frame)
  } catch {
    // Each chunk of a category column has its own dictionary; an Arrow file can hold only one per column.
    return write(member(frame, 'rechunk')())
  }
}

function ipcOf(frame: DataFrame): Buffer {
  return arrowOf(frame, (whole) => member(whole, 'writeIPC')())
}

/**
 * Maximum size of a frame whose Parquet is written to a file in memory first. **Units**: cells. **Source**: 10 columns
 * of mixed kinds, milliseconds of CPU without and with the file: 8 rows 2.2 and 0.15, 1,000 rows 2.4 and 0.4, 10,000
 * rows 4.2 and 1.7, 100,000 rows 9.4 and 13.
 */
const maxFileCells = 2 ** 18

function parquetOf(frame: DataFrame): Uint8Array {
  const write = member(frame, 'writeParquet')
  const isSmall = member(frame, 'height') * namesOf(frame).length <= maxFileCells
  return (isSmall ? gatherInFile((path) => write(path)) : undefined) ?? write()
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function lineCount(text: Uint8Array): number {
  let count = 1
  for (let i = 0; i < text.length; i++) if (text[i] === 0x0a) count++
  return count
}

function textTypes(polars: typeof pl, names: readonly string[]): Record<string, pl.DataType> {
  const types: Record<string, pl.DataType> = Object.create(null)
  for (const name of names) types[name] = polars.Utf8
  return types
}

function typeOf(polars: typeof pl, type: FrameType): pl.DataType {
  switch (type) {
    case 'Datetime(ms)':
      return polars.Datetime('ms')
    case 'Datetime(us)':
      return polars.Datetime('us')
    case 'Datetime(ns)':
      return polars.Datetime('ns')
    default:
      return polars[type]
  }
}

/** Whether a column surely has the type already. False for datetimes, whose variant does not tell the unit. */
function isOfType(own: pl.DataType, wanted: pl.DataType, type: FrameType): boolean {
  return own.variant === wanted.variant && !type.startsWith('Datetime')
}

function castSeries(polars: typeof pl, series: Series, type: FrameType): Series {
  // Polars casts numbers to categories as codes into a table that all frames of the process share, which would reveal
  // another client's texts. So numbers are cast to text first.
  const isCoded = type === 'Categorical' && series.dtype.variant !== 'String'
  const cast = (isCoded ? series.cast(polars.Utf8, true) : series).cast(typeOf(polars, type), true)
  // A strict cast refuses what does not fit, except floats beyond float32, which it makes infinite.
  if (type === 'Float32' && count(cast, 'isInfinite') > count(series.cast(polars.Float64), 'isInfinite')) {
    throw new RangeError('a number is beyond float32')
  }
  return cast
}

function count(series: Series, what: 'isInfinite'): number {
  return Number(series[what]().sum())
}

/** Maximum number of cells of a frame that is read row by row: 3 µs instead of an Arrow file's 30 at any size. */
const maxSmallCells = 64

/** Returns the column kind of a Polars type; undefined for types without buffers of numbers or text. */
const kindOfVariant = (variant: string): ColumnKind | undefined =>
  kindOfType((variant === 'String' ? 'Utf8' : variant) as FrameType)

/** Stands for the type of binary and float16 columns: nodejs-polars 0.24.1 panics when asked to name them. */
const unnamed = 'unnamed'

/** Returns the names of the column types. **Cost**: 0.5 ms per column if one of them is {@link unnamed}. */
function variantsOf(frame: DataFrame): string[] {
  try {
    return member(frame, 'dtypes').map(({ variant }) => variant)
  } catch {
    return namesOf(frame).map((name) => {
      try {
        return member(frame, 'getColumn')(name).dtype.variant
      } catch {
        return unnamed
      }
    })
  }
}

/**
 * Returns the columns of a small frame, read row by row. Undefined for an empty or larger frame, for types without a
 * column kind, and for 64-bit integers beyond ±2^53, which rows round.
 */
function smallColumns(frame: DataFrame, names: readonly string[], rows: number): ColumnTable | undefined {
  if (rows === 0 || rows * names.length > maxSmallCells) return undefined
  const kinds = variantsOf(frame).map(kindOfVariant)
  if (kinds.includes(undefined)) return undefined
  const values: (number | bigint | boolean | string | null)[][] = member(frame, 'rows')()
  const columns: Column[] = []
  for (const [i, name] of names.entries()) {
    const kind = kinds[i] as ColumnKind
    const column = values.map((row) => row[i])
    if (isWideInteger(kind) && !column.every((value) => value === null || Number.isSafeInteger(value))) return undefined
    columns.push(columnOf(name, kind, column))
  }
  return { rows, columns }
}

function toColumns(polars: typeof pl, frame: DataFrame, maxCells: number): ColumnTable | ColumnFailure | undefined {
  // Read once: each access takes 0.7 µs.
  const names = namesOf(frame)
  const rows = member(frame, 'height')
  if (rows * names.length > maxCells) return undefined
  const small = smallColumns(frame, names, rows)
  if (small !== undefined) return small
  const direct = decodeArrow(ipcOf(frame))
  if (direct !== undefined) return direct
  // Several chunks, or types without buffers of numbers or text.
  const plain = member(frame, 'clone')()
  const variants = variantsOf(frame)
  for (const [i, name] of names.entries()) {
    // Taking a column out of the frame costs 0.5 ms.
    if (kindOfVariant(variants[i]) !== undefined) continue
    if (variants[i] === unnamed) return { failure: 'type', column: name }
    const series = member(frame, 'getColumn')(name)
    const next = plainSeries(polars, series)
    if (next === undefined) return { failure: 'type', column: series.name }
    if (next !== series) member(plain, 'replaceAtIdx')(i, next)
  }
  return decodeArrow(member(member(plain, 'rechunk')(), 'writeIPC')()) ?? { failure: 'type', column: '' }
}

function plainSeries(polars: typeof pl, series: Series): Series | undefined {
  switch (series.dtype.variant as string) {
    case 'Date':
    case 'Time':
    case 'Categorical':
    case 'Enum':
      return series.cast(polars.Utf8)
    case 'Datetime':
      return series.date.strftime('%Y-%m-%dT%H:%M:%S%.3f')
    case 'Decimal':
    case 'Null':
      return series.cast(polars.Float64)
    case 'Duration':
      return series.cast(polars.Int64)
    case 'List':
    case 'Struct':
    case 'Object':
    case 'FixedSizeList':
    case 'Array':
    case 'Binary':
      return undefined
    default:
      return series
  }
}
