/** Options, each declared once: type, check, default. An object of options is a table of them. @module */
import { checkOptions, checkThat } from './options.ts'
import { parseByteSize, parseDuration } from './text/units.ts'
import { fits, type ValueSchema, wordsOf } from './value-schema.ts'

/** What the command says about an option: those with it have a flag. */
export interface CommandWords {
  readonly help: string
  readonly group?: string
  /** What holds without a value, in words, where that is not the default. */
  readonly unset?: string
  /** The default as help shows it, where that is not the value itself. */
  readonly shown?: string
  /**
   * The flag without its dashes.
   *
   * @default the option's name in kebab-case
   */
  readonly flag?: string
}

interface Parts<V> {
  /** @throws InvalidArgument that names `place`. */
  readonly read: (place: string, value: unknown) => V
  /** For values that text and JSON can hold. */
  readonly schema?: ValueSchema
  /** Stands for the value in help. */
  readonly placeholder?: string
  readonly isRequired?: boolean
  readonly preset?: V
  readonly command?: CommandWords
}

/** An option of type `G` that is read as a `V`; without a value it is an `A`. */
export class Option<G, V = G, A = undefined> {
  declare readonly given: G
  declare readonly absent: A
  /** @internal */
  readonly parts: Parts<V>

  /** @internal */
  constructor(parts: Parts<V>) {
    this.parts = parts
  }

  /** @returns the option with a default. */
  or(preset: G): Option<G, V, V> {
    return new Option({ ...this.parts, preset: this.parts.read('the default', preset) })
  }

  /** @returns the option, which nobody may leave out. */
  required(): Option<G, V, never> {
    return new Option({ ...this.parts, isRequired: true })
  }

  /**
   * @returns the option with a flag of the command.
   * @internal
   */
  flag(help: string, words: Omit<CommandWords, 'help'> = {}): Option<G, V, A> {
    return new Option({ ...this.parts, command: { help, ...words } })
  }
}

/** The options of an object by name. */
export type OptionTable = Readonly<Record<string, Option<unknown, unknown, unknown>>>

type RequiredNames<T> = {
  [K in keyof T]: T[K] extends Option<infer _G, infer _V, infer A>
    ? [A] extends [never]
      ? K
      : never
    : never
}[keyof T]
type GivenOf<O> = O extends { readonly given: infer G } ? G : never

/** An object of the options of a table, as code gives it. */
export type OptionsOf<T> = {
  readonly [K in keyof T as K extends RequiredNames<T> ? never : K]?: GivenOf<T[K]>
} & { readonly [K in keyof T as K extends RequiredNames<T> ? K : never]: GivenOf<T[K]> }

/** The options of a table, checked and read, with their defaults. */
export type SettingsOf<T> = {
  readonly [K in keyof T]: T[K] extends Option<infer _G, infer V, infer A> ? V | A : never
}

/**
 * Reads an object of options by its table; null means undefined.
 *
 * @param place - Names the object in errors.
 * @param placeOf - Names an option in errors.
 * @returns the options with their defaults; without those that have neither value nor default.
 * @throws InvalidArgument for an unknown option or a wrong value.
 */
export function readOptions<T extends OptionTable>(
  place: string,
  options: object,
  table: T,
  placeOf = (name: string) => `${name} of ${place}`,
): SettingsOf<T> {
  const given = checkOptions(place, options as Record<string, unknown>, Object.keys(table))
  const values: [string, unknown][] = []
  for (const [name, { parts }] of Object.entries(table)) {
    const value = given[name]
    if (value !== undefined || parts.isRequired) {
      values.push([name, parts.read(placeOf(name), value)])
    } else if (parts.preset !== undefined) values.push([name, parts.preset])
  }
  return Object.fromEntries(values) as SettingsOf<T>
}

/**
 * @param what - What the schema expects, in other words than its own.
 * @returns an option of plain data.
 */
export function plain<G, V = G>(
  schema: ValueSchema,
  placeholder = '<value>',
  what = wordsOf(schema),
  convert = (value: G) => value as unknown as V,
): Option<G, V> {
  const read = (place: string, value: unknown) => {
    checkThat(fits(value, schema), what, place, value)
    return convert(value as G)
  }
  return new Option({ read, schema, placeholder })
}

/** @returns an option that is a whole number in a range. */
export function whole(minimum: number, maximum?: number): Option<number> {
  const range = maximum !== undefined && { maximum }
  return plain({ type: 'integer', minimum, ...range }, '<number>')
}

/** A share of a whole, from 0 to 1. */
export const share = plain<number>({ type: 'number', minimum: 0, maximum: 1 }, '<number>')

/** `on` or `off` as text; else true or false. */
export const onOrOff = plain<boolean>({ type: 'boolean' }, '<on|off>')

/** @returns an option that is a text which is not empty. */
export function text(placeholder: string, what = 'a text'): Option<string> {
  return plain({ type: 'string', pattern: '.' }, placeholder, what)
}

/** @returns an option that is one of several words. */
export function oneOf<const T extends string>(
  words: readonly T[],
  placeholder = '<word>',
): Option<T> {
  return plain({ type: 'string', enum: words }, placeholder, `one of ${words.join(', ')}`)
}

/**
 * A `Duration`; read as milliseconds. By its name, declarations of tables would import it from the whole package.
 */
export const duration = new Option<number | string, number>({ read: parseDuration })

/** A `ByteSize`; read as bytes. Not by its name, as `duration`. */
export const byteSize = new Option<number | string, number>({ read: parseByteSize })

/** @returns an option that code alone can give. */
export function fromCode<T>(what: string, isValid: (value: unknown) => boolean): Option<T> {
  const read = (place: string, value: unknown) => {
    checkThat(isValid(value), what, place, value)
    return value as T
  }
  return new Option({ read })
}

/** @returns an option that is a list; `what` says of which values. */
export function listOf<T>(what: string, isItem: (value: unknown) => boolean): Option<readonly T[]> {
  return fromCode(what, (value) => Array.isArray(value) && value.every(isItem))
}

/** @returns an option that is a function. */
export function fn<F>(): Option<F> {
  return fromCode('a function', (value) => typeof value === 'function')
}

/** @returns an option that `read` checks and reads. */
export function readBy<G, V>(read: (place: string, given: G) => V): Option<G, V> {
  return new Option({ read: (place, value) => read(place, value as G) })
}

/** @returns an option that is an object of a table's options. */
export function tableOf<T extends OptionTable>(table: T): Option<OptionsOf<T>, SettingsOf<T>> {
  return readBy((place, given: OptionsOf<T>) => readOptions(place, given, table))
}

/** @returns an option that is checked where it is used. */
export function checkedLater<T>(): Option<T> {
  return new Option({ read: (_, value) => value as T })
}
