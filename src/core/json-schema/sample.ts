/** Values that fit a JSON Schema, and what a value lacks. The page has it, too. @module */
import { numberFault, numberSample, textFault, textSample } from '../text/text-sample.ts'
import { hasMembers, type JsonSchema, joined, membersIn, resolved, shapeOf } from './shape.ts'

/** What the samples of one value share. */
interface Sampling {
  /** What references lead into. */
  readonly document: unknown
  /** Whether optional members are shown, and an item of each list. */
  readonly isWhole: boolean
}

// Below this level a whole sample has what it must have alone, so that recursive schemas end.
const wholeDepth = 4
const maxItems = 64

/**
 * @returns a value that a form may start with, where no example is given: a valid one, if that is
 * simple to find.
 */
export function startOf(schema: unknown, document: unknown): unknown {
  return sampleOf(schema, { document, isWhole: false }, 0)
}

/**
 * @returns a value that shows all members of a schema, whose references are relative to itself;
 * undefined if no valid one is found. A check that JSON Schema cannot state may refuse it.
 */
export function exampleFor(schema: JsonSchema): unknown {
  const value = sampleOf(schema, { document: schema, isWhole: true }, 0)
  return faultIn(value, schema, schema) === undefined ? value : undefined
}

function sampleOf(given: unknown, sampling: Sampling, depth: number): unknown {
  const { document, isWhole } = sampling
  const { schema, isNullable, variants } = shapeOf(given, document)
  const { examples, example, default: preset, const: only, enum: words } = schema
  const [first] = [examples ?? []].flat()
  const known = [first, example, preset, only].find((value) => value !== undefined)
  if (known !== undefined) return known
  const fits = (value: unknown) => faultIn(value, schema, document) === undefined
  if (Array.isArray(words)) return words.find(fits) ?? words[0]
  if (isNullable && depth > 8) return null
  if (variants.length > 0) return unionSample(schema, variants, sampling, depth)
  const [type] = [schema.type].flat()
  if (hasMembers(schema) || type === 'object') return objectSample(schema, sampling, depth)
  if (type === 'string') return textSample(schema) ?? ''
  if (type === 'number' || type === 'integer') return numberSample(schema) ?? 0
  if (type === 'boolean') return isWhole
  return type === 'array' ? listSample(schema, sampling, depth) : null
}

/**
 * A value of the first kind that has a valid one; deep in a value, where kinds may refer to
 * themselves, of a simple kind.
 */
function unionSample(
  schema: JsonSchema,
  variants: readonly JsonSchema[],
  sampling: Sampling,
  depth: number,
): unknown {
  const { anyOf: _, oneOf: __, ...about } = schema
  const sample = (variant: JsonSchema) => sampleOf(joined(about, variant), sampling, depth + 1)
  if (depth > wholeDepth) return sample(variants.find(isSimple) ?? variants[0])
  for (const variant of variants) {
    const value = sample(variant)
    if (faultIn(value, schema, sampling.document) === undefined) return value
  }
  return sample(variants[0])
}

function isSimple(schema: JsonSchema): boolean {
  return (
    !hasMembers(schema) && ['string', 'number', 'integer', 'boolean'].includes(String(schema.type))
  )
}

function objectSample(
  schema: JsonSchema,
  sampling: Sampling,
  depth: number,
): Record<string, unknown> {
  const { document, isWhole } = sampling
  const { additionalProperties: others, required = [], minProperties = 0 } = schema
  const sample = (each: unknown) => (depth > 20 ? null : sampleOf(each, sampling, depth + 1))
  const members = membersIn(schema).flatMap(({ name, isRequired, schema: each }) => {
    const isShown = isRequired || resolved(each, document).default !== undefined
    if (!isShown && !(isWhole && depth < wholeDepth)) return []
    const value = sample(each)
    return isShown || faultIn(value, each, document) === undefined ? [[name, value] as const] : []
  })
  const names = new Set(members.map(([name]) => name))
  const more = (required as readonly string[]).filter((name) => !names.has(name))
  for (let i = 1; more.length + members.length < Number(minProperties); i++) more.push(`key${i}`)
  return Object.fromEntries([...members, ...more.map((name) => [name, sample(others)])])
}

function listSample(schema: JsonSchema, sampling: Sampling, depth: number): unknown[] {
  const { items, prefixItems, minItems = 0 } = schema
  const first = Array.isArray(prefixItems) ? prefixItems : []
  const sample = (each: unknown) => (depth > 20 ? null : sampleOf(each, sampling, depth + 1))
  const listOf = (count: number) => {
    const rest = new Array(Math.min(maxItems, Math.max(0, count - first.length))).fill(items)
    return [...first, ...rest].map(sample)
  }
  const least = listOf(Number(minItems))
  if (!sampling.isWhole || depth >= wholeDepth || least.length > 0) return least
  const whole = listOf(1)
  return faultIn(whole, schema, sampling.document) === undefined ? whole : least
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
    if (first !== undefined) return { ...first, isInner: true }
  }
  for (const [path, each, rules] of partsOf(value, schema)) {
    const fault = inner(each, rules)
    if (fault !== undefined) return { ...fault, path: path + fault.path, isInner: true }
  }
  return undefined
}

/** What a value lacks, its items and members apart. */
function ownFault(value: unknown, schema: JsonSchema): string | undefined {
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

function listFault(items: readonly unknown[], schema: JsonSchema): string | undefined {
  const { prefixItems, items: rest, minItems, maxItems, uniqueItems } = schema
  const { length: most } = Array.isArray(prefixItems) ? prefixItems : []
  if (items.length < Number(minItems ?? 0)) return `at least ${minItems} items`
  if (items.length > Number(maxItems ?? items.length)) return `at most ${maxItems} items`
  if (rest === false && items.length > most) return `at most ${most} items`
  const texts = new Set(items.map((item) => JSON.stringify(item)))
  return uniqueItems === true && texts.size < items.length ? 'items that differ' : undefined
}

function objectFault(names: readonly string[], schema: JsonSchema): string | undefined {
  const { required = [], minProperties, maxProperties } = schema
  const missing = (required as readonly string[]).find((name) => !names.includes(name))
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
    const first = Array.isArray(prefixItems) ? prefixItems : []
    return value.map((item, i) => [`[${i}]`, item, first[i] ?? items] as const)
  }
  const known = new Map(Object.entries(Object(properties)))
  const patterns = Object.entries(Object(patternProperties))
  return Object.entries(Object(value)).flatMap(([name, member]) => {
    const rules = patterns.filter(([pattern]) => textFault({ pattern }, name) === undefined)
    const all = [...(known.has(name) ? [known.get(name)] : []), ...rules.map(([, rule]) => rule)]
    return (all.length > 0 ? all : [additionalProperties]).map(
      (each) => [`.${name}`, member, each] as const,
    )
  })
}
