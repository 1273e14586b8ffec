/**
 * The contract between the frame descriptors and the codecs that implement it: `native-codec.ts` and `frame-parse.ts`.
 * @module
 */
import type { Slices } from '../../../core/memory/slices.ts'
import type { Column, ColumnTable } from '../columns.ts'
import type { FrameText, PlanStep, RowsStep } from './frame-plan.ts'

/**
 * Minimum size of a body that is parsed off the event loop, which it would block for 2 to 5 ms. **Units**: bytes.
 * **Source**: bench/micro/frame-codec.ts.
 */
export const minAsyncBytes = 2 ** 20

/**
 * What a text is read as. `frame` takes records, columns and values by what is there, as pandas does under each of
 * these names; `series` takes a list, an object of labels or a scalar.
 */
export type FrameLayout = 'frame' | 'index' | 'split' | 'table' | 'series' | 'series-split'

/** Maximum number of columns of a frame: our choice, as many as a spreadsheet has. */
export const maxFrameColumns = 16_384

/**
 * Returns the maximum number of cells of a frame sent in `bytes` bytes. A cell takes at least two bytes of text; cells
 * missing from a record take none, so that without this limit `[{1000 keys},{},{},…]` would cost thousands of bytes
 * of memory for three of text.
 */
export function maxFrameCells(bytes: number): number {
  return Math.max(2 ** 20, bytes)
}

/** Why a text is not a frame, in the order of `FrameError` in native/src/frame_scan.h. */
export const frameFailures = [
  /** not JSON (NaN, Infinity and -Infinity as bare words are allowed) */
  'syntax',
  /** a lone surrogate escape; UTF-8 itself is checked before */
  'encoding',
  /** a row whose length or form differs from the first */
  'ragged',
  /** an element whose kind differs from those above it in its column */
  'kind',
  /** an integer beyond int64, a float beyond float64 */
  'range',
  /** a list or an object in place of a scalar */
  'nested',
  /** a form that the layout does not have */
  'layout',
  /** a name or a label twice */
  'duplicate',
  /** a key of split or table too many, or missing */
  'keys',
  /** a label that is neither a string nor a finite number, or of another kind than the others */
  'labels',
  /** more columns than {@link maxFrameColumns} */
  'columns',
  /** more cells than {@link maxFrameCells} */
  'cells',
] as const

/** Why a text is not a frame. */
export type FrameFailureKind = (typeof frameFailures)[number]

/** Why a text is not a frame, and where. */
export interface FrameFailure {
  readonly failure: FrameFailureKind
  /** **Units**: bytes from the start of the text to the offending token. */
  readonly offset: number
  /** The column, if known. */
  readonly column?: string
  /** The row from 0, if known. */
  readonly row?: number
}

/** A parsed text, in newly allocated memory. */
export interface ParsedFrame {
  /** In split layout and for series the names need not be unique yet. */
  readonly table: ColumnTable
  /**
   * Row labels (int64, float64 or str), when the text has them. Object keys, which JSON can only write as strings, are
   * integers when every one is written as an integer is, so that nothing is lost: not for `"01"`, `"1.5"` and `"-0"`.
   */
  readonly labels?: Column
  /** series-split: the name of the series. */
  readonly name?: string
  /** table: where the schema lies in the text. **Units**: bytes. */
  readonly schema?: readonly [start: number, end: number]
}

/** Writes rows `start` to `end`, separated by commas. */
export type RowsEncoder = (start: number, end: number) => Uint8Array

/** Work of a slice per 512 columns that makes an encoder of rows. */
export type RowsEncoding = Slices<RowsEncoder>

/** JSON text ⇄ typed columns. Stateless: any number of threads may use it at once. */
export interface FrameCodec {
  readonly name: 'native' | 'typescript'
  /**
   * Parses JSON text, which is known to be UTF-8. `asWritten`: every element but null stays the text that it is written
   * as, in columns of JSON.
   */
  parseFrame(json: Uint8Array, layout: FrameLayout, asWritten?: boolean): ParsedFrame | FrameFailure
  /** As `parseFrame`, on another thread. The text must not change until the promise settles. */
  parseFrameAsync?(json: Uint8Array, layout: FrameLayout, asWritten?: boolean): Promise<ParsedFrame | FrameFailure>
  /** Writes columns as JSON text. */
  encodeFrame(table: ColumnTable, text: FrameText): Uint8Array
  /** Writes the steps of a plan; rows without `labels` are numbered from 0. */
  encodeSteps(table: ColumnTable, steps: readonly PlanStep[], labels?: Column): Uint8Array
  /** Returns what writes some of the rows of a step at a time; rows without `labels` are numbered from 0. */
  encodeRows(table: ColumnTable, step: RowsStep, labels?: Column): RowsEncoding
}
