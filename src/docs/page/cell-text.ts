/** Elements as short texts. @module */

/** Returns the text of an element: numbers in at most six digits. */
export function cellText(value: unknown): string {
  if (typeof value === 'object') return JSON.stringify(value)
  if (typeof value !== 'number' || Number.isInteger(value)) return String(value)
  return String(Number(value.toPrecision(6)))
}
