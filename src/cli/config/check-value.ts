/**
 * Checks plain data by the JSON schemas of configuration files, which use few of JSON Schema's words.
 * @module
 */
import { InvalidArgument, show } from '../../core/errors.ts'
import { didYouMean } from './nearest-word.ts'

/** A JSON schema with the words that {@link checkValue} knows, and those that only editors read. */
export interface ValueSchema {
  readonly type: string | readonly string[]
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly (string | number)[]
  /** For editors: the option's own parser checks it. */
  readonly minimum?: number
  /** For editors: the option's own parser checks it. */
  readonly maximum?: number
  /** For editors: the option's own parser checks it. */
  readonly pattern?: string
  readonly properties?: Readonly<Record<string, ValueSchema>>
  /** The schema of properties that are not named; without it there are none. */
  readonly additionalProperties?: ValueSchema | false
  readonly items?: ValueSchema
}

/**
 * Checks a value by a schema; `file` and `path` say in messages where it stands.
 * **Errors**: InvalidArgument for the first part that does not fit, with its path and the nearest name that is known.
 */
export function checkValue(value: unknown, schema: ValueSchema, file: string, path = ''): void {
  const types = [schema.type].flat() as string[]
  const place = path === '' ? file : `${file}: ${path}`
  if (!types.some((type) => isOfType(value, type))) {
    const allowed = types.map((type) => typeWords[type] ?? type).join(' or ')
    throw new InvalidArgument(`${place}: expected ${allowed}, received ${show(value)}`)
  }
  if (schema.enum !== undefined && !schema.enum.some((each) => each === value)) {
    throw new InvalidArgument(`${place}: expected ${schema.enum.join(' or ')}, received ${show(value)}`)
  }
  const { properties = {}, additionalProperties: others, items } = schema
  if (Array.isArray(value)) {
    if (items !== undefined) for (const [i, item] of value.entries()) checkValue(item, items, file, `${path}[${i}]`)
    return
  }
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value)) {
    const own = Object.hasOwn(properties, name) ? properties[name] : others
    if (own === undefined || own === false) {
      const known = Object.keys(properties)
      const hint = didYouMean(name, known) || `; known are ${known.join(', ')}`
      throw new InvalidArgument(`${place}: unknown key ${JSON.stringify(name)}${hint}`)
    }
    checkValue(member, own, file, path === '' ? name : `${path}.${name}`)
  }
}

const typeWords: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  number: 'a number',
  string: 'a text',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
}

function isOfType(value: unknown, type: string): boolean {
  if (type === 'integer') return Number.isSafeInteger(value)
  if (type === 'array') return Array.isArray(value)
  if (type !== 'object') return typeof value === type
  const isPlain = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isPlain && [Object.prototype, null].includes(Object.getPrototypeOf(value))
}
