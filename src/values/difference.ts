/** Whether two values are equal as values: floats within a tolerance, frames by row, JSON by path. @module */
import { isFloat } from '../core/dtype.ts'
import { show } from '../core/errors.ts'
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
  let worst: Difference | undefined
  /** Keeps the greatest: one without a size is greater than all with one. `place`: names it, once it is needed. */
  const differ = (place: () => string, from: string, to: string, size?: number) => {
    if (worst !== undefined && (worst.size ?? Infinity) >= (size ?? Infinity)) return
    const at = place().replace(/^(\.|, | )/, '') || 'value'
    worst = { at, expected: from, actual: to, ...(size !== undefined && { size }) }
  }
  const compare = (place: () => string, a: unknown, b: unknown, dtype?: Parts['dtype']): void => {
    if (Object.is(a, b)) return
    if (isNumber(a) && isNumber(b)) {
      const size = numberError(a, b, tolerance, dtype)
      if (size > 0) differ(place, String(a), String(b), size)
      return
    }
    const [from, to] = [a, b].map((value) => partsOf(value, tolerance.key))
    const [said, meant] = [from?.what ?? textOf(a), to?.what ?? textOf(b)]
    if (said !== meant) differ(place, around(said, meant), around(meant, said))
    else if (from !== undefined && to !== undefined) compareParts(place, from, to)
  }
  const compareParts = (place: () => string, from: Parts, to: Parts) => {
    const { items, dtype, width, placeOf } = from
    const [tops, others] = tolerance.top1 ? [topsOf(from), topsOf(to)] : []
    if (tops !== undefined && others !== undefined) {
      const row = tops.findIndex((top, i) => top !== others[i])
      const top = () => `top 1 of ${place()}${placeOf(row * width)}`
      if (row !== -1) differ(top, String(tops[row]), String(others[row]))
      return
    }
    for (let i = 0; i < items.length; i++)
      if (items[i] !== to.items[i])
        compare(() => `${place()}${placeOf(i)}`, items[i], to.items[i], dtype)
  }
  compare(() => '', expected, actual)
  return worst
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

/** @returns the places of the greatest of items that can be scores: floats in rows, or a list of numbers. */
function topsOf({ items, dtype, width }: Parts): Int32Array | undefined {
  const areScores =
    dtype === undefined ? Array.from(items).every(isNumber) : isFloat(dtype) && width > 1
  if (!areScores || items.length === 0) return undefined
  return argmaxOf(Float64Array.from(items, Number), width)
}
