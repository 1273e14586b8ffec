/** What runs are to show: `p99 < 50ms at 200/s` of `--expect`, or the highest rate. @module */
import { expected, InvalidArgument } from '../../core/errors.ts'
import type { QuantileName } from './summary.ts'

const form = /^\s*(p50|p90|p99|p99\.9|max)\s*<\s*([\d.]+)\s*(m?)s\s+at\s+([\d.]+)\s*\/s\s*$/

/** @throws InvalidArgument for another form. */
export function parseExpectation(text: string) {
  const [, quantile, bound, milli, per] = form.exec(text) ?? []
  const [boundMs, rate] = [Number(bound) * (milli ? 1 : 1000), Number(per)]
  if (boundMs > 0 && rate > 0 && rate < Infinity)
    return { text: text.trim(), quantile: quantile as QuantileName, boundMs, rate }
  throw new InvalidArgument(expected('a line as "p99 < 50ms at 200/s"', '--expect', text))
}

/** The rates may differ by that much at the end. */
const precision = 1.05

/**
 * Doubles the rate until a run is too slow, then halves the distance.
 *
 * @param isFine whether a run at a rate keeps the bound
 * @returns the highest rate that was fine; 0 if the first one is too much already.
 */
export async function findMax(
  first: number,
  isFine: (rate: number) => Promise<boolean>,
): Promise<number> {
  let [fine, tooMuch] = [0, Infinity]
  for (let rate = first; tooMuch / fine > precision; ) {
    if (await isFine(rate)) fine = rate
    else tooMuch = rate
    if (fine === 0) break
    rate = Math.min(fine * 2, (fine + tooMuch) / 2)
  }
  return fine
}
