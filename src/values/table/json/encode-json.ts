/**
 * Writes frames as JSON text; large ones in pieces, with turns of the event loop between them.
 * @module
 */
import { joinBytes, runInSlices, Turn } from '../../../core/memory/slices.ts'
import type { MaybePromise } from '../../../core/promise.ts'
import { type Column, type ColumnTable, renameColumns, sliceColumn } from '../columns.ts'
import { requireTable } from '../message.ts'
import { type FrameView, isInPieces, maxGroupColumns, rowsOf } from '../polars/frame-view.ts'
import type { Polars } from '../polars/polars.ts'
import type { DataFrame } from '../polars/polars-package.ts'
import type { TimeForm } from '../times.ts'
import { columnSteps, type FrameText, planFrame, type RowsStep } from './frame-plan.ts'
import { frameCodec } from './native-codec.ts'
import type { FieldType } from './table-schema.ts'

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

/** Number of elements taken out of Polars in one piece, which takes 1 to 3 ms. */
const pieceCells = 2 ** 16

/** Number of elements printed at a time, which takes 1 to 3 ms. */
const writtenCells = 2 ** 15

/** Rows of a frame from `start` on. */
interface Block extends ColumnTable {
  readonly start: number
}

/**
 * Writes a frame as JSON. Returns a promise if there is more than one piece. **Errors**: BadOutput naming a column that
 * cannot be written.
 */
export function encodeFrameJson(json: FrameJson): MaybePromise<Uint8Array> {
  const { polars, frame, names, textOf } = json
  const view = polars.view(frame)
  // A snapshot, because the user's function may rename its own frame in the meantime.
  if (isInPieces(view, pieceCells)) return new PieceWriter(json, view.snapshot()).write()
  const table = tableOf(json, frame, names)
  return frameCodec.encodeFrame(table, textOf(table))
}

function tableOf(
  { polars, times, name }: FrameJson,
  frame: DataFrame,
  names: readonly string[] | undefined,
): ColumnTable {
  return renamed(requireTable(polars.toColumns(frame, times), name), names)
}

function renamed(table: ColumnTable, names: readonly string[] | undefined): ColumnTable {
  return names === undefined ? table : renameColumns(table, names)
}

class PieceWriter {
  readonly #json: FrameJson
  readonly #view: FrameView
  readonly #names: readonly string[]
  readonly #rows: number
  readonly #turn = new Turn()
  readonly #texts: Uint8Array[] = []

  constructor(json: FrameJson, view: FrameView) {
    this.#json = json
    this.#view = view
    this.#names = json.names ?? view.names
    this.#rows = view.rows
  }

