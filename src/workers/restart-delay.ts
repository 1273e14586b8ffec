/**
 * How long to wait before a dead worker is started again.
 * @module
 */

/** Wait before the first restart. **Units**: milliseconds. */
export const firstDelayMs = 100
/** Longest wait. **Units**: milliseconds. */
export const longestDelayMs = 10_000
/** A worker that served for so long was healthy: the wait after it is the first one again. **Units**: milliseconds. */
export const healthyAfterMs = 10_000

/**
 * The number of earlier restarts in a row becomes the wait before the next one: 100 ms, doubled each time, at most 10 s.
 * **Units**: milliseconds.
 */
export function restartDelay(earlierRestarts: number): number {
  return Math.min(firstDelayMs * 2 ** earlierRestarts, longestDelayMs)
}
