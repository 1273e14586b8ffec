/** Builds frames from typed columns, cast to the types that an option names, large ones in pieces. @module */
import { setImmediate } from 'node:timers/promises'
import { BadInput } from '../../../core/errors.ts'
import { type MaybePromise, whenReady } from '../../../core/promise.ts'
import { castToKind } from '../cast-to-kind.ts'
import { castToType, markNested } from '../cast-to-type.ts'
import {
  type AnyColumn,
  type Column,
  type ColumnTable,
  firstNull,
  type PolarsType,
  sliceTable,
  tableBytes,
} from '../columns.ts'
import { type FrameType, refusesNulls, timeOfType } from '../frame-dtype.ts'
import { cellPlace, nestColumns } from './nest.ts'
import type { Polars } from './polars.ts'
import type { DataFrame } from './polars-package.ts'

/** How columns are cast, and the descriptor that errors name. */
export interface Casting {
  readonly polars: Polars
  readonly types: readonly (FrameType | undefined)[]
  readonly enforce: boolean
  readonly name: string
  /** Whether no one else can write to the columns' memory or use it again, so that a frame may keep it. */
  readonly isOwned?: boolean
}

/** Size of a piece, which blocks the event loop for milliseconds. **Units**: elements; bytes. */
const pieceCells = 2 ** 16
const pieceBytes = 2 ** 20
const pieceColumns = 256

/**
 * Builds a frame, cast to the types, large ones in pieces.
 *
 * @throws BadInput with the column and, if known, row.
 */
export function buildFrame(
  table: ColumnTable<AnyColumn>,
  wanted: Casting,
): MaybePromise<DataFrame> {
  const { name } = wanted
  const casting = {
    ...wanted,
    types: table.columns.map((column, i) => wanted.types[i] ?? polarsTypeOf(column)),
  }
  const columns = table.columns.map((column, i) => {
    const type = casting.types[i]
    return markNested(withoutPolarsType(column, table.rows, type), table.rows, type)
  })
  return whenReady(nestColumns({ rows: table.rows, columns }, name), (nested) => {
    const isLarge = piecesOf(nested, casting) > 1
    if (mayBeLazy(nested, casting, isLarge))
      return casting.polars.lazyFrame(castColumns(nested, casting, 0))
    const isInPieces = isLarge || columns.length > pieceColumns
    if (isInPieces) return buildInPieces(nested, casting)
    return buildPiece(nested, casting, 0)
  })
}

const polarsTypeOf = (column: AnyColumn) => ('kind' in column ? column.polarsType : undefined)

/**
 * Texts of decimals are numbers for other types, and keep their digits.
 *
 * @returns a column that stands for itself.
 */
function withoutPolarsType(
  column: AnyColumn,
  rows: number,
  type: FrameType | undefined,
): AnyColumn {
  if (!('kind' in column) || column.polarsType === undefined) return column
  const { polarsType, ...texts } = column
  if (polarsType === 'Categorical' || type === undefined || type === 'Utf8' || isPolarsType(type))
    return texts
  return castToKind(texts, rows, 'float64') as Column
}

function isPolarsType(type: FrameType): type is PolarsType {
  return type === 'Categorical' || type.startsWith('Decimal(')
}

/** Whether a frame may keep its columns until it is asked for something that they do not have. */
function mayBeLazy(
  table: ColumnTable<AnyColumn>,
  { types, isOwned }: Casting,
  isLarge: boolean,
): boolean {
  if (!isOwned || types.some((type) => type !== undefined && isPolarsType(type))) return false
  return (
    !isLarge || (types.every((type) => type === undefined) && tableBytes(table) <= maxLazyBytes)
  )
}

/** Maximum size of a frame that Polars gets in one piece, within the function, without casts. **Units**: bytes. */
const maxLazyBytes = 2 ** 24

/** Elements of other columns that take as long to cast as a time does: it is read digit by digit. */
const timeCells = 16

