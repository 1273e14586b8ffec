/**
 * A frame's size and columns, read without its Proxy, which looks up all column names at each access to a member.
 * @module
 */
import { type AnyColumn, type ColumnTable, tableBytes } from '../columns.ts'
import { lazyFrameWith, tableBehind } from './lazy-frame.ts'
import { member, namesOf } from './polars-columns.ts'
import type { DataFrame, pl } from './polars-package.ts'

/** A frame's size, and its columns in groups. */
export interface FrameView {
  readonly rows: number
  readonly width: number
  readonly cells: number
  readonly names: readonly string[]
  /** Returns the same that keeps its columns and names whatever the user's function does to the frame. */
  snapshot(): FrameView
  /** Returns the columns in frames of `width`, which share their memory. The frame must not change until the end. */
  groups(width: number): Iterable<DataFrame>
}

/** Number of columns taken out of Polars at a time, each of which costs 10 to 20 µs in addition to its elements. */
export const maxGroupColumns = 256

/** Whether a frame is written in pieces of `cells` cells. */
export function isInPieces(view: FrameView, cells: number): boolean {
  return view.cells > cells || (view.width > maxGroupColumns && view.rows > 0)
}

/**
 * Returns how many rows of at most `width` columns have so many cells: a multiple of 8, which bits are cut at, or few.
 */
export function rowsOf({ rows, width: all, cells: allCells }: FrameView, cells: number, width: number): number {
  const own = (cells * rows * all) / (allCells * Math.min(width, all))
  return own < 8 ? Math.max(1, Math.floor(own)) : Math.floor(own / 8) * 8
}

interface InnerFrame {
  readonly height: number
  readonly width: number
  readonly columns: string[]
  clone(): InnerFrame
  estimatedSize(): number
  selectAtIdx(index: number): unknown
}

const nestedCells = 256

const cellBytes = 16

/** Returns the view of a frame. **Cost**: one access to the frame, and what is read. */
export function viewOf(polars: typeof pl, frame: DataFrame): FrameView {
  const table = tableBehind(frame)
  if (table !== undefined) return new TableView(frame, table)
  return new InnerView(polars, (member as (frame: DataFrame, name: string) => () => InnerFrame)(frame, 'inner')())
}

class TableView implements FrameView {
  readonly #frame: DataFrame
  readonly #table: ColumnTable<AnyColumn>

  constructor(frame: DataFrame, table: ColumnTable<AnyColumn>) {
    this.#frame = frame
    this.#table = table
  }

  get rows(): number {
    return this.#table.rows
  }

  get width(): number {
    return this.#table.columns.length
  }

  get cells(): number {
    const { rows, columns } = this.#table
    const nested = columns.filter((column) => !('kind' in column)).length
    return Math.max(rows * (columns.length + nested * nestedCells), tableBytes(this.#table) / cellBytes)
  }

  get names(): readonly string[] {
    return namesOf(this.#frame)
  }

  snapshot(): FrameView {
    // The columns behind a frame never change.
    return new TableView(lazyFrameWith(this.#frame, this.#table), this.#table)
  }

  *groups(width: number): Iterable<DataFrame> {
    const { columns } = this.#table
    for (let first = 0; first < columns.length; first += width) {
      yield lazyFrameWith(this.#frame, { ...this.#table, columns: columns.slice(first, first + width) })
    }
  }
}

class InnerView implements FrameView {
  readonly #polars: typeof pl
  readonly #inner: InnerFrame
  #names: readonly string[] | undefined

  constructor(polars: typeof pl, inner: InnerFrame) {
    this.#polars = polars
    this.#inner = inner
  }

  get rows(): number {
    return this.#inner.height
  }

  get width(): number {
    return this.#inner.width
  }

  get cells(): number {
    // Not the types, whose names may panic.
    return Math.max(this.rows * this.width, this.#inner.estimatedSize() / cellBytes)
  }

  get names(): readonly string[] {
    this.#names ??= this.#inner.columns
    return this.#names
  }

  snapshot(): FrameView {
    return new InnerView(this.#polars, this.#inner.clone())
  }

  *groups(width: number): Iterable<DataFrame> {
    const count = this.width
    for (let first = 0; first < count; first += width) {
      const columns: SeriesParts[] = []
      for (let i = first; i < Math.min(count, first + width); i++) {
        columns.push({ _s: this.#inner.selectAtIdx(i), name: 'kept' })
      }
      yield this.#polars.DataFrame(columns as never)
    }
  }
}

/**
 * What nodejs-polars 0.24.1 takes of a series to make a frame. A series itself takes it 0.5 ms to make; `name` is one
 * that is not empty, which it would replace.
 */
interface SeriesParts {
  readonly _s: unknown
  readonly name: string
}
