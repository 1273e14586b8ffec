/** How far a number is from another, where floats may differ a little. @module */
import { type DType, isFloat } from '../core/dtype.ts'
import { exponentOf } from '../core/text/number-text.ts'

/**
 * What counts as equal. Floats may differ by `absolute + relative * |expected|`, or by `ulp` steps of their dtype.
 * Without one of these three, by what PyTorch's `assert_close` allows for the dtype.
 */
export interface Tolerance {
  readonly relative?: number | undefined
  readonly absolute?: number | undefined
  readonly ulp?: number | undefined
  /** Rows of frames are matched by this column, whose values differ. */
  readonly key?: string | undefined
  /** Of floats, only the place of the greatest along the last axis counts. */
  readonly top1?: boolean | undefined
}

/** Relative and absolute, as PyTorch's `assert_close` has them; bits of the fraction, and the least exponent. */
const floats = {
  float16: { relative: 1e-3, absolute: 1e-5, bits: 10, least: -14 },
  float32: { relative: 1.3e-6, absolute: 1e-5, bits: 23, least: -126 },
  float64: { relative: 1e-7, absolute: 1e-7, bits: 52, least: -1022 },
} as const

const isSingle = (value: number) => Math.fround(value) === value

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
  const [from, to] = [Number(expected), Number(actual)]
  const isGiven = (given.relative ?? given.absolute ?? given.ulp) !== undefined
  const areWhole = Number.isInteger(from) && Number.isInteger(to)
  const isExact = dtype === undefined ? areWhole && !isGiven : !isFloat(dtype)
  const gap = Math.abs(to - from)
  if (Object.is(from, to) || gap === 0) {
    // Wide integers can differ and be the same double.
    return isExact && String(expected) !== String(actual) ? Number.EPSILON : 0
  }
  if (!(gap < Number.POSITIVE_INFINITY)) return Number.POSITIVE_INFINITY
  const size = gap / (Math.abs(from) || Math.abs(to))
  if (isExact) return gap <= (given.absolute ?? 0) ? 0 : size
  const untyped = isSingle(from) && isSingle(to) ? 'float32' : 'float64'
  const float = floats[(dtype ?? untyped) as keyof typeof floats] ?? floats.float64
  const { relative = 0, absolute = 0, ulp = 0 } = isGiven ? given : (float as Tolerance)
  const step = 2 ** (Math.max(exponentOf(Math.abs(from)), float.least) - float.bits)
  const bound = Math.max(absolute + relative * Math.abs(from), ulp * step)
  return gap <= bound ? 0 : size
}
