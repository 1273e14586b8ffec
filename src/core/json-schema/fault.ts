/** What a value lacks by a JSON Schema. The page has it, too. @module */
import { numberFault, textFault } from '../text/text-sample.ts'
import { type JsonSchema, listOf, pointed } from './shape.ts'

/** What a value lacks by its schema. */
export interface Fault {
  /** Where it is in the value: `.items[1]`; empty for the whole. */
  readonly path: string
  readonly wanted: string
  /** Whether an item, a member or a kind of a union lacks it, which has a field of its own. */
  readonly isInner: boolean
}

/** Most schemas, choices and members that one check looks at: a schema may refer to itself without an end. */
export const maxSteps = 250_000
const maxDepth = 500

/** @returns the first fault of a value; undefined where it fits, as far as that is simple to tell. */
export function faultIn(value: unknown, schema: unknown, document: unknown): Fault | undefined {
  const check = new SchemaCheck(document)
  const fault = check.fault(value, schema)
  if (check.stepsLeft < 0) return undefined
  return fault
}

const withoutPatterns = { pattern: {}, patternProperties: {}, propertyNames: {} }

/** Looks for what a value lacks by schemas of one document. */
export class SchemaCheck {
  readonly #document: unknown
  readonly #readsPatterns: boolean
  /** Below 0 nothing is known of the value. */
  stepsLeft = maxSteps

  /** `readsPatterns`: not those of a client, which could take hours. */
  constructor(document: unknown, readsPatterns = true) {
    this.#document = document
    this.#readsPatterns = readsPatterns
  }

