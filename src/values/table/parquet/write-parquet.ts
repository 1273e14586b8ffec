/**
 * Writes large and wide frames as Parquet in slices: Polars takes 16,000 columns of 50 rows 300 ms, in one call.
 * @module
 */
import { runInSlices, Turn } from '../../../core/memory/slices.ts'
import type { Column } from '../columns.ts'
import { type FrameView, rowsOf } from '../polars/frame-view.ts'
import type { Polars } from '../polars/polars.ts'
import { type Chunk, isFlat, parquetOf, type RowGroup, writePages } from './parquet-writer.ts'

/** Number of elements taken out of Polars and written in one piece, which takes 1 to 5 ms. */
export const parquetCells = 2 ** 17

/** Number of columns in one piece, each of which costs 10 to 20 µs in addition to its elements. */
const maxPieceColumns = 256

/**
 * Returns a file of a frame's columns, in row groups of as many rows as one column has in a piece. Undefined for types
 * that only Polars writes, and without the add-on.
 */
export async function parquetInPieces(polars: Polars, view: FrameView): Promise<Uint8Array | undefined> {
  const turn = new Turn()
  const rowsAtOnce = rowsOf(view, parquetCells, 1)
  const rowCells = Math.max(1, view.cells / view.rows / view.width)
  const width = Math.max(1, Math.floor(parquetCells / (Math.min(rowsAtOnce, view.rows) * rowCells)))
  const columns: Column[] = []
  const groups: RowGroup[] = []
  const pages: Buffer[] = []
  let size = 0
  for (let start = 0; start < view.rows; start += rowsAtOnce) {
    const rows = Math.min(rowsAtOnce, view.rows - start)
    const chunks: Chunk[] = []
    for (const group of view.groups(Math.min(width, maxPieceColumns))) {
      const table = polars.flatColumns(polars.slice(group, start, rows))
      const piece = table?.columns.every(isFlat)
        ? writePages(table, size, (bound) => Buffer.allocUnsafeSlow(bound))
        : undefined
      if (table === undefined || piece === undefined) return undefined
      if (start === 0) for (const column of table.columns) columns.push(typeOf(column))
      for (const chunk of piece.chunks) chunks.push(chunk)
      pages.push(piece.pages)
      size += piece.pages.length
      if (turn.isOver) await turn.next()
    }
    groups.push({ rows, chunks })
  }
  return runInSlices(parquetOf(columns, groups, pages))
}

/** Returns a column without its elements, which would stay in memory. */
function typeOf({ name, kind, time, isBinary }: Column): Column {
  return { name, kind, data: new Uint8Array(0), ...(time && { time }), ...(isBinary && { isBinary }) }
}
