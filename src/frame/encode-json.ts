/**
 * Writes frames as JSON text; large ones in pieces, with turns of the event loop between them.
 * @module
 */
import { joinBytes, runInSlices, Turn } from '../memory/slices.ts'
import type { MaybePromise } from '../promise.ts'
import { type Column, type ColumnTable, renameColumns, sliceColumn, sliceTable } from './columns.ts'
import { type FrameText, type PlanStep, planFrame, type RowsStep } from './frame-plan.ts'
import { requireTable } from './message.ts'
import { frameCodec } from './native-codec.ts'
import type { Polars } from './polars.ts'
import type { DataFrame } from './polars-package.ts'
import type { FieldType } from './table-schema.ts'
import type { TimeForm } from './times.ts'

/** What to write of a frame, and how. */
export interface FrameJson {
  readonly polars: Polars
  readonly frame: DataFrame
  /** The column names to write, if they differ from the frame's. */
  readonly names?: readonly string[]
  /**
   * Returns the text around the values. `table` has the kinds of the columns and whether they hold nulls; without it
   * the schema of layout `table` is left out. `fields`: `fieldTypes` of the frame, where they are known.
   */
  readonly textOf: (table?: ColumnTable, fields?: readonly FieldType[]) => FrameText
  readonly times: TimeForm
  /** The descriptor's name, for errors. */
  readonly name: string
}

/** Number of elements taken out of Polars and printed in one piece, which takes 2 to 5 ms. */
const pieceCells = 2 ** 16

/**
 * Number of columns taken out of Polars at a time: each costs 10 to 20 µs in addition to its elements, and taking some
 * of 16,000 apart from the others 7 ms.
 */
const groupColumns = 512

/** Rows of a frame from `start` on. */
interface Piece {
  readonly start: number
  readonly table: ColumnTable
}

/**
 * Writes a frame as JSON. Returns a promise if there is more than one piece. **Errors**: BadOutput naming a column that
 * cannot be written.
 */
export function encodeFrameJson(json: FrameJson): MaybePromise<Uint8Array> {
  const { polars, frame, names, textOf, times, name } = json
  const columns = polars.toColumnsWithin(frame, pieceCells, times)
  // A clone, because the user's function may rename its own frame in the meantime.
  if (columns === undefined) return new PieceWriter({ ...json, frame: polars.clone(frame) }).write()
  const table = renamed(requireTable(columns, name), names)
  return frameCodec.encodeFrame(table, textOf(table))
}

function tableOf({ polars, times, name }: FrameJson, frame: DataFrame, names: readonly string[]): ColumnTable {
  return renamed(requireTable(polars.toColumns(frame, times), name), names)
}

function renamed(table: ColumnTable, names: readonly string[] | undefined): ColumnTable {
  return names === undefined ? table : renameColumns(table, names)
}

class PieceWriter {
  readonly #json: FrameJson
  readonly #names: readonly string[]
  readonly #rows: number
  readonly #rowsAtOnce: number
  readonly #turn = new Turn()
  readonly #texts: Uint8Array[] = []
  #labels: Column | undefined

  constructor(json: FrameJson) {
    this.#json = json
    this.#names = json.names ?? json.polars.names(json.frame)
    this.#rows = json.polars.height(json.frame)
    const cells = json.polars.cellsOf(json.frame)
    this.#rowsAtOnce = Math.max(8, Math.ceil((pieceCells * this.#rows) / cells / 8) * 8)
  }

