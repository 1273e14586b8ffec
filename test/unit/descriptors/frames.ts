import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { io } from 'serving'
import type { ColumnKind } from '../../../src/core/dtype.ts'
import {
  bytesAt,
  type Column,
  type ColumnTable,
  columnOf,
  isValid,
  numberReader,
} from '../../../src/values/table/columns.ts'
import { loadPolars } from '../../../src/values/table/polars/polars.ts'
import type { DataFrame, Series } from '../../../src/values/table/polars/polars-package.ts'

export const polars = loadPolars('the tests')

type Value = number | bigint | boolean | string | null

/** A column as plain values: 64-bit integers as bigints. */
export interface PlainColumn {
  readonly name: string
  readonly kind: string
  readonly values: readonly Value[]
}

/** A frame as plain values. */
export interface PlainFrame {
  readonly columns: readonly PlainColumn[]
  readonly labels: readonly unknown[]
}

function valuesOf(column: Column, rows: number): Value[] {
  const { kind, data } = column
  const read = kind === 'str' || kind === 'bool' ? undefined : numberReader(column)
  return Array.from({ length: rows }, (_, row) => {
    if (!isValid(column, row)) return null
    if (kind === 'str') return Buffer.from(bytesAt(column, row)).toString()
    return read === undefined ? (data[row >> 3] & (1 << (row & 7))) !== 0 : read(row)
  })
}

/** Returns a frame as plain values. */
export function plain(frame: DataFrame): PlainFrame {
  const table = polars.toColumns(frame)
  if ('failure' in table) throw new Error(`column ${table.column} has no plain values`)
  return { columns: plainColumns(table), labels: io.labels(frame) }
}

/** Returns columns of numbers, booleans and text as plain values. */
export function plainColumns({ rows, columns }: ColumnTable): PlainColumn[] {
  return columns.map((column) => ({
    name: column.name,
    kind: column.kind,
    values: valuesOf(column, rows),
  }))
}

/** Returns a series as plain values. */
export function plainSeries(series: Series): PlainColumn & { readonly labels: readonly unknown[] } {
  const [column] = plain(polars.frameOf(series)).columns
  return { ...column, labels: io.labels(series) }
}

/** Columns as name, kind and values become a frame. */
export function frameOf(
  columns: readonly (readonly [string, ColumnKind, readonly Value[]])[],
): DataFrame {
  const rows = columns[0]?.[2].length ?? 0
  return polars.fromColumns({
    rows,
    columns: columns.map(([name, kind, values]) => columnOf(name, kind, values)),
  })
}

/** Whether two frames have the same columns, kinds, values and labels. */
export function sameFrame(a: DataFrame, b: DataFrame): boolean {
  return isDeepStrictEqual(plain(a), plain(b))
}

/** Whether two series have the same name, kind, values and labels. */
export function sameSeries(a: Series, b: Series): boolean {
  return isDeepStrictEqual(plainSeries(a), plainSeries(b))
}

/** Returns a file that test/fixtures/frames/make.py wrote. */
export function fixture(name: string): Buffer {
  return readFileSync(new URL(`../../fixtures/frames/${name}`, import.meta.url))
}

/** A column of a fixture. Integers are `{int: text}`, since JSON.parse would round them. */
export interface FixtureColumn {
  readonly name: string
  readonly kind: ColumnKind
  readonly values: readonly (null | boolean | number | string | { readonly int: string })[]
}

/** Values of a fixture as the frames have them. */
export function fixtureValues({ kind, values }: FixtureColumn): Value[] {
  return values.map((value) => {
    if (typeof value !== 'object' || value === null) return value
    return kind === 'int64' || kind === 'uint64' ? BigInt(value.int) : Number(value.int)
  })
}
