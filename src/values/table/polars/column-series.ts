/** A column read as nodejs-polars reads the elements of a series, without a series. @module */
import { dataConstructor } from '../../../core/dtype.ts'
import { bytesAt, type Column, columnNumbers, isValid } from '../columns.ts'
import type { NativeSeries } from './lazy-series.ts'

/** Whether elements of a column can be read without Polars: numbers, booleans and text. */
export function isPlain(column: object): column is Column {
  return 'kind' in column && !('time' in column) && !('isBinary' in column)
}

/** Returns a function that reads the element at a row as nodejs-polars does: int64 as numbers, uint64 as bigints. */
export function elementReader(column: Column, rows: number): (row: number) => unknown {
  const { kind, data, validity } = column
  const read = valueReader(column, kind === 'bool' || kind === 'str' ? [] : columnNumbers(column, rows), data)
  return validity === undefined ? read : (row) => (isValid(column, row) ? read(row) : null)
}

function valueReader(column: Column, numbers: ArrayLike<number | bigint>, data: Uint8Array): (row: number) => unknown {
  switch (column.kind) {
    case 'bool':
      return (row) => (data[row >> 3] & (1 << (row & 7))) !== 0
    case 'str':
      return (row) => Buffer.from(bytesAt(column, row)).toString()
    case 'int64':
      return (row) => Number(numbers[row])
    default:
      return (row) => numbers[row]
  }
}

/** The elements of one column. `whole` makes Polars' own series, for what this does not compute. */
export class ColumnSeries implements NativeSeries {
  readonly #column: Column
  readonly #rows: number
  readonly #whole: () => NativeSeries

  constructor(column: Column, rows: number, whole: () => NativeSeries) {
    this.#column = column
    this.#rows = rows
    this.#whole = whole
  }

  get name(): string {
    return this.#column.name
  }

  len(): number {
    return this.#rows
  }

  getIdx(index: number): unknown {
    return elementReader(this.#column, this.#rows)(index)
  }

  nullCount(): number {
    let count = 0
    if (this.#column.validity !== undefined)
      for (let row = 0; row < this.#rows; row++) if (!isValid(this.#column, row)) count++
    return count
  }

  hasNulls(): boolean {
    return this.nullCount() > 0
  }

  toArray(): unknown[] {
    const read = elementReader(this.#column, this.#rows)
    return Array.from({ length: this.#rows }, (_, row) => read(row))
  }

  toTypedArray(): ArrayBufferView {
    const { kind } = this.#column
    if (kind === 'bool' || kind === 'str') return this.#whole().toTypedArray()
    const numbers = columnNumbers(this.#column, this.#rows) as Float64Array
    return new (dataConstructor(kind) as unknown as Float64ArrayConstructor)(numbers)
  }

  sum(): unknown {
    const numbers = this.#present()
    if (numbers === undefined) return this.#whole().sum()
    const { kind } = this.#column
    if (kind === 'int64' || kind === 'uint64') {
      let sum = 0n
      for (const value of numbers) sum += value as bigint
      return Number(kind === 'int64' ? BigInt.asIntN(64, sum) : BigInt.asUintN(64, sum))
    }
    let sum = 0
    for (const value of numbers) sum += value as number
    if (kind === 'int32') return Number(BigInt.asIntN(32, BigInt(sum)))
    if (kind === 'uint32') return Number(BigInt.asUintN(32, BigInt(sum)))
    return kind === 'float32' ? Math.fround(sum) : sum
  }

  min(): unknown {
    return this.#extreme((value, found) => value < found) ?? this.#whole().min()
  }

  max(): unknown {
    return this.#extreme((value, found) => value > found) ?? this.#whole().max()
  }

  mean(): unknown {
    const numbers = this.#present()
    if (numbers === undefined || numbers.length === 0) return this.#whole().mean()
    let sum = 0
    for (const value of numbers) sum += Number(value)
    return sum / numbers.length
  }

  #extreme(isBetter: (value: number | bigint, found: number | bigint) => boolean): number | undefined {
    const numbers = this.#present()
    if (numbers === undefined) return undefined
    let found: number | bigint | undefined
    for (const value of numbers) {
      if (!Number.isNaN(value) && (found === undefined || isBetter(value, found))) found = value
    }
    return found === undefined ? undefined : Number(found)
  }

  #present(): (ArrayLike<number | bigint> & Iterable<number | bigint>) | undefined {
    const { kind } = this.#column
    if (kind === 'bool' || kind === 'str') return undefined
    const numbers = columnNumbers(this.#column, this.#rows) as Float64Array
    return this.hasNulls() ? numbers.filter((_, row) => isValid(this.#column, row)) : numbers
  }
}
