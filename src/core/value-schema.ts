/** Plain data by JSON schemas of few words: whether it fits, and what they expect in English. @module */
import { isRecord } from './options.ts'

/** A JSON schema with the words that the code knows, and those that only editors read. */
export interface ValueSchema {
  readonly type: string | readonly string[]
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly (string | number)[]
  readonly minimum?: number
  readonly maximum?: number
  readonly pattern?: string
  readonly examples?: readonly string[]
  readonly properties?: Readonly<Record<string, ValueSchema>>
  readonly additionalProperties?: ValueSchema | false
  readonly items?: ValueSchema
}

/** Whether a value fits a schema, apart from its members. */
export function fits(value: unknown, schema: ValueSchema): boolean {
  if (![schema.type].flat().some((type) => isOfType(value, type))) return false
  if (schema.enum !== undefined) return schema.enum.some((each) => each === value)
  if (typeof value === 'string')
    return schema.pattern === undefined || new RegExp(schema.pattern).test(value)
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema
  return typeof value !== 'number' || (value >= minimum && value <= maximum)
}

/** Says what a schema expects: `a whole number from 0 to 65535`. */
export function wordsOf({ type, enum: words, minimum, maximum, examples }: ValueSchema): string {
  if (words !== undefined)
    return [words.slice(0, -1).join(', '), words.at(-1)].filter(Boolean).join(' or ')
  const range =
    minimum === undefined
      ? ''
      : ` from ${minimum} ${maximum === undefined ? 'up' : `to ${maximum}`}`
  const texts = [type].flat().map((each) => {
    if (each === 'string' && examples !== undefined) return `a text as in ${examples.join(' or ')}`
    if (each === 'integer' || each === 'number') return `${typeWords[each]}${range}`
    return typeWords[each]
  })
  return texts.join(' or ')
}

const typeWords: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  number: 'a number',
  string: 'a text',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'nothing',
}

function isOfType(value: unknown, type: string): boolean {
  if (type === 'integer') return Number.isSafeInteger(value)
  if (type === 'array') return Array.isArray(value)
  if (type === 'null') return value === null
  if (type !== 'object') return typeof value === type
  return isRecord(value) && [Object.prototype, null].includes(Object.getPrototypeOf(value))
}
