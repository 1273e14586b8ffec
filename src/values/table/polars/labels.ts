/** Row labels: pandas' index, stored beside a frame and not as a column of it. @module */
import type { ColumnKind } from '../../../core/dtype.ts'
import { expected, InvalidArgument } from '../../../core/errors.ts'
import { type Column, columnOf, columnWords, valueReader } from '../columns.ts'
import { loadPolars } from './polars.ts'
import type { DataFrame, Series } from './polars-package.ts'

/** A row's label: a text or a finite number. Integers beyond ±2^53 are bigints. */
export type Label = string | number | bigint

/** Frames and series → their labels, a column of int64, float64 or str. Weak: labels are freed with their frame. */
const labelsByFrame = new WeakMap<object, Column>()

/** Sets the labels of a frame, and returns it. Undefined, or 0, 1, 2, … without a name, removes them. */
export function setLabels<F extends object>(frame: F, labels: Column | undefined): F {
  const hasName = labels !== undefined && labels.name !== '' && labels.name !== 'index'
  if (labels === undefined || (!hasName && isRange(labels))) labelsByFrame.delete(frame)
  else labelsByFrame.set(frame, labels)
  return frame
}

/** Returns the labels of a frame; undefined means 0, 1, 2, … */
export function getLabels(frame: object): Column | undefined {
  return labelsByFrame.get(frame)
}

/**
 * Converts a list to labels.
 *
 * @throws InvalidArgument unless `rows` strings, int64 integers or finite numbers.
 */
function parseLabels(list: readonly Label[], rows: number): Column {
  if (!Array.isArray(list) || list.length !== rows) {
    throw new InvalidArgument(
      expected(`a list of ${rows} labels`, 'withLabels', Array.isArray(list) ? list.length : list),
    )
  }
  if (list.every((label) => typeof label === 'string'))
    return columnOf('', rows === 0 ? 'int64' : 'str', list)
  if (list.every(isInt64)) return columnOf('', 'int64', list)
  const isNumber = (label: Label) => isInt64(label) || Number.isFinite(label)
  if (list.every(isNumber)) return columnOf('', 'float64', list.map(Number))
  const isText = typeof list[0] === 'string'
  const other = list.find((label) => (isText ? typeof label !== 'string' : !isNumber(label)))
  throw new InvalidArgument(expected('labels all strings or all numbers', 'withLabels', other))
}

/** Whether columns of a kind can be labels. */
export function isLabelKind(kind: ColumnKind): boolean {
  return kind === 'str' || kind === 'int64' || kind === 'float64'
}

function isInt64(label: Label): boolean {
  if (typeof label === 'number') return Number.isSafeInteger(label)
  return typeof label === 'bigint' && BigInt.asIntN(64, label) === label
}

function isRange(labels: Column): boolean {
  if (labels.kind !== 'int64') return false
  // By 32-bit halves, without a bigint for each label.
  const words = columnWords(labels)
  for (let at = 0, row = 0; at < words.length; at += 2, row++) {
    if (words[at] !== row || words[at + 1] !== 0) return false
  }
  return true
}

/**
 * @returns the row labels (pandas' index) that a frame or series came with, else 0, 1, 2, … Polars'
 * own operations return frames without labels: see {@link withLabels}.
 */
export function labels(frame: DataFrame | Series): Label[] {
  const own = getLabels(frame)
  const read = own === undefined ? (row: number) => row : valueReader(own)
  return Array.from({ length: rowsOf(frame, 'labels') }, (_, row) => read(row) as Label)
}

/**
 * Sets the row labels of a frame or a series and returns it.
 *
 * @throws InvalidArgument for another number of labels than rows, and unless all are strings or
 * finite numbers.
 * @example
 * `return io.withLabels(result, io.labels(frame))`
 */
export function withLabels<F extends DataFrame | Series>(frame: F, list: readonly Label[]): F {
  return setLabels(frame, parseLabels(list, rowsOf(frame, 'withLabels')))
}

function rowsOf(frame: DataFrame | Series, name: string): number {
  const polars = loadPolars(name)
  if (polars.isDataFrame(frame)) return polars.height(frame)
  if (polars.isSeries(frame)) return frame.length
  throw new InvalidArgument(expected('a DataFrame or a Series', name, frame))
}
