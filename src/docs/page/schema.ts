import type { SchemaObject } from '../../client/description.ts'

/** A schema without references: what it is beside null, and which kinds it may be where there are several. */
export interface Shape {
  readonly schema: SchemaObject
  readonly isNullable: boolean
  readonly variants: readonly SchemaObject[]
}

/** @returns the shape of a schema of a document. */
export function shapeOf(given: unknown, document: unknown, steps = 0): Shape {
  const schema = followed(given, document)
  const union = (schema.anyOf ?? schema.oneOf) as readonly unknown[] | undefined
  if (Array.isArray(union) && union.length > 0 && steps < 20) {
    const { anyOf: _, oneOf: __, ...about } = schema
    const members = union.map((each) => followed(each, document))
    const others = members.filter(({ type }) => type !== 'null')
    const isNullable = others.length < members.length
    if (others.length !== 1) return { schema, isNullable, variants: others }
    const inner = shapeOf(others[0], document, steps + 1)
    return {
      ...inner,
      schema: { ...inner.schema, ...about },
      isNullable: isNullable || inner.isNullable,
    }
  }
  const types = [schema.type].flat().filter((type) => type !== undefined)
  const others = types.filter((type) => type !== 'null')
  const isNullable = others.length < types.length && others.length > 0
  if (others.length > 1)
    return { schema, isNullable, variants: others.map((type) => ({ ...schema, type })) }
  return { schema: isNullable ? { ...schema, type: others[0] } : schema, isNullable, variants: [] }
}

/** @returns the schema that a reference stands for, and beside null the one kind that it may be. */
export function resolved(schema: unknown, document: unknown): SchemaObject {
  return shapeOf(schema, document).schema
}

/** Follows references, and joins what `allOf` demands together. */
function followed(given: unknown, document: unknown, steps = 0): SchemaObject {
  const schema = (typeof given === 'object' && given !== null ? given : {}) as SchemaObject
  const { $ref, allOf, ...about } = schema
  if (steps > 20 || ($ref === undefined && !Array.isArray(allOf))) return schema
  const all = [
    ...(typeof $ref === 'string' ? [pointed(document, $ref)] : []),
    ...((allOf as unknown[]) ?? []),
  ]
  return [...all.map((each) => followed(each, document, steps + 1)), about].reduce<SchemaObject>(
    joined,
    {},
  )
}

function joined(one: SchemaObject, other: SchemaObject): SchemaObject {
  const properties = { ...Object(one.properties), ...Object(other.properties) }
  const required = [one.required ?? [], other.required ?? []].flat()
  return {
    ...one,
    ...other,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
  }
}

function pointed(document: unknown, reference: string): unknown {
  const names = reference.replace(/^#\/?/, '').split('/').filter(Boolean)
  return names.reduce<unknown>(
    (value, name) =>
      (value as Record<string, unknown>)?.[
        decodeURIComponent(name).replace(/~1/g, '/').replace(/~0/g, '~')
      ],
    document,
  )
}

/** Whether a schema is of an object whose members are known. */
export function hasMembers(schema: SchemaObject): boolean {
  return Object.keys(Object(schema.properties)).length > 0
}

/** @returns the members of an object. */
export function membersIn({ properties = {}, required = [] }: SchemaObject) {
  return Object.entries(properties as Record<string, unknown>).map(([name, schema]) => {
    return { name, schema, isRequired: (required as readonly string[]).includes(name) }
  })
}

/**
 * @returns the bounds of a number that a person can slide between; undefined where they are missing
 * or wide.
 */
export function boundsOf({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: SchemaObject) {
  const [low, high] = [minimum ?? exclusiveMinimum, maximum ?? exclusiveMaximum]
  if (typeof low !== 'number' || typeof high !== 'number' || Math.abs(low) >= 1e6 || high >= 1e6)
    return undefined
  return { low, high }
}

/**
 * @returns what a value of a schema has to keep beside its type: `1900 to 2100`, `at least 2
 * characters`.
 */
export function rulesText(schema: SchemaObject): string {
  const {
    minLength,
    maxLength,
    minItems,
    maxItems,
    pattern,
    format,
    minimum,
    exclusiveMinimum,
    exclusiveMaximum,
  } = schema
  const bounds = boundsOf(schema)
  const span = (min: unknown, max: unknown, unit: string) => {
    if (min === undefined && max === undefined) return ''
    if (max === undefined)
      return Number(min) === 0 ? '' : `at least ${min} ${unit}${Number(min) === 1 ? '' : 's'}`
    return min === undefined ? `at most ${max} ${unit}s` : `${min} to ${max} ${unit}s`
  }
  const isLow = typeof minimum === 'number' && Math.abs(minimum) < 1e6 && bounds === undefined
  return [
    typeof format === 'string' &&
      !/^(int|uint|float|double|starts|ends|includes)/.test(format) &&
      format,
    bounds && `${bounds.low} to ${bounds.high}`,
    isLow && `at least ${minimum}`,
    exclusiveMinimum !== undefined && `more than ${exclusiveMinimum}`,
    exclusiveMaximum !== undefined && `less than ${exclusiveMaximum}`,
    span(minLength, maxLength, 'character'),
    span(minItems, maxItems, 'item'),
    format === undefined && typeof pattern === 'string' && `like ${pattern}`,
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
    return type === 'string' && format === 'binary' ? 'bytes' : type
  })
  const bounds = boundsOf(schema)
  return types.join(' | ') + (bounds === undefined ? '' : ` ${bounds.low} to ${bounds.high}`)
}
