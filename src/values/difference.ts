/** Whether two values are equal as values: floats within a tolerance, frames by row, JSON by path. @module */
import { isFloat } from '../core/dtype.ts'
import { show } from '../core/errors.ts'
import { float16ToNumber } from '../core/text/number-text.ts'
import { argmaxOf } from './array/reductions.ts'
import { numberError, type Tolerance } from './number-error.ts'
import { type Parts, partsOf } from './parts.ts'

export type { Tolerance } from './number-error.ts'

/** Where two values differ. */
export interface Difference {
  /** `[3, 1]`, `column "score", row 4`, `items[2].label`, `pixel [4, 7]`. */
  readonly at: string
  readonly expected: string
  readonly actual: string
  /** The relative error of a number. */
  readonly size?: number
}

/**
 * Compares values of functions, Runners and clients. Frames and series are those of Polars.
 *
 * @returns the greatest difference of numbers, or the first of all else; undefined for equal values.
 */
export function differenceOf(
  expected: unknown,
  actual: unknown,
  tolerance: Tolerance = {},
): Difference | undefined {
  const comparison = new Comparison(tolerance)
  comparison.compare(() => '', expected, actual)
  return comparison.worst
}

class Comparison {
  worst: Difference | undefined
  readonly #tolerance: Tolerance

  constructor(tolerance: Tolerance) {
    this.#tolerance = tolerance
  }

  /** `at`: names the place, once it is needed. */
  compare(at: () => string, expected: unknown, actual: unknown, dtype?: Parts['dtype']): void {
    if (Object.is(expected, actual)) return
    if (isNumber(expected) && isNumber(actual)) {
      const size = numberError(expected, actual, this.#tolerance, dtype)
      if (size > 0) this.#differ(at, String(expected), String(actual), size)
      return
    }
    const [from, to] = [expected, actual].map((value) => partsOf(value, this.#tolerance.key))
    const [said, meant] = [from?.what ?? textOf(expected), to?.what ?? textOf(actual)]
    if (said !== meant) this.#differ(at, around(said, meant), around(meant, said))
    else if (from !== undefined && to !== undefined) this.#items(at, from, to)
  }

  #items(at: () => string, expected: Parts, actual: Parts): void {
    const { items, dtype, width, placeOf } = expected
    const place = (index: number) => () => `${at()}${placeOf(index)}`
    const scores = this.#tolerance.top1 ? [expected, actual].map(scoresOf) : []
    const [from, to] = scores.map((each) => each && argmaxOf(each, width))
    if (from !== undefined && to !== undefined) {
      const row = from.findIndex((top, i) => top !== to[i])
      const top = () => `top 1 of ${place(row * width)()}`
      if (row !== -1) this.#differ(top, String(from[row]), String(to[row]))
      return
    }
    for (let i = 0; i < items.length; i++)
      if (items[i] !== actual.items[i])
        this.compare(place(i), elementAt(expected, i), elementAt(actual, i), dtype)
  }

  /** Keeps the greatest. A difference without a size is greater than all with one. */
  #differ(at: () => string, expected: string, actual: string, size?: number): void {
    const { worst } = this
    if (worst !== undefined && (worst.size ?? Infinity) >= (size ?? Infinity)) return
    const place = at().replace(/^(\.|, | )/, '') || 'value'
    this.worst = { at: place, expected, actual, ...(size !== undefined && { size }) }
  }
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

/** Equal for equal values without parts. Errors are what their codes say. */
function textOf(value: unknown): string {
  if (value instanceof Error) return `error ${Reflect.get(value, 'code') ?? value.name}`
  return typeof value === 'string' ? JSON.stringify(value) : show(value)
}

/** @returns a text from shortly before its first difference. */
function around(text: string, other: string): string {
  let start = 0
  while (start < text.length && text[start] === other[start]) start++
  return text.slice(Math.max(0, start - 20), start + 60)
}

function elementAt({ items, dtype }: Parts, index: number): unknown {
  return dtype === 'float16' ? float16ToNumber(items[index] as number) : items[index]
}

/** @returns the items if they can be scores: floats in rows, or a list of numbers. */
function scoresOf(parts: Parts): Float64Array | undefined {
  const { items, dtype, width } = parts
  const areNumbers =
    dtype === undefined ? Array.from(items).every(isNumber) : isFloat(dtype) && width > 1
  if (!areNumbers || items.length === 0) return undefined
  return Float64Array.from(items, (_, i) => Number(elementAt(parts, i)))
}
