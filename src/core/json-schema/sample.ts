/** Values that fit a JSON Schema. The page has it, too. @module */
import { numberSample, textSample } from '../text/text-sample.ts'
import { faultIn } from './fault.ts'
import {
  hasMembers,
  type JsonSchema,
  joined,
  listOf,
  membersIn,
  resolved,
  shapeOf,
} from './shape.ts'

/** What the samples of one value share. */
interface Sampling {
  /** What references lead into. */
  readonly document: unknown
  /** Whether optional members are shown, and an item of each list. */
  readonly isWhole: boolean
}

// Below this level a whole sample has what it must have alone, so that recursive schemas end.
const wholeDepth = 4
const maxDepth = 21
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
  if (faultIn(value, schema, schema) === undefined) return value
  return undefined
}

function sampleOf(given: unknown, sampling: Sampling, depth: number): unknown {
  if (depth > maxDepth) return null
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
  if (type === 'array') return listSample(schema, sampling, depth)
  return null
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
  const sample = (each: unknown) => sampleOf(each, sampling, depth + 1)
  const members = membersIn(schema).flatMap(({ name, isRequired, schema: each }) => {
    const isShown = isRequired || resolved(each, document).default !== undefined
    if (!isShown && !(isWhole && depth < wholeDepth)) return []
    const value = sample(each)
    if (isShown || faultIn(value, each, document) === undefined) return [[name, value] as const]
    return []
  })
  const names = new Set(members.map(([name]) => name))
  const more = (required as readonly string[]).filter((name) => !names.has(name))
  for (let i = 1; more.length + members.length < Number(minProperties); i++) more.push(`key${i}`)
  return Object.fromEntries([...members, ...more.map((name) => [name, sample(others)])])
}

function listSample(schema: JsonSchema, sampling: Sampling, depth: number): unknown[] {
  const { items, prefixItems, minItems = 0 } = schema
  const first = listOf(prefixItems)
  const sample = (each: unknown) => sampleOf(each, sampling, depth + 1)
  const itemsOf = (count: number) => {
    const rest = new Array(Math.min(maxItems, Math.max(0, count - first.length))).fill(items)
    return [...first, ...rest].map(sample)
  }
  const least = itemsOf(Number(minItems))
  if (!sampling.isWhole || depth >= wholeDepth || least.length > 0) return least
  const whole = itemsOf(1)
  if (faultIn(whole, schema, sampling.document) === undefined) return whole
  return least
}
