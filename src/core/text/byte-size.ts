import { checkThat } from '../options.ts'

const units: Readonly<Record<string, number>> = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 }

/** A number of bytes, or a text as `64kb`, `1mb` or `2gb`: 1 kb is 1024 bytes. */
export type ByteSize = number | string

/** Returns a size of at least a byte. **Errors**: InvalidArgument. */
export function parseByteSize(option: string, given: unknown): number {
  const [, digits, unit] = typeof given === 'string' ? (/^(\d{1,6})([kmg]?b)$/.exec(given) ?? []) : []
  const bytes = unit === undefined ? given : Number(digits) * units[unit]
  checkThat(Number.isSafeInteger(bytes) && (bytes as number) >= 1, 'bytes, or a size like 64kb or 1mb', option, given)
  return bytes as number
}
