/** The delay before a dead worker is started again. @module */

/** Delay before the first restart. **Units**: milliseconds. */
export const firstDelayMs = 100
/** Longest delay. **Units**: milliseconds. */
export const maxDelayMs = 10_000
/** A worker that was ready for this long was healthy. **Units**: milliseconds. */
export const healthyAfterMs = 10_000

/**
 * **Units**: milliseconds.
 *
 * @returns the delay after a number of restarts in a row.
 */
export function restartDelay(earlierRestarts: number): number {
  return Math.min(firstDelayMs * 2 ** earlierRestarts, maxDelayMs)
}
