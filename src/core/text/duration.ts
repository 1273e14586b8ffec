import { checkThat } from '../options.ts'

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A time: milliseconds, or a text as `500ms`, `30s`, `30m`, `24h` or `7d`. */
export type Duration = number | string

/** Returns a time of at least a millisecond. **Units**: milliseconds. **Errors**: InvalidArgument. */
export function parseDuration(option: string, given: unknown): number {
  const [, digits, unit] = typeof given === 'string' ? (/^(\d{1,9})(ms|s|m|h|d)$/.exec(given) ?? []) : []
  const ms = unit === undefined ? given : Number(digits) * units[unit]
  checkThat(
    Number.isSafeInteger(ms) && (ms as number) >= 1,
    'milliseconds, or a time like 30s, 30m or 24h',
    option,
    given,
  )
  return ms as number
}
