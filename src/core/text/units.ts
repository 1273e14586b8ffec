import { checkThat } from '../options.ts'

/** A number of bytes, or a text as `64kb`, `1mb` or `2gb`: 1 kb is 1024 bytes. */
export type ByteSize = number | string

/** A time: milliseconds, or a text as `500ms`, `30s`, `30m`, `24h` or `7d`. */
export type Duration = number | string

function parserOf(units: Readonly<Record<string, number>>, maxDigits: number, what: string) {
  const form = new RegExp(`^(\\d{1,${maxDigits}})(${Object.keys(units).join('|')})$`)
  return (option: string, given: unknown): number => {
    const [, digits, unit] = typeof given === 'string' ? (form.exec(given) ?? []) : []
    const value = unit === undefined ? given : Number(digits) * units[unit]
    checkThat(Number.isSafeInteger(value) && (value as number) >= 1, what, option, given)
    return value as number
  }
}

const sizes = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 }
const times = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/**
 * @returns a size of at least a byte.
 * @throws InvalidArgument.
 */
export const parseByteSize = parserOf(sizes, 6, 'bytes, or a size like 64kb or 1mb')

/**
 * **Units**: milliseconds.
 *
 * @returns a time of at least a millisecond.
 * @throws InvalidArgument.
 */
export const parseDuration = parserOf(times, 9, 'milliseconds, or a time like 30s, 30m or 24h')