  async write(): Promise<Uint8Array> {
    await this.#pause()
    const { textOf } = this.#json
    const text = textOf()
    if (text.layout === 'columns') await this.#writeColumns(text.labels)
    else {
      const fields: FieldType[] = []
      const isTable = text.layout === 'table'
      const blocks = await this.#blocks(isTable ? fields : undefined)
      await this.#pause()
      const whole = isTable ? textOf(kindsOf(blocks), fields) : text
      for (const step of planFrame(emptyTable(this.#names), whole)) {
        if (typeof step === 'string') this.#text(step)
        else for (const block of blocks) await this.#writeRows(block, step, whole.labels)
      }
    }
    return runInSlices(joinBytes(this.#texts))
  }

  /** Takes the rows out of Polars, and adds their `fields`. The schema of layout `table` needs all of them first. */
  async #blocks(fields: FieldType[] | undefined): Promise<readonly Block[]> {
    const { polars } = this.#json
    const blocks: { start: number; rows: number; columns: Column[] }[] = []
    const rowsAtOnce = rowsOf(this.#view, pieceCells, maxGroupColumns)
    let first = 0
    for (const group of this.#view.groups(maxGroupColumns)) {
      const names = this.#names.slice(first, first + maxGroupColumns)
      fields?.push(...polars.fieldTypes(group))
      for await (const { start, rows, columns } of this.#pieces(group, names, rowsAtOnce)) {
        if (first === 0) blocks.push({ start, rows, columns: [...columns] })
        else blocks[start / rowsAtOnce].columns.push(...columns)
      }
      first += names.length
    }
    return blocks
  }

  async *#pieces(group: DataFrame, names: readonly string[], rowsAtOnce: number): AsyncGenerator<Block> {
    for (let start = 0; start < this.#rows; start += rowsAtOnce) {
      const rows = Math.min(rowsAtOnce, this.#rows - start)
      const { columns } = tableOf(this.#json, this.#json.polars.slice(group, start, rows), names)
      yield { start, rows, columns }
      await this.#pause()
    }
  }

  async #writeRows({ start, rows, columns }: Block, step: RowsStep, labels: Column | undefined): Promise<void> {
    const table = { rows, columns: step.count === 0 ? [] : columns }
    const own = step.label === 0 ? undefined : labelsOf(labels, start, start + rows)
    const encode = await runInSlices(frameCodec.encodeRows(table, step, own))
    const rowsAtOnce = rowsOf(this.#view, writtenCells, Math.max(1, step.count))
    for (let row = 0; row < rows; row += rowsAtOnce) {
      if (start + row > 0) this.#text(',')
      this.#texts.push(encode(row, Math.min(rows, row + rowsAtOnce)))
      await this.#pause()
    }
  }

  /** Writes the layout `columns`: groups of columns that fit a piece, and a long column in pieces of its rows. */
  async #writeColumns(labels: Column | undefined): Promise<void> {
    const width = Math.min(maxGroupColumns, Math.max(1, Math.floor(this.#names.length / this.#pieceCount)))
    const rowsAtOnce = rowsOf(this.#view, pieceCells, width)
    let first = 0
    for (const group of this.#view.groups(width)) {
      const names = this.#names.slice(first, first + width)
      const steps = columnSteps(names)
      this.#text(first === 0 ? '{' : ',')
      if (this.#rows <= rowsAtOnce) {
        const table = tableOf(this.#json, group, names)
        this.#texts.push(frameCodec.encodeSteps(table, steps, labels))
      } else {
        const [before, step, after] = steps as [string, RowsStep, string]
        this.#text(before)
        for await (const block of this.#pieces(group, names, rowsAtOnce)) await this.#writeRows(block, step, labels)
        this.#text(after)
      }
      first += width
      await this.#pause()
    }
    this.#text('}')
  }

  /** How many pieces the frame's cells make. */
  get #pieceCount(): number {
    return this.#view.cells / pieceCells
  }

  #text(text: string): void {
    this.#texts.push(Buffer.from(text))
  }

  async #pause(): Promise<void> {
    if (this.#turn.isOver) await this.#turn.next()
  }
}

function emptyTable(names: readonly string[]): ColumnTable {
  const data = new Uint8Array(0)
  return { rows: 0, columns: names.map((name) => ({ name, kind: 'float64', data })) }
}

/** Returns the kinds of all columns, and whether any block of them holds nulls. */
function kindsOf(blocks: readonly Block[]): ColumnTable {
  const [{ rows, columns }] = blocks
  const whole = columns.map((column, i) => {
    const validity = blocks.find((block) => block.columns[i].validity !== undefined)?.columns[i].validity
    return validity === undefined ? column : { ...column, validity }
  })
  return { rows, columns: whole }
}

/** Returns the labels of rows `start` to `end`; undefined where they are the rows' numbers. */
function labelsOf(labels: Column | undefined, start: number, end: number): Column | undefined {
  if (labels !== undefined) return sliceColumn(labels, start, end)
  if (start === 0) return undefined
  const words = new Int32Array((end - start) * 2)
  for (let row = start; row < end; row++) words[(row - start) * 2] = row
  return { name: '', kind: 'int64', data: new Uint8Array(words.buffer) }
}
