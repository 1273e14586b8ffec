/**
 * Types of option values: how each is written on the command line and in a file.
 * @module
 */
import { InvalidArgument } from '../../core/errors.ts'
import { type LogLevel, logLevels } from '../../engine/log-levels.ts'
import type { EngineName } from '../../engine/options.ts'
import type { ValueSchema } from './check-value.ts'

/** The type of an option's value; `F` is what a configuration file may hold. */
export interface OptionType<T, F = T> {
  /** What help shows behind the flag, such as `<number>`. */
  readonly placeholder: string
  /** Parses text of the command line or the environment. **Errors**: InvalidArgument. */
  readonly parse: (text: string) => T
  /** What a configuration file may hold; `fileText` writes it as text for `parse`. */
  readonly schema: ValueSchema
  /** Never there: it carries the type of the file's values. */
  readonly file?: F
}

/** Returns a value of a configuration file as text of the command line. */
export function fileText(value: string | number | boolean): string {
  return typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value)
}

/** Returns the type of whole numbers in a range. */
export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER): OptionType<number> {
  const range = max === Number.MAX_SAFE_INTEGER ? `from ${min} up` : `from ${min} to ${max}`
  return {
    placeholder: '<number>',
    parse(text) {
      const value = Number(text)
      if (/^\d+$/.test(text) && value >= min && value <= max) return value
      throw new InvalidArgument(`Expected a whole number ${range}.`)
    },
    schema: { type: 'integer', minimum: min, ...(max === Number.MAX_SAFE_INTEGER ? {} : { maximum: max }) },
  }
}

/** Returns the type of numbers in a range, with fractions. */
export function fraction(min: number, max: number): OptionType<number> {
  return {
    placeholder: '<number>',
    parse(text) {
      const value = Number(text)
      if (/^\d+(\.\d+)?$/.test(text) && value >= min && value <= max) return value
      throw new InvalidArgument(`Expected a number from ${min} to ${max}.`)
    },
    schema: { type: 'number', minimum: min, maximum: max },
  }
}

const units: Readonly<Record<string, number>> = { '': 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 }

/** Sizes: `4096`, `512KiB`, `64MiB` or `1GiB`. **Units**: bytes. */
export const byteCount: OptionType<number, number | string> = {
  placeholder: '<size>',
  parse(text) {
    const [, digits, unit = ''] = /^(\d+)(KiB|MiB|GiB)?$/.exec(text) ?? []
    const value = Number(digits) * units[unit]
    if (Number.isSafeInteger(value)) return value
    throw new InvalidArgument('Expected a number of bytes, or one of KiB, MiB or GiB as in 64MiB.')
  },
  schema: { type: ['integer', 'string'], minimum: 0, pattern: '^\\d+(KiB|MiB|GiB)?$' },
}

/** Paths in front of APIs: `/`, `/v1` or `v1/`, parsed into one with a slash at its start and none at its end. */
export const basePath: OptionType<string> = {
  placeholder: '<path>',
  parse(text) {
    const path = `/${text.replace(/^\/+|\/+$/g, '')}`
    if (path === '/' || /^(\/[A-Za-z0-9_~][A-Za-z0-9_.~-]*)+$/.test(path)) return path
    throw new InvalidArgument('Expected a path of letters, digits, _ . ~ and -, as in /v1.')
  },
  schema: { type: 'string' },
}

/** Returns the type of one of several words. */
export function oneOf<T extends string>(placeholder: string, words: readonly T[]): OptionType<T> {
  const list = [words.slice(0, -1).join(', '), words.at(-1)].filter(Boolean).join(' or ')
  return {
    placeholder,
    parse(text) {
      const word = words.find((each) => each === text)
      if (word === undefined) throw new InvalidArgument(`Expected ${list}.`)
      return word
    },
    schema: { type: 'string', enum: words },
  }
}

/** Names of the engines. */
export const engineName = oneOf<EngineName>('<name>', ['uws', 'node'])

/** Levels of the log. */
export const logLevel = oneOf<LogLevel>('<level>', logLevels)

/** `on` or `off`; true or false in a file. */
export const onOrOff: OptionType<boolean> = {
  placeholder: '<on|off>',
  parse(text) {
    if (text === 'on' || text === 'off') return text === 'on'
    throw new InvalidArgument('Expected on or off.')
  },
  schema: { type: 'boolean' },
}

/** Numbers of proxies: `1`, or `forwarded:1` for those that write Forwarded. */
export const proxyCount: OptionType<number | string> = {
  placeholder: '<proxies>',
  parse(text) {
    if (/^\d{1,9}$/.test(text)) return Number(text)
    if (/^forwarded:\d{1,9}$/.test(text)) return text
    throw new InvalidArgument('Expected a number of proxies, or one as in forwarded:1.')
  },
  schema: { type: ['integer', 'string'], minimum: 0, pattern: '^(forwarded:)?\\d+$' },
}

/** Returns the type of texts that are not looked at here. */
export function text(placeholder: string): OptionType<string> {
  return { placeholder, parse: String, schema: { type: 'string' } }
}
