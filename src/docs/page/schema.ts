import type { SchemaObject } from '../../client/description.ts'

/** Returns the schema that a reference stands for, and the one member of `allOf`, `anyOf` with null and the like. */
export function resolved(schema: unknown, document: unknown): SchemaObject {
  let found = (typeof schema === 'object' && schema !== null ? schema : {}) as SchemaObject
  for (let steps = 0; steps < 20; steps++) {
    const [only] = ['allOf', 'anyOf', 'oneOf'].flatMap((word) => {
      const all = found[word]
      const others = Array.isArray(all) ? all.filter((each) => each?.type !== 'null') : []
      return others.length === 1 ? others : []
    })
    const next = typeof found.$ref === 'string' ? pointed(document, found.$ref) : only
    if (next === undefined) return found
    found = next as SchemaObject
  }
  return found
}

function pointed(document: unknown, reference: string): unknown {
  const names = reference.replace(/^#\/?/, '').split('/').filter(Boolean)
  return names.reduce<unknown>(
    (value, name) =>
      (value as Record<string, unknown>)?.[decodeURIComponent(name).replace(/~1/g, '/').replace(/~0/g, '~')],
    document,
  )
}

/** Whether a schema is of an object whose members are known. */
export function hasMembers(schema: SchemaObject): boolean {
  return Object.keys(Object(schema.properties)).length > 0
}

/** Returns the members of an object. */
export function membersIn({ properties = {}, required = [] }: SchemaObject) {
  return Object.entries(properties as Record<string, unknown>).map(([name, schema]) => {
    return { name, schema, isRequired: (required as readonly string[]).includes(name) }
  })
}

/** Returns a value that a form may start with, where no example is given. */
export function startOf(schema: SchemaObject, document: unknown, depth = 0): unknown {
  const { default: given, examples, example, enum: words, const: only } = schema
  const known = given ?? (Array.isArray(examples) ? examples[0] : undefined) ?? example ?? only
  if (known !== undefined) return known
  if (Array.isArray(words)) return words[0]
  if (hasMembers(schema) && depth < 5) {
    const members = membersIn(schema).filter(({ isRequired }) => isRequired)
    const start = (each: unknown) => startOf(resolved(each, document), document, depth + 1)
    return Object.fromEntries(members.map(({ name, schema: each }) => [name, start(each)]))
  }
  const [type] = [schema.type].flat()
  if (type === 'string') return ''
  if (type === 'number' || type === 'integer') return typeof schema.minimum === 'number' ? schema.minimum : 0
  if (type === 'boolean') return false
  return type === 'array' ? [] : type === 'object' ? {} : null
}

/** Returns JSON text with a line for each row. */
export function printRows(value: unknown): string {
  if (!Array.isArray(value)) return JSON.stringify(value)
  const isOfRows = value.some((each) => typeof each === 'object' && each !== null)
  return `[${value.map(printRows).join(isOfRows ? ',\n ' : ', ')}]`
}

/** Returns a schema as a type in the style of TypeScript: `{ name: string, born: integer 1900 to 2100 }`. */
export function typeText(given: unknown, document: unknown, depth = 0): string {
  const schema = resolved(given, document)
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
    if (type === 'array' && items !== undefined) return `${inner(items).replace(/^.* \| .*$/s, '($&)')}[]`
    if (type === 'object' && typeof others === 'object') return `{ [key]: ${inner(others)} }`
    return type === 'string' && format === 'binary' ? 'bytes' : type
  })
  const { minimum: low, maximum: high } = schema
  const isBounded = typeof low === 'number' && typeof high === 'number' && Math.abs(low) < 1e6 && high < 1e6
  return types.join(' | ') + (isBounded ? ` ${low} to ${high}` : '')
}
