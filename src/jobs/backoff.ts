const firstMs = 1_000
const longestMs = 60_000

/**
 * @returns the wait after a number of failed attempts: it doubles up to a minute, and half of it is
 * random.
 */
export function backoffMs(failures: number): number {
  const ms = Math.min(longestMs, firstMs * 2 ** (failures - 1))
  return Math.round(ms * (0.5 + Math.random() / 2))
}
