/** Types of option values: each is a schema, which files, flags and environment variables share. @module */
import { InvalidArgument } from '../../core/errors.ts'
import { fits, type ValueSchema, wordsOf } from './check-value.ts'

/** The type of an option's value; `F` is what a configuration file may hold. */
export interface OptionType<T, F = T> {
  readonly placeholder: string
  readonly schema: ValueSchema
  /** Turns what fits the schema into the option's value, where it is written in another form. */
  readonly read?: (value: F) => T
}

/**
 * Reads text of the command line or the environment.
 *
 * @throws InvalidArgument.
 */
export function readText<T, F>({ schema, read }: OptionType<T, F>, text: string): T {
  const value = valueOf(text, [schema.type].flat())
  if (fits(value, schema)) return read === undefined ? (value as T) : read(value as F)
  throw new InvalidArgument(
    `Expected ${schema.type === 'boolean' ? 'on or off' : wordsOf(schema)}.`,
  )
}

function valueOf(text: string, types: readonly string[]): unknown {
  if (types.includes('boolean') && (text === 'on' || text === 'off')) return text === 'on'
  if (types.includes('integer') && /^\d+$/.test(text)) return Number(text)
  return types.includes('number') && /^\d+(\.\d+)?$/.test(text) ? Number(text) : text
}

/** Shows a value as the command line takes it. */
export function optionText(value: unknown): string {
  return typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value)
}

/** Whole numbers in a range. */
export function wholeNumber(minimum: number, maximum?: number): OptionType<number> {
  return {
    placeholder: '<number>',
    schema: { type: 'integer', minimum, ...(maximum !== undefined && { maximum }) },
  }
}

/** Shares of a whole, from 0 to 1. */
export const share: OptionType<number> = {
  placeholder: '<number>',
  schema: { type: 'number', minimum: 0, maximum: 1 },
}

const units: Readonly<Record<string, number>> = { '': 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 }

/** Sizes: `4096`, `512KiB`, `64MiB` or `1GiB`. **Units**: bytes. */
export const byteCount: OptionType<number, number | string> = {
  placeholder: '<size>',
  schema: {
    type: ['integer', 'string'],
    minimum: 0,
    pattern: '^\\d{1,6}(KiB|MiB|GiB)$',
    examples: ['64MiB'],
  },
  read(size) {
    const [, digits, unit] = /^(\d+)([A-Za-z]*)$/.exec(String(size)) as RegExpExecArray
    return Number(digits) * units[unit]
  },
}

/** Paths in front of APIs: `/`, `/v1` or `v1/`; the value starts with a slash and ends without one. */
export const basePath: OptionType<string> = {
  placeholder: '<path>',
  schema: {
    type: 'string',
    pattern: '^/*(([A-Za-z0-9_~][A-Za-z0-9_.~-]*)(/[A-Za-z0-9_~][A-Za-z0-9_.~-]*)*/*)?$',
    examples: ['/v1'],
  },
  read: (text) => `/${text.replace(/^\/+|\/+$/g, '')}`,
}

/** One of several words. */
export function oneOf<T extends string>(placeholder: string, words: readonly T[]): OptionType<T> {
  return { placeholder, schema: { type: 'string', enum: words } }
}

/** `on` or `off`; true or false in a file. */
export const onOrOff: OptionType<boolean> = { placeholder: '<on|off>', schema: { type: 'boolean' } }

/** Numbers of proxies: `1`, or `forwarded:1` for those that write Forwarded. */
export const proxyCount: OptionType<number | string> = {
  placeholder: '<proxies>',
  schema: {
    type: ['integer', 'string'],
    minimum: 0,
    pattern: '^forwarded:\\d{1,9}$',
    examples: ['forwarded:1'],
  },
}

/** Any text. */
export function text(placeholder: string): OptionType<string> {
  return { placeholder, schema: { type: 'string' } }
}
