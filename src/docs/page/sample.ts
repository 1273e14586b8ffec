/** Values that a form starts with, and what they lack. @module */
import type { SchemaObject } from '../../client/description.ts'
import { numberFault, numberSample, textFault, textSample } from '../../core/text/text-sample.ts'
import { hasMembers, membersIn, resolved, shapeOf } from './schema.ts'

/**
 * @returns a value that a form may start with, where no example is given: a valid one, if that is
 * simple to find.
 */
export function startOf(given: unknown, document: unknown, depth = 0): unknown {
  const { schema, isNullable, variants } = shapeOf(given, document)
  const { default: preset, examples, example, enum: words, const: only } = schema
  const known = preset ?? (Array.isArray(examples) ? examples[0] : undefined) ?? example ?? only
  if (known !== undefined) return known
  if (Array.isArray(words)) return words[0]
  if (isNullable && depth > 8) return null
  if (variants.length > 0) return startOfUnion(variants, document, depth)
  const [type] = [schema.type].flat()
  if (hasMembers(schema) || type === 'object') return startOfObject(schema, document, depth)
  if (type === 'string') return textSample(schema) ?? ''
  if (type === 'number' || type === 'integer') return numberSample(schema) ?? 0
  if (type === 'boolean') return false
  return type === 'array' ? startOfList(schema, document, depth) : null
}

/**
 * A value of the first kind that has a valid one; deep in a value, where kinds may refer to
 * themselves, of a simple kind.
 */
function startOfUnion(variants: readonly SchemaObject[], document: unknown, depth: number) {
  const start = (variant: SchemaObject) => startOf(variant, document, depth + 1)
  if (depth > 4) return start(variants.find(isSimple) ?? variants[0])
  for (const variant of variants) {
    const value = start(variant)
    if (faultIn(value, variant, document) === undefined) return value
  }
  return start(variants[0])
}

function isSimple(schema: SchemaObject): boolean {
  return (
    !hasMembers(schema) && ['string', 'number', 'integer', 'boolean'].includes(String(schema.type))
  )
}

function startOfObject(
  schema: SchemaObject,
  document: unknown,
  depth: number,
): Record<string, unknown> {
  const members = membersIn(schema).filter(({ isRequired, schema: each }) => {
    return isRequired || resolved(each, document).default !== undefined
  })
  const names = new Set(members.map(({ name }) => name))
  const { additionalProperties: others, required = [], minProperties = 0 } = schema
  const more = (required as readonly string[]).filter((name) => !names.has(name))
  for (let i = 1; more.length + members.length < Number(minProperties); i++) more.push(`key${i}`)
  const start = (each: unknown) => (depth > 20 ? null : startOf(each, document, depth + 1))
  return Object.fromEntries([
    ...members.map(({ name, schema: each }) => [name, start(each)]),
    ...more.map((name) => [name, start(others)]),
  ])
}

function startOfList(schema: SchemaObject, document: unknown, depth: number): unknown[] {
  const { items, prefixItems, minItems } = schema
  const first = Array.isArray(prefixItems) ? prefixItems : []
  const rest = new Array(Math.min(64, Math.max(0, Number(minItems ?? 0) - first.length))).fill(
    items,
  )
  return [...first, ...rest].map((each) => (depth > 20 ? null : startOf(each, document, depth + 1)))
}

/** What a value lacks by its schema. */
export interface Fault {
  /** Where it is in the value: `.items[1]`; empty for the whole. */
  readonly path: string
  readonly wanted: string
  /** Whether an item, a member or a kind of a union lacks it, which has a field of its own. */
  readonly isInner: boolean
}

