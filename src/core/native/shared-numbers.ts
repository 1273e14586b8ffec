/**
 * The numbers that JavaScript and the add-on exchange, each under a name. native/src/shared_numbers.h is made of these
 * tables by `npx tsx test/native/shared-numbers.ts --write`.
 * @module
 */

/** Versions of the interfaces of the two add-ons, raised by every change. */
export const contract = { numbers: 19, pictures: 6 } as const

/** Codes of columns that have no element type: texts of JSON, and lists and structs, which have columns in them. */
export const nestedCode = { json: 13, list: 14, struct: 15 } as const

/** Added to the code of a type that an array is cast to, if the type is enforced. */
export const enforcedCast = 16

/** How a call about an array ended. */
export const statusCode = {
  ok: 0,
  syntax: 1,
  ragged: 2,
  dtype: 3,
  range: 4,
  precision: 5,
  depth: 6,
  /** The text holds a string or an object: JSON.parse reads it. */
  notMine: 7,
  /** Out of memory, or the bytes changed under the parser (shared memory). */
  gaveUp: 8,
  /** Printing only: a NaN or an infinity where JSON may not have it. */
  nonFinite: 9,
} as const

/** How NaN and the infinities are printed. */
export const nonFiniteCode = { null: 0, literal: 1, error: 2 } as const

/** What a call about an array reports, and the shape that printing gets. `dims` and what follows are the dimensions. */
export const resultWord = { status: 0, offset: 1, length: 1, dtype: 2, rank: 3, dims: 4 } as const

/** What parsing a JSON text would make. */
export const measureWord = { deepAt: 0, values: 1, widest: 2, mayHoldBigNumbers: 3 } as const

/** Bounds of a frame, and the secret of its hash tables. */
export const limitWord = {
  columns: 0,
  cells: 1,
  secret0: 2,
  secret1: 3,
  secret2: 4,
  secret3: 5,
} as const

/** A parsed table. -1 stands for a missing number. */
export const tableWord = {
  failure: 0,
  rows: 1,
  columns: 2,
  hasLabels: 3,
  nameAt: 4,
  nameLength: 5,
  schemaAt: 6,
  schemaEnd: 7,
} as const

/** Why a text is no table. -1 stands for an unknown number. */
export const failureWord = { failure: 0, offset: 1, row: 2, columnAt: 3, columnLength: 4 } as const

/** A column of a parsed table. Validity and offsets are -1 where they are missing. */
export const columnWord = {
  kind: 0,
  nameAt: 1,
  nameLength: 2,
  dataAt: 3,
  dataLength: 4,
  validityAt: 5,
  offsetsAt: 6,
} as const

/** A table to write as JSON or CSV. */
export const encodeWord = { columns: 0, steps: 1, rows: 2 } as const

/** A column of it. A range is the number of a part or -1, where it starts there, and its bytes. */
export const encodeColumnWord = {
  kind: 0,
  data: 1,
  dataAt: 2,
  dataBytes: 3,
  validity: 4,
  validityAt: 5,
  validityBytes: 6,
  offsets: 7,
  offsetsAt: 8,
  offsetsBytes: 9,
  firstHeap: 10,
  heaps: 11,
  keyAt: 12,
  keyEnd: 13,
  firstChild: 14,
  children: 15,
} as const

/** What a step writes: its own text, all rows, or all rows as lines of CSV. */
export const stepKind = { text: 0, rows: 1, csv: 2 } as const

/** How the label of a row is written. */
export const labelMode = { none: 0, value: 1, text: 2 } as const

/** A step. Of rows, the text comes before each label. `labels` counts from 1; 0 numbers the rows. */
export const stepWord = {
  kind: 0,
  textAt: 1,
  textEnd: 2,
  labelMode: 3,
  labels: 4,
  afterAt: 5,
  afterEnd: 6,
  closeAt: 7,
  closeEnd: 8,
  firstColumn: 9,
  columns: 10,
  hasKeys: 11,
} as const

/** A Parquet file of flat columns, by its footer. Ranges lie in the file. JavaScript sets `maxBytes` of its pages. */
export const parquetWord = {
  rows: 0,
  columns: 1,
  groups: 2,
  unpackedBytes: 3,
  schemaAt: 4,
  schemaEnd: 5,
  arrowAt: 6,
  arrowEnd: 7,
  maxBytes: 8,
} as const

/** A column of it. Types are -1 where they are missing; `logical` is 0 for an empty union. */
export const parquetLeafWord = {
  type: 0,
  isOptional: 1,
  converted: 2,
  logical: 3,
  nameAt: 4,
  nameEnd: 5,
} as const

/** A column of it in one row group. */
export const parquetChunkWord = { codec: 0, values: 1, start: 2, end: 3 } as const

/** A column that was read, in the first buffer of the answer. Texts are in buffers of their own. */
export const readColumnWord = { dataAt: 0, dataLength: 1, validityAt: 2, offsetsAt: 3 } as const

/** Parquet to write. */
export const fileWord = { rows: 0, columns: 1, isSnappy: 2, schemaAt: 3, schemaEnd: 4 } as const

/** A column of it: parts or -1, the name in the texts, and its logical type. */
export const fileColumnWord = {
  kind: 0,
  data: 1,
  validity: 2,
  offsets: 3,
  nameAt: 4,
  nameEnd: 5,
  logical: 6,
  unit: 7,
  isUtc: 8,
} as const

/** A picture that is read or written. */
export const pictureWord = { width: 0, height: 1, channels: 2, denominator: 3, quality: 3 } as const

/** How a picture is resized, behind it. */
export const resizeWord = {
  filter: 0,
  xExtent: 1,
  yExtent: 2,
  xFull: 3,
  yFull: 4,
  xFirst: 5,
  yFirst: 6,
  xCount: 7,
  yCount: 8,
  channels: 9,
  width: 10,
  height: 11,
  left: 12,
  top: 13,
  isPlanar: 14,
  hasAlpha: 15,
} as const

/** Adds a record to numbers for the add-on. */
export function addRecord<T extends Readonly<Record<string, number>>>(
  numbers: number[],
  table: T,
  record: Readonly<Record<keyof T, number>>,
): void {
  const start = numbers.length
  for (const name in table) numbers[start + table[name]] = record[name]
}

/** @returns how many numbers a record of a table has. */
export function wordsOf(table: Readonly<Record<string, number>>): number {
  return Math.max(...Object.values(table)) + 1
}