  /** @returns the first fault of a value; undefined where it fits. */
  fault(value: unknown, given: unknown, depth = 0): Fault | undefined {
    if (depth > maxDepth) this.stepsLeft = -1
    const all = Object(given)
    if (this.stepsLeft >= 0) this.stepsLeft -= stepsOf(value, all)
    if (this.stepsLeft < 0) return undefined
    const schema: JsonSchema = this.#readsPatterns ? all : Object.create(all, withoutPatterns)
    const inner = (each: unknown, rules: unknown) => this.fault(each, rules, depth + 1)
    const { $ref: reference, allOf, not, type } = schema
    const demands = [...listOf(allOf)]
    if (typeof reference === 'string') demands.unshift(pointed(this.#document, reference))
    for (const rules of demands) {
      const fault = inner(value, rules)
      if (fault !== undefined) return fault
    }
    const isOther = given === false || (not !== undefined && inner(value, not) === undefined)
    const wanted = isOther ? 'another value' : ownFault(value, schema)
    if (wanted !== undefined)
      return { path: '', wanted, isInner: listOf(type).filter(isNoNull).length > 1 }
    const fault = unionFault(schema, (variant) => inner(value, variant))
    if (fault !== undefined) return fault
    for (const [path, each, rules] of partsOf(value, schema)) {
      const part = rules === undefined ? undefined : inner(each, rules)
      if (part !== undefined) return { ...part, path: path + part.path, isInner: true }
    }
    return undefined
  }
}

/** The steps of what one schema looks at, beside the schemas and the values within. */
function stepsOf(value: unknown, schema: JsonSchema): number {
  const { $ref, allOf, type, const: only, enum: words, required, uniqueItems } = schema
  const isWhole = typeof value === 'string' || uniqueItems === true
  const size = sizeOf(isWhole ? [value] : Object.keys(Object(value)))
  const rules = sizeOf([$ref, type, only, words, required])
  return 1 + listOf(allOf).length + rules + size * (1 + listOf(words).length)
}

function sizeOf(values: readonly unknown[]): number {
  return JSON.stringify(values).length >> 5
}

function unionFault(
  schema: JsonSchema,
  faultBy: (variant: unknown) => Fault | undefined,
): Fault | undefined {
  for (const name of ['anyOf', 'oneOf']) {
    const variants = listOf(schema[name])
    const faults = variants.map(faultBy)
    const count = faults.filter((fault) => fault === undefined).length
    if (name === 'oneOf' && count > 1)
      return { path: '', wanted: 'a value of one kind alone', isInner: false }
    if (count > 0) continue
    // What null lacks would tell less.
    const others = faults.filter((_, i) => isNoNull(Object(variants[i]).type))
    const first = others[0] ?? faults[0]
    if (first !== undefined) return { ...first, isInner: others.length > 1 || first.isInner }
  }
  return undefined
}

const isNoNull = (type: unknown) => type !== 'null'

/** What a value lacks, its items and members apart. */
function ownFault(value: unknown, schema: JsonSchema): string | undefined {
  const { const: only, enum: words } = schema
  if ('const' in schema && !isSame(only, value)) return JSON.stringify(only)
  if (Array.isArray(words) && !words.some((word) => isSame(word, value))) {
    if (words.length === 0) return 'a value, but the schema takes none'
    return `one of ${words.map((word) => JSON.stringify(word)).join(', ')}`
  }
  const types = [schema.type ?? []].flat()
  if (types.length > 0 && !types.some((type) => isOfType(value, type)))
    return `a value of type ${types.join(' or ')}`
  if (typeof value === 'string') return textFault(schema, value)
  if (typeof value === 'number') return numberFault(schema, value)
  if (Array.isArray(value)) return listFault(value, schema)
  if (Object(value) === value) return objectFault(value as object, schema)
  return undefined
}

function isSame(one: unknown, other: unknown): boolean {
  if (Object(one) !== one || Object(other) !== other) return one === other
  const members = Object.entries(other as object)
  return (
    Array.isArray(one) === Array.isArray(other) &&
    members.length === Object.keys(one as object).length &&
    members.every(([name, value]) => {
      return Object.hasOwn(one as object, name) && isSame((one as JsonSchema)[name], value)
    })
  )
}

const types = ['boolean', 'string', 'number', 'integer']

/** A type that nobody knows holds. */
function isOfType(value: unknown, type: unknown): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return Object(value) === value && !Array.isArray(value)
  return typeof value === (type === 'integer' ? 'number' : type) || !types.includes(String(type))
}

function listFault(items: readonly unknown[], schema: JsonSchema): string | undefined {
  const { prefixItems, items: rest, minItems, maxItems, uniqueItems } = schema
  const { length: most } = listOf(prefixItems)
  if (items.length < Number(minItems ?? 0)) return `at least ${minItems} items`
  if (items.length > Number(maxItems ?? items.length)) return `at most ${maxItems} items`
  if (rest === false && items.length > most) return `at most ${most} items`
  const texts = new Set(items.map((item) => JSON.stringify(item)))
  if (uniqueItems === true && texts.size < items.length) return 'items that differ'
  return undefined
}

function objectFault(value: object, schema: JsonSchema): string | undefined {
  const { required, minProperties, maxProperties } = schema
  const names = Object.keys(value)
  const missing = listOf(required).find((name) => !Object.hasOwn(value, String(name)))
  if (missing !== undefined) return `the member ${missing}`
  if (names.length < Number(minProperties ?? 0)) return `at least ${minProperties} members`
  if (names.length > Number(maxProperties ?? names.length))
    return `at most ${maxProperties} members`
  const { propertyNames } = schema
  const rules = Object(propertyNames) as JsonSchema
  const wrong = names.map((name) => textFault(rules, name)).find(Boolean)
  return wrong && `for each name ${wrong}`
}

/** The items or members of a value with their schemas. */
function partsOf(
  value: unknown,
  schema: JsonSchema,
): (readonly [path: string, value: unknown, schema: unknown])[] {
  const { prefixItems, items, properties, patternProperties, additionalProperties } = schema
  if (Array.isArray(value)) {
    const first = listOf(prefixItems)
    return value.map((item, i) => [`[${i}]`, item, first[i] ?? items] as const)
  }
  if (Object(value) !== value) return []
  const known = Object(properties)
  const patterns = Object.entries(Object(patternProperties))
  return Object.entries(value as object).flatMap(([name, member]) => {
    const rules = patterns.filter(([pattern]) => textFault({ pattern }, name) === undefined)
    const all = rules.map(([, rule]) => rule)
    if (Object.hasOwn(known, name)) all.unshift(known[name])
    if (all.length === 0) all.push(additionalProperties)
    return all.map((each) => [`.${name}`, member, each] as const)
  })
}