function piecesOf(table: ColumnTable<AnyColumn>, { types }: Casting): number {
  const { rows, columns } = table
  const isCast = types.some((type) => type !== undefined)
  const times = types.filter((type) => type !== undefined && timeOfType(type) !== undefined).length
  const cells = isCast ? rows * (columns.length + times * timeCells) : 0
  return Math.max(tableBytes(table) / pieceBytes, cells / pieceCells)
}

/** Builds groups of columns that fit a piece, and cuts a long column by rows: each column has a fixed cost. */
async function buildInPieces(table: ColumnTable<AnyColumn>, casting: Casting): Promise<DataFrame> {
  const { polars } = casting
  const { rows, columns } = table
  const average = columns.length / Math.max(1, piecesOf(table, casting))
  const width = Math.min(pieceColumns, Math.max(1, Math.floor(average)))
  const groups: DataFrame[] = []
  for (let first = 0; first < columns.length; first += width) {
    const group = { rows, columns: columns.slice(first, first + width) }
    const own = { ...casting, types: casting.types.slice(first, first + width) }
    const rowsAtOnce = rowsOfPiece(rows, piecesOf(group, own))
    const build = (start: number, end: number) =>
      buildPiece(sliceTable(group, start, end), own, start)
    const pieces: DataFrame[] = []
    let start = 0
    do {
      pieces.push(build(start, Math.min(rows, start + rowsAtOnce)))
      start += rowsAtOnce
      await setImmediate()
    } while (start < rows)
    groups.push(await polars.stack(pieces))
  }
  if (groups.length === 1) return groups[0]
  return polars.join(groups)
}

/** @returns the rows of a piece: a multiple of 8, so that bitmaps are cut between bytes. */
function rowsOfPiece(rows: number, pieces: number): number {
  if (pieces <= 1) return rows
  return Math.max(8, Math.ceil(rows / pieces / 8) * 8)
}

function buildPiece(table: ColumnTable<AnyColumn>, casting: Casting, firstRow: number): DataFrame {
  const frame = casting.polars.fromColumns(castColumns(table, casting, firstRow))
  castInPolars(frame, casting)
  return frame
}

function castColumns(
  table: ColumnTable<AnyColumn>,
  casting: Casting,
  firstRow: number,
): ColumnTable<AnyColumn> {
  const { types } = casting
  if (types.every((type) => type === undefined)) return table
  const columns = table.columns.map((column, i) => {
    const type = types[i]
    if (type === undefined || isPolarsType(type)) return column
    const cast = castToType(column, table.rows, type)
    if ('failure' in cast) throw misfit(casting, type, column.name, firstRow + cast.row)
    if (!casting.enforce || !refusesNulls(type)) return cast
    const row = firstNull(cast, table.rows)
    if (row !== -1) throw misfit(casting, type, column.name, firstRow + row)
    return cast
  })
  return { rows: table.rows, columns }
}

function castInPolars(frame: DataFrame, casting: Casting): void {
  const { polars, types } = casting
  for (const [i, type] of types.entries()) {
    if (type === undefined || !isPolarsType(type)) continue
    try {
      polars.toPolarsType(frame, i, type)
    } catch (cause) {
      throw misfit(casting, type, polars.names(frame)[i], undefined, cause)
    }
  }
}

function misfit(
  { name }: Casting,
  type: FrameType,
  column: string,
  row?: number,
  cause?: unknown,
): BadInput {
  const where =
    name === 'PandasSeries' ? name : `column ${JSON.stringify(column.slice(0, 80))} of ${name}`
  const { words, path } = cellPlace(column, row)
  return new BadInput(
    `expected elements that fit ${type}${formOf(type)} for ${where}, received one that does not${words}`,
    { reason: 'dtype', path, cause },
  )
}

function formOf(type: FrameType): string {
  const time = timeOfType(type)
  if (time === undefined) return ''
  const isZoned = time.type === 'datetime' && time.zone !== undefined
  if (isZoned) return ', texts in ISO 8601 with an offset or of an hour that the zone has once,'
  return ', texts in ISO 8601,'
}