  async write(): Promise<Uint8Array> {
    const names = this.#names
    const { textOf } = this.#json
    const pieces: Piece[] = []
    const text = textOf()
    await this.#pause()
    const fields: FieldType[] = []
    const isWide = names.length > groupColumns && text.layout !== 'columns'
    if (isWide) pieces.push(...(await this.#groupedPieces(text.layout === 'table' ? fields : undefined)))
    // Only layout `table` needs all pieces at once, for its schema.
    else if (text.layout !== 'columns') await this.#eachPiece(this.#json.frame, names, (piece) => pieces.push(piece))
    const whole = text.layout === 'table' ? textOf(joined(pieces), isWide ? fields : undefined) : text
    this.#labels = whole.labels
    const steps = planFrame(emptyTable(names), whole)
    if (whole.layout === 'columns') await this.#writeColumns(steps)
    else for (const step of steps) await this.#writeStep(step, pieces)
    return runInSlices(joinBytes(this.#texts))
  }

  async #writeStep(step: PlanStep, pieces: readonly Piece[]): Promise<void> {
    if (typeof step === 'string') this.#texts.push(Buffer.from(step))
    else
      for (const piece of pieces) {
        this.#writeRows(piece, step)
        await this.#pause()
      }
  }

  #writeRows({ start, table }: Piece, step: RowsStep): void {
    this.#push(table, start === 0 ? [step] : [',', step], start)
  }

  #push(table: ColumnTable, steps: readonly PlanStep[], start: number): void {
    const end = start + table.rows
    const needsLabels = steps.some((step) => typeof step !== 'string' && step.label !== 0)
    const own = this.#labels === undefined ? rangeOf(start, end) : sliceColumn(this.#labels, start, end)
    this.#texts.push(frameCodec.encodeSteps(table, steps, needsLabels ? own : undefined))
  }

  /** Writes the layout `columns`: groups of columns that fit a piece, and a long column in pieces of its rows. */
  async #writeColumns(steps: readonly PlanStep[]): Promise<void> {
    const { polars, frame } = this.#json
    const width = Math.min(groupColumns, Math.max(1, Math.floor(pieceCells / this.#rows)))
    let first = 0
    for (const group of polars.columnGroups(frame, width)) {
      const own = this.#names.slice(first, first + width)
      // Each column has two steps: text, then rows.
      const part = steps.slice(first * 2, (first + own.length) * 2).map((step) => shifted(step, -first))
      if (this.#rows <= pieceCells) this.#push(tableOf(this.#json, group, own), part, 0)
      else {
        await this.#writeStep(part[0], [])
        await this.#eachPiece(group, own, (piece) => this.#writeRows(piece, part[1] as RowsStep), pieceCells)
      }
      first += own.length
      await this.#pause()
    }
    await this.#writeStep(steps[steps.length - 1], [])
  }

  /** Returns the pieces of a frame of many columns, taken out of Polars in groups, and adds their `fields`. */
  async #groupedPieces(fields: FieldType[] | undefined): Promise<readonly Piece[]> {
    const { polars, frame } = this.#json
    const blocks: { start: number; rows: number; columns: Column[] }[] = []
    let first = 0
    for (const group of polars.columnGroups(frame, groupColumns)) {
      const own = this.#names.slice(first, first + groupColumns)
      fields?.push(...polars.fieldTypes(group))
      let at = 0
      await this.#eachPiece(
        group,
        own,
        ({ start, table: { rows, columns } }) => {
          blocks[at] ??= { start, rows, columns: [] }
          blocks[at++].columns.push(...columns)
        },
        pieceCells / groupColumns,
      )
      first += own.length
    }
    const pieces: Piece[] = []
    for (const { start, ...block } of blocks) {
      for (let row = 0; row < block.rows; row += this.#rowsAtOnce) {
        const table = sliceTable(block, row, Math.min(block.rows, row + this.#rowsAtOnce))
        pieces.push({ start: start + row, table })
        await this.#pause()
      }
    }
    return pieces
  }

  async #eachPiece(
    frame: DataFrame,
    names: readonly string[],
    each: (piece: Piece) => void,
    rowsAtOnce = this.#rowsAtOnce,
  ): Promise<void> {
    for (let start = 0; start < this.#rows; start += rowsAtOnce) {
      const rows = Math.min(rowsAtOnce, this.#rows - start)
      each({ start, table: tableOf(this.#json, this.#json.polars.slice(frame, start, rows), names) })
      await this.#pause()
    }
  }

  async #pause(): Promise<void> {
    if (this.#turn.isOver) await this.#turn.next()
  }
}

function shifted(step: PlanStep, by: number): PlanStep {
  return typeof step === 'string' ? step : { ...step, first: step.first + by }
}

function emptyTable(names: readonly string[]): ColumnTable {
  const data = new Uint8Array(0)
  return { rows: 0, columns: names.map((name) => ({ name, kind: 'float64', data })) }
}

/** Returns the kinds of all columns, and whether any piece of them holds nulls. */
function joined(pieces: readonly Piece[]): ColumnTable {
  const [{ table }] = pieces
  const columns = table.columns.map((column, i) => {
    const validity = pieces.find((piece) => piece.table.columns[i].validity !== undefined)?.table.columns[i].validity
    return { ...column, ...(validity !== undefined && { validity }) }
  })
  return { rows: table.rows, columns }
}

/** Returns the labels `start`, `start` + 1, … */
function rangeOf(start: number, end: number): Column {
  const words = new Int32Array((end - start) * 2)
  for (let row = start; row < end; row++) words[(row - start) * 2] = row
  return { name: '', kind: 'int64', data: new Uint8Array(words.buffer) }
}
