/** The highest rate that keeps a bound. @module */
import type { Summary } from './summary.ts'

/** The rates may differ by that much at the end. */
const precision = 1.05

/**
 * Doubles the rate until a run is too slow, then halves the distance.
 *
 * @param run measures a rate
 * @param isFine whether a run kept the bound
 * @returns the last run that was fine; undefined if the first rate is too much already.
 */
export async function findMax(
  first: number,
  run: (rate: number) => Promise<Summary>,
  isFine: (summary: Summary) => boolean,
): Promise<Summary | undefined> {
  let fine: Summary | undefined
  let tooMuch = Number.POSITIVE_INFINITY
  for (let rate = first; tooMuch / (fine?.rate ?? 0) > precision; ) {
    const summary = await run(rate)
    if (isFine(summary)) fine = summary
    else tooMuch = rate
    if (fine === undefined) return undefined
    rate = tooMuch === Number.POSITIVE_INFINITY ? fine.rate * 2 : (fine.rate + tooMuch) / 2
  }
  return fine
}
