/** JSON Schemas of the document, as far as forms need them. @module */
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
  return (
    typeof schema.properties === 'object' && schema.properties !== null && Object.keys(schema.properties).length > 0
  )
}

/** Returns a value that a form may start with, where no example is given. */
export function startOf(schema: SchemaObject, document: unknown, depth = 0): unknown {
  const { default: given, examples, example, enum: words, const: only } = schema
  const known = given ?? (Array.isArray(examples) ? examples[0] : undefined) ?? example ?? only
  if (known !== undefined) return known
  if (Array.isArray(words)) return words[0]
  if (hasMembers(schema) && depth < 5) {
    const required = (schema.required ?? []) as readonly string[]
    const members = Object.entries(schema.properties as Record<string, unknown>).filter(([name]) =>
      required.includes(name),
    )
    return Object.fromEntries(
      members.map(([name, each]) => [name, startOf(resolved(each, document), document, depth + 1)]),
    )
  }
  const [type] = [schema.type].flat()
  if (type === 'string') return ''
  if (type === 'number' || type === 'integer') return typeof schema.minimum === 'number' ? schema.minimum : 0
  if (type === 'boolean') return false
  return type === 'array' ? [] : type === 'object' ? {} : null
}