/** @returns the first fault of a value; undefined where it fits, as far as that is simple to tell. */
export function faultIn(
  value: unknown,
  given: unknown,
  document: unknown,
  depth = 0,
): Fault | undefined {
  if (depth > 40) return undefined
  const { schema, isNullable, variants } = shapeOf(given, document)
  if (value === null && isNullable) return undefined
  const inner = (each: unknown, rules: unknown) => faultIn(each, rules, document, depth + 1)
  const fits = (rules: unknown) => inner(value, rules) === undefined
  const { not } = schema
  const wanted =
    given === false || (not !== undefined && fits(not)) ? 'another value' : ownFault(value, schema)
  if (wanted !== undefined) return { path: '', wanted, isInner: false }
  if (variants.length > 0) {
    const faults = variants.map((variant) => inner(value, variant))
    const count = faults.filter((fault) => fault === undefined).length
    if (Array.isArray(schema.oneOf) && count > 1)
      return { path: '', wanted: 'a value of one kind alone', isInner: false }
    const [first] = count === 0 ? faults : []
    return first && { ...first, isInner: true }
  }
  for (const [path, each, rules] of partsOf(value, schema)) {
    const fault = inner(each, rules)
    if (fault !== undefined) return { ...fault, path: path + fault.path, isInner: true }
  }
  return undefined
}

/** What a value lacks, its items and members apart. */
function ownFault(value: unknown, schema: SchemaObject): string | undefined {
  const { const: only, enum: words } = schema
  const text = JSON.stringify(value)
  if (only !== undefined && JSON.stringify(only) !== text) return JSON.stringify(only)
  const choices = Array.isArray(words) ? words.map((word) => JSON.stringify(word)) : undefined
  if (choices?.length === 0) return 'a value, but the schema takes none'
  if (choices !== undefined && !choices.includes(text)) return `one of ${choices.join(', ')}`
  const types = [schema.type ?? []].flat()
  if (types.length > 0 && !types.some((type) => isOfType(value, type)))
    return `a value of type ${types.join(' or ')}`
  if (typeof value === 'string') return textFault(schema, value)
  if (typeof value === 'number') return numberFault(schema, value)
  if (Array.isArray(value)) return listFault(value, schema)
  return Object(value) === value ? objectFault(Object.keys(value as object), schema) : undefined
}

function isOfType(value: unknown, type: unknown): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return Object(value) === value && !Array.isArray(value)
  return typeof value === (type === 'integer' ? 'number' : type)
}

function listFault(items: readonly unknown[], schema: SchemaObject): string | undefined {
  const { prefixItems, items: rest, minItems, maxItems, uniqueItems } = schema
  const { length: most } = Array.isArray(prefixItems) ? prefixItems : []
  if (items.length < Number(minItems ?? 0)) return `at least ${minItems} items`
  if (items.length > Number(maxItems ?? items.length)) return `at most ${maxItems} items`
  if (rest === false && items.length > most) return `at most ${most} items`
  const texts = new Set(items.map((item) => JSON.stringify(item)))
  return uniqueItems === true && texts.size < items.length ? 'items that differ' : undefined
}

function objectFault(names: readonly string[], schema: SchemaObject): string | undefined {
  const { required = [], minProperties, maxProperties } = schema
  const missing = (required as readonly string[]).find((name) => !names.includes(name))
  if (missing !== undefined) return `the member ${missing}`
  if (names.length < Number(minProperties ?? 0)) return `at least ${minProperties} members`
  if (names.length > Number(maxProperties ?? names.length))
    return `at most ${maxProperties} members`
  const { propertyNames } = schema
  const rules = Object(propertyNames) as SchemaObject
  const wrong = names.map((name) => textFault(rules, name)).find(Boolean)
  return wrong && `for each name ${wrong}`
}

/** The items or members of a value with their schemas. */
function partsOf(
  value: unknown,
  schema: SchemaObject,
): (readonly [path: string, value: unknown, schema: unknown])[] {
  const { prefixItems, items, properties, patternProperties, additionalProperties } = schema
  if (Array.isArray(value)) {
    const first = Array.isArray(prefixItems) ? prefixItems : []
    return value.map((item, i) => [`[${i}]`, item, first[i] ?? items] as const)
  }
  const known = new Map(Object.entries(Object(properties)))
  // What a pattern of names demands is not looked at.
  const others = patternProperties === undefined ? additionalProperties : undefined
  return Object.entries(Object(value)).map(([name, member]) => {
    return [`.${name}`, member, known.has(name) ? known.get(name) : others] as const
  })
}
