/** Whether two values are equal as values: floats within a tolerance, frames by row, JSON by path. @module */
import { inspect } from 'node:util'
import { type DType, isFloat } from '../core/dtype.ts'
import { exponentOf } from '../core/text/number-text.ts'
import { argmaxOf } from './array/reductions.ts'
import { type Parts, partsOf } from './parts.ts'

/**
 * What counts as equal. Floats may differ by `absolute + relative * |expected|`, or by `ulp` steps of their dtype.
 * Without one of these three, by what PyTorch's `assert_close` allows for the dtype.
 */
export interface Tolerance {
  readonly relative?: number
  readonly absolute?: number
  readonly ulp?: number
  /** Rows of frames are matched by this column, whose values differ. */
  readonly key?: string
  /** Of floats, only the place of the greatest along the last axis counts. */
  readonly top1?: boolean
}

/** Where two values differ. */
export interface Difference {
  /** `[3, 1]`, `score[4]` of a column, `items[2].label`, `pixels[4, 7, 0]`. */
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
  const compare = (a: unknown, b: unknown, at: () => string, dtype?: DType): void => {
    const known = worst === undefined ? 0 : (worst.size ?? Infinity)
    if (Object.is(a, b) || known === Infinity) return
    if (isNumber(a) && isNumber(b)) {
      const size = numberError(a, b, tolerance, dtype)
      if (size > known) worst = { at: at(), expected: String(a), actual: String(b), size }
      return
    }
    const [from, to] = [a, b].map((value) => comparedParts(value, tolerance))
    const { what, items, placeOf } = from
    if (what !== to.what)
      worst = { at: at(), expected: around(what, to.what), actual: around(to.what, what) }
    else
      for (let i = 0; i < items.length; i++)
        compare(items[i], to.items[i], () => at() + placeOf(i), from.dtype)
  }
  compare(expected, actual, () => '')
  return worst && { ...worst, at: worst.at.replace(/^\./, '') || 'value' }
}

/** Orders differences. Without a number, one is the worst; a size of 0 is no difference. */
export function worstFirst(a: Pick<Difference, 'size'>, b: Pick<Difference, 'size'>): number {
  return (b.size ?? Infinity) - (a.size ?? Infinity) || 0
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

const leaf = (what: string): Parts => ({ what, items: [], placeOf: String })

function comparedParts(value: unknown, { key, top1 }: Tolerance): Parts {
  const parts = partsOf(value, key) ?? leaf(textOf(value))
  const { items, dtype, width = items.length, placeOf } = parts
  if (!top1 || items.length === 0) return parts
  // Scores are floats in rows, or a list of numbers.
  const areScores =
    dtype === undefined ? Array.from(items).every(isNumber) : isFloat(dtype) && width > 1
  if (!areScores) return parts
  const tops = Array.from(argmaxOf(Float64Array.from(items, Number), width), String)
  return {
    ...leaf(parts.what),
    items: tops.map(leaf),
    placeOf: (i) => `${placeOf(i * width)}, top 1`,
  }
}

/** Equal for equal values without parts. Errors are what their codes say. */
function textOf(value: unknown): string {
  if (value instanceof Error) return `error ${Reflect.get(value, 'code') ?? value.name}`
  return typeof value === 'string' ? JSON.stringify(value) : inspect(value)
}

/** @returns a text from shortly before its first difference. */
function around(text: string, other: string): string {
  let start = 0
  while (text[start] === other[start]) start++
  return text.slice(Math.max(0, start - 20), start + 60)
}

/** Relative and absolute, as PyTorch's `assert_close` has them; bits of the fraction, and the least exponent. */
const floats = {
  float16: { relative: 1e-3, absolute: 1e-5, bits: 10, least: -14 },
  float32: { relative: 1.3e-6, absolute: 1e-5, bits: 23, least: -126 },
  float64: { relative: 1e-7, absolute: 1e-7, bits: 52, least: -1022 },
} as const

/**
 * Compares two numbers, as numpy's `isclose`. NaN equals NaN. Of integers only `absolute` counts.
 *
 * @param dtype - Undefined for numbers of JSON: floats that float32 holds count as float32.
 * @returns the relative error, 1 where 0 is expected; 0 within the tolerance.
 */
export function numberError(
  expected: number | bigint,
  actual: number | bigint,
  given: Tolerance,
  dtype?: DType,
): number {
  const both = [expected, actual].map(Number)
  const [from, to] = both
  const isGiven = (given.relative ?? given.absolute ?? given.ulp) !== undefined
  const areWhole = both.every(Number.isInteger)
  const isExact = dtype === undefined ? areWhole && !isGiven : !isFloat(dtype)
  // Wide integers can differ and be the same double.
  if (from === to || Object.is(from, to))
    return isExact && String(expected) !== String(actual) ? Number.EPSILON : 0
  const gap = Math.abs(to - from)
  if (!(gap < Infinity)) return Infinity
  const errorAbove = (bound: number) => (gap <= bound ? 0 : gap / Math.abs(from || to))
  if (isExact) return errorAbove(given.absolute ?? 0)
  const untyped = both.every(isSingle) ? 'float32' : 'float64'
  const { bits, least, ...usual } = floats[(dtype ?? untyped) as keyof typeof floats]
  const { relative = 0, absolute = 0, ulp = 0 }: Tolerance = isGiven ? given : usual
  const step = 2 ** (Math.max(exponentOf(Math.abs(from)), least) - bits)
  return errorAbove(Math.max(absolute + relative * Math.abs(from), ulp * step))
}

const isSingle = (value: number) => Math.fround(value) === value
