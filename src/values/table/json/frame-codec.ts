/** The contract between the frame descriptors and their codecs: the add-on, and TypeScript. @module */
import type { BadInputReason } from '../../../core/errors.ts'
import type { AnyColumn, Column, ColumnTable } from '../columns.ts'
import type { FrameText } from './frame-plan.ts'

/** What a text is read as. `frame`: records, columns or values, whichever comes, as pandas does under each name. */
export type FrameLayout = (typeof frameLayouts)[number]

/** The layouts by their codes in the add-on. */
export const frameLayouts = ['frame', 'index', 'split', 'table', 'series', 'series-split'] as const

/** Maximum number of columns of a frame: our choice, as many as a spreadsheet has. */
export const maxFrameColumns = 16_384

/**
 * @returns the maximum of cells of a frame in `bytes` bytes: `[{1000 keys},{},{},…]` would fill
 * memory.
 */
export function maxFrameCells(bytes: number): number {
  return Math.max(2 ** 20, bytes)
}

/** Why a text is not a frame, by the add-on's codes from 1 on: reason, expected, received. */
export const frameFailures = {
  syntax: ['syntax', 'JSON', 'another character or the end of the body'],
  encoding: ['encoding', 'whole characters', 'half of a surrogate pair'],
  ragged: ['ragged', 'rows of equal form and length', 'a different one'],
  kind: ['dtype', 'elements of one kind', 'one of another kind than those above it'],
  range: ['dtype', 'integers of 64 bits and finite floats', 'a number beyond'],
  nested: ['dtype', 'at most 16 levels of lists and objects', 'more'],
  layout: ['columns', 'a layout of frames', 'another form'],
  duplicate: ['columns', 'names and labels that differ', 'one twice'],
  keys: ['columns', 'objects with keys', 'a key too many or too few'],
  labels: ['columns', 'labels all strings or all numbers', 'another one'],
  columns: ['size', `at most ${maxFrameColumns} columns`, 'more'],
  cells: [
    'size',
    'a frame not much larger than its body',
    'one with far more cells than it has values',
  ],
} as const satisfies Record<
  string,
  readonly [reason: BadInputReason, expected: string, received: string]
>

/** Why a text is not a frame. */
export type FrameFailureKind = keyof typeof frameFailures

/** Why a text is not a frame, and where. */
export interface FrameFailure {
  readonly failure: FrameFailureKind
  /** Where the offending token starts; without the add-on only for `syntax`. **Units**: bytes. */
  readonly offset?: number
  readonly column?: string
  readonly row?: number
}

/** Thrown within the readers of JSON. */
export class FrameFault {
  readonly why: FrameFailure

  constructor(failure: FrameFailureKind, column?: string, row?: number) {
    this.why = { failure, column, row }
  }
}

/** Why lines of CSV are not a table, by the add-on's codes from 1 on. */
export const csvFailures = ['ragged', 'quote', 'cells'] as const

/** Why a text of CSV is not a frame, and where. */
export interface CsvFailure {
  readonly failure: (typeof csvFailures)[number] | 'empty' | 'encoding' | 'columns' | 'header'
  /** **Units**: bytes. */
  readonly offset: number
  /** **Units**: lines of data from 0. */
  readonly row?: number
}

/** A parsed text, in newly allocated memory. */
export interface ParsedFrame {
  /** In split layout and for series the names need not be unique yet. */
  readonly table: ColumnTable
  /** Row labels (int64, float64 or str), if any. Object keys become integers only if that loses nothing. */
  readonly labels?: Column
  readonly name?: string
  /** table: the schema's text, and where it is if that is known. **Units**: bytes. */
  readonly schema?: { readonly text: Uint8Array; readonly offset?: number }
}

/** JSON and CSV text ⇄ typed columns. Stateless: any number of threads may use it at once. */
export interface FrameCodec {
  readonly name: 'native' | 'typescript'
  /** Parses UTF-8 JSON text. `asWritten`: every element but null stays its own text, in columns of JSON. */
  parseFrame(json: Uint8Array, layout: FrameLayout, asWritten?: boolean): ParsedFrame | FrameFailure
  /** As `parseFrame`, on another thread. The text must not change until the promise settles. */
  parseFrameAsync?(
    json: Uint8Array,
    layout: FrameLayout,
    asWritten?: boolean,
  ): Promise<ParsedFrame | FrameFailure>
  encodeFrame(table: ColumnTable<AnyColumn>, text: FrameText): Uint8Array
  /** Parses the lines below a CSV header with the columns `names`. Those that `isText` marks are always text. */
  parseCsv(
    lines: Uint8Array,
    names: readonly string[],
    isText: Uint8Array,
  ): ColumnTable | CsvFailure
  /** As `parseCsv`, on another thread. The lines must not change until the promise settles. */
  parseCsvAsync?(
    lines: Uint8Array,
    names: readonly string[],
    isText: Uint8Array,
  ): Promise<ColumnTable | CsvFailure>
  /**
   * Writes columns of numbers, booleans and text as CSV. Text is quoted if it is empty or has a comma, a quote or an
   * end of line in it; a null is an empty field.
   */
  writeCsv(table: ColumnTable): Uint8Array
}
