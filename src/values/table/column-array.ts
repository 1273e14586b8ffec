/** Columns of frames ⇄ arrays: embeddings are lists of numbers, all of one length. @module */

import type { DataOf, NumericDType } from '../../core/dtype.ts'
import { expected, ValueError } from '../../core/errors.ts'
import { NDArray } from '../array/ndarray.ts'
import { unpackBits } from './bits.ts'
import {
  type AnyColumn,
  type Column,
  columnNumbers,
  evenOffsets,
  type ListColumn,
} from './columns.ts'
import { columnFrom } from './message.ts'
import { loadPolars } from './polars/polars.ts'
import type { DataFrame, Series } from './polars/polars-package.ts'

/**
 * @returns a column of numbers as an array: `[rows]`, or `[rows, n]` for lists of `n` numbers.
 * @throws ValueError for nulls, lists of different lengths, and elements that are no numbers.
 * @example
 * `io.columnToNDArray(frame, 'embedding')`
 */
export function columnToNDArray(source: DataFrame | Series, name?: string): NDArray<NumericDType> {
  const polars = loadPolars('columnToNDArray')
  const frame = polars.isSeries(source) ? polars.frameOf(source) : source
  const names = polars.names(frame)
  const index = name === undefined ? 0 : names.indexOf(name)
  if (index === -1 || index >= names.length) {
    throw new ValueError(
      expected(`one of the columns ${names.join(', ')}`, 'columnToNDArray', name),
    )
  }
  const table = polars.toVectors(polars.pick(frame, [index]))
  const called = `column ${JSON.stringify(names[index])}`
  if ('failure' in table)
    throw new ValueError(`expected numbers in ${called}, received another type`)
  const shape = [table.rows]
  let column: AnyColumn = table.columns[0]
  for (let rows = table.rows; 'items' in column; column = column.items) {
    const length = lengthOf(column, rows, called)
    shape.push(length)
    rows *= length
  }
  if (!('kind' in column) || column.kind === 'str' || column.time !== undefined) {
    throw new ValueError(`expected numbers in ${called}, received another type`)
  }
  requireWhole(column, called)
  const size = shape.reduce((product, length) => product * length, 1)
  return new NDArray(elementsOf(column, size), shape, column.kind as NumericDType)
}

function lengthOf(column: ListColumn, rows: number, called: string): number {
  requireWhole(column, called)
  const { offsets } = column
  const length = rows === 0 ? 0 : offsets[1] - offsets[0]
  for (let row = 1; row < rows; row++) {
    if (offsets[row + 1] - offsets[row] === length) continue
    const received = `one of ${offsets[row + 1] - offsets[row]} in row ${row}`
    throw new ValueError(`expected lists of ${length} elements in ${called}, received ${received}`)
  }
  return length
}

function requireWhole({ validity }: AnyColumn, called: string): void {
  if (validity !== undefined) throw new ValueError(`expected no nulls in ${called}, received one`)
}

function elementsOf(column: Column, size: number): DataOf<NumericDType> {
  if (column.kind === 'bool') return unpackBits(column.data, size)
  return columnNumbers(column, size) as DataOf<NumericDType>
}

/**
 * @returns an array as a series: of numbers for one dimension, of lists for more.
 * @throws ValueError for a scalar, str and float16.
 * @example
 * `frame.withColumn(io.columnFromNDArray('embedding', array))`
 */
export function columnFromNDArray(name: string, array: NDArray): Series {
  const { dtype, shape, data } = array
  if (dtype === 'str' || dtype === 'float16' || shape.length === 0) {
    throw new ValueError(
      expected('an array of numbers or booleans with dimensions', 'columnFromNDArray', array),
    )
  }
  let column: AnyColumn = columnFrom('item', dtype, data)
  for (let axis = shape.length - 1; axis > 0; axis--) {
    const rows = shape.slice(0, axis).reduce((product, length) => product * length, 1)
    column = { name: 'item', offsets: evenOffsets(rows, shape[axis]), items: column }
  }
  const polars = loadPolars('columnFromNDArray')
  return polars.seriesOf(polars.fromColumns({ rows: shape[0], columns: [{ ...column, name }] }))
}
