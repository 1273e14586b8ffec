/**
 * Writes frames as CSV; large ones in pieces, with turns of the event loop between them. Polars writes the pieces, and
 * the event loop waits for its threads: for 3,000,000 cells it waited 160 ms.
 * @module
 */
import { joinBytes, runInSlices, type Slices, Turn } from '../../../core/memory/slices.ts'
import type { MaybePromise } from '../../../core/promise.ts'
import { type FrameView, isInPieces, maxGroupColumns, rowsOf } from '../polars/frame-view.ts'
import type { Polars } from '../polars/polars.ts'
import type { DataFrame } from '../polars/polars-package.ts'

/** Number of elements written in one piece, which takes 1 to 4 ms. */
const pieceCells = 2 ** 16

/** Writes a frame as CSV. Returns a promise if there is more than one piece. **Errors**: of Polars. */
export function encodeFrameCsv(polars: Polars, frame: DataFrame): MaybePromise<Uint8Array> {
  const view = polars.view(frame)
  // A snapshot, because the user's function may change its own frame in the meantime.
  return isInPieces(view, pieceCells) ? writePieces(polars, view.snapshot()) : polars.writeCsv(frame)
}

async function writePieces(polars: Polars, view: FrameView): Promise<Uint8Array> {
  const turn = new Turn()
  const pause = () => (turn.isOver ? turn.next() : undefined)
  const groups: DataFrame[] = []
  for (const group of view.groups(maxGroupColumns)) {
    groups.push(group)
    await pause()
  }
  const rowsAtOnce = rowsOf(view, pieceCells, maxGroupColumns)
  const texts: Uint8Array[] = []
  for (let start = 0; start < view.rows; start += rowsAtOnce) {
    const own: Buffer[] = []
    for (const group of groups) {
      const rows = Math.min(rowsAtOnce, view.rows - start)
      own.push(polars.writeCsv(polars.slice(group, start, rows), start === 0))
      await pause()
    }
    texts.push(own.length === 1 ? own[0] : await runInSlices(besideEachOther(own)))
  }
  return runInSlices(joinBytes(texts))
}

const [quote, newline, comma] = [0x22, 0x0a, 0x2c]

/** Lines that are found or copied in a slice. */
const linesInSlice = 512

/** Joins the lines of tables with the same number of lines. */
function* besideEachOther(tables: readonly Buffer[]): Slices<Buffer> {
  const ends: (readonly number[])[] = []
  for (const table of tables) {
    ends.push(yield* lineEnds(table))
    yield
  }
  const all = Buffer.allocUnsafeSlow(tables.reduce((size, table) => size + table.length, 0))
  let at = 0
  for (let line = 0; line < ends[0].length; line++) {
    for (const [i, table] of tables.entries()) {
      const start = line === 0 ? 0 : ends[i][line - 1]
      at += table.copy(all, at, start, ends[i][line])
      if (i < tables.length - 1) all[at - 1] = comma
    }
    yield
  }
  return all
}

/** Returns where each line of a table ends: behind a newline that is not in quotes, of which a value's are doubled. */
function* lineEnds(table: Buffer): Slices<readonly number[]> {
  const ends: number[] = []
  let steps = 0
  const find = (byte: number, from: number) => {
    const at = table.indexOf(byte, from)
    return at === -1 ? table.length : at
  }
  let opened = find(quote, 0)
  for (let at = 0; at < table.length; ) {
    const end = find(newline, at)
    if (end <= opened) {
      at = end + 1
      ends.push(at)
    } else {
      at = find(quote, opened + 1) + 1
      opened = find(quote, at)
    }
    if (++steps % linesInSlice === 0) yield
  }
  return ends
}
