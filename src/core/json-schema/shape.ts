/** What a JSON Schema says once its references are followed. The page has it, too. @module */

/** A JSON Schema of draft 2020-12. Its references are relative to its own root: `#`, `#/$defs/Item`. */
export interface JsonSchema {
  readonly [keyword: string]: unknown
}

/** A schema without references: what it is beside null, and which kinds it may be where there are several. */
export interface Shape {
  readonly schema: JsonSchema
  readonly isNullable: boolean
  readonly variants: readonly JsonSchema[]
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
export function resolved(schema: unknown, document: unknown): JsonSchema {
  return shapeOf(schema, document).schema
}

/** Follows references, and joins what `allOf` demands together. */
function followed(given: unknown, document: unknown, steps = 0): JsonSchema {
  const schema: JsonSchema = Object(given)
  const { $ref, allOf, ...about } = schema
  if (steps > 20 || ($ref === undefined && !Array.isArray(allOf))) return schema
  const all = [...listOf(allOf)]
  if (typeof $ref === 'string') all.unshift(pointed(document, $ref))
  return [...all.map((each) => followed(each, document, steps + 1)), about].reduce<JsonSchema>(
    joined,
    {},
  )
}

/** Of two bounds the one that holds if both do. */
const stricter: Readonly<Record<string, (...bounds: number[]) => number>> = {
  minimum: Math.max,
  exclusiveMinimum: Math.max,
  minLength: Math.max,
  minItems: Math.max,
  minProperties: Math.max,
  maximum: Math.min,
  exclusiveMaximum: Math.min,
  maxLength: Math.min,
  maxItems: Math.min,
  maxProperties: Math.min,
}

/** @returns what two schemas demand together, as far as one schema can say it: else the second. */
export function joined(one: JsonSchema, other: JsonSchema): JsonSchema {
  const properties = { ...Object(one.properties), ...Object(other.properties) }
  const required = [one.required ?? [], other.required ?? []].flat()
  const bounds = Object.entries(stricter)
    .filter(([word]) => typeof one[word] === 'number' && typeof other[word] === 'number')
    .map(([word, of]) => [word, of(one[word] as number, other[word] as number)] as const)
  return {
    ...one,
    ...other,
    ...Object.fromEntries(bounds),
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
  }
}

/** @returns what a reference of a document stands for; undefined for another place. */
export function pointed(document: unknown, reference: string): unknown {
  const names = reference.replace(/^#\/?/, '').split('/').filter(Boolean)
  return names.reduce<unknown>((value, given) => {
    const name = decoded(given).replace(/~1/g, '/').replace(/~0/g, '~')
    if (Object.hasOwn(Object(value), name)) return (value as JsonSchema)[name]
    return undefined
  }, document)
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** Whether a schema is of an object whose members are known. */
export function hasMembers(schema: JsonSchema): boolean {
  return Object.keys(Object(schema.properties)).length > 0
}

/** @returns a value that is a list; an empty one for others. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** @returns the members of an object. */
export function membersIn({ properties = {}, required = [] }: JsonSchema) {
  return Object.entries(properties as Record<string, unknown>).map(([name, schema]) => {
    return { name, schema, isRequired: (required as readonly string[]).includes(name) }
  })
}
