import type { SchemaObject } from '../../client/description.ts'
import { hasMembers, membersIn, shapeOf } from '../../core/json-schema/shape.ts'

/**
 * @returns the bounds of a number that a person can slide between, in words; undefined where they
 * are missing or wide.
 */
function boundsText({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: SchemaObject) {
  const [low, high] = [minimum ?? exclusiveMinimum, maximum ?? exclusiveMaximum]
  if (typeof low !== 'number' || typeof high !== 'number' || Math.abs(low) >= 1e6 || high >= 1e6)
    return undefined
  return `${low} to ${high}`
}

const limits: readonly (readonly [keyword: string, words: string, unit?: string])[] = [
  ['minimum', 'at least'],
  ['exclusiveMinimum', 'more than'],
  ['maximum', 'at most'],
  ['exclusiveMaximum', 'less than'],
  ['minLength', 'at least', 'character'],
  ['maxLength', 'at most', 'character'],
  ['minItems', 'at least', 'item'],
  ['maxItems', 'at most', 'item'],
]

/**
 * @returns what a value of a schema has to keep beside its type: `1900 to 2100`, `at least 2
 * characters`.
 */
export function rulesText(schema: SchemaObject): string {
  const { pattern, format } = schema
  const bounds = boundsText(schema)
  const texts = limits.flatMap(([keyword, words, unit = '']) => {
    const limit = Number(schema[keyword])
    // Those of integers as such say nothing.
    if (!(Math.abs(limit) < 1e6) || (bounds !== undefined && unit === '')) return []
    return `${words} ${limit} ${unit}${unit !== '' && limit !== 1 ? 's' : ''}`.trimEnd()
  })
  const isNamed = !/^(undefined$|int|uint|float|double|starts|ends|includes)/.test(String(format))
  return [
    isNamed && format,
    bounds,
    ...texts,
    format === undefined && pattern !== undefined && `like ${pattern}`,
  ]
    .filter(Boolean)
    .join(', ')
}

/** @returns JSON text with a line for each row. */
export function printRows(value: unknown): string {
  if (!Array.isArray(value)) return JSON.stringify(value)
  const isOfRows = value.some((each) => typeof each === 'object' && each !== null)
  return `[${value.map(printRows).join(isOfRows ? ',\n ' : ', ')}]`
}

/**
 * @returns a schema as a type in the style of TypeScript: `{ name: string, born: integer 1900 to
 * 2100 }`.
 */
export function typeText(given: unknown, document: unknown, depth = 0): string {
  const { schema, isNullable, variants } = shapeOf(given, document)
  if (isNullable && variants.length === 0) return `${typeText(schema, document, depth)} | null`
  const { enum: words, const: only, items, format, additionalProperties: others } = schema
  const inner = (each: unknown) => typeText(each, document, depth + 1)
  if (Array.isArray(words)) return words.map((word) => JSON.stringify(word)).join(' | ')
  if (only !== undefined) return JSON.stringify(only)
  const union = schema.anyOf ?? schema.oneOf
  if (Array.isArray(union) && depth < 6) return union.map(inner).join(' | ')
  if (hasMembers(schema) && depth < 6) {
    const members = membersIn(schema).map(
      ({ name, schema: each, isRequired }) =>
        `${'  '.repeat(depth + 1)}${name}${isRequired ? '' : '?'}: ${inner(each)}\n`,
    )
    return `{\n${members.join('')}${'  '.repeat(depth)}}`
  }
  const types = [schema.type ?? 'any'].flat().map((type) => {
    if (type === 'array' && items !== undefined)
      return `${inner(items).replace(/^.* \| .*$/s, '($&)')}[]`
    if (type === 'object' && typeof others === 'object') return `{ [key]: ${inner(others)} }`
    if (type === 'string' && format === 'binary') return 'bytes'
    return type
  })
  return [types.join(' | '), boundsText(schema)].filter(Boolean).join(' ')
}
