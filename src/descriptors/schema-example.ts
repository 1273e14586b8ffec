import { isRecord } from '../core/options.ts'
import { numberSample, textSample } from '../core/text/text-sample.ts'
import { attempt, type JsonSchema } from './description.ts'

// Below this level optional members and elements of lists are left out, so that recursive schemas end.
const maxLevel = 4
const maxDepth = 32
const maxItems = 64

/**
 * A check that JSON Schema cannot state may refuse it.
 *
 * @returns a value that should fit, or undefined.
 */
export function exampleFor(schema: JsonSchema): unknown {
  return attempt(() => build(schema, schema, 0))
}

/** Ends the search if a schema is too deep or has an unsupported keyword. */
function giveUp(): never {
  throw new Error('no example found')
}

function build(schema: unknown, root: JsonSchema, level: number): unknown {
  if (level > maxDepth) giveUp()
  if (typeof schema !== 'object' || schema === null) return null
  const own = schema as JsonSchema
  const { examples, enum: choices, $ref, type } = own
  if (Array.isArray(examples) && examples.length > 0) return examples[0]
  for (const keyword of ['example', 'default', 'const'])
    if (Object.hasOwn(own, keyword)) return own[keyword]
  if (Array.isArray(choices)) return choices[0]
  if (typeof $ref === 'string') return build(resolve($ref, root), root, level + 1)
  for (const choice of [own.anyOf, own.oneOf])
    if (Array.isArray(choice)) return build(choice[0], root, level)
  if (Array.isArray(own.allOf)) {
    const all = own.allOf.map((each) => build(each, root, level))
    return all.every(isRecord) ? Object.assign({}, ...all) : all[0]
  }
  switch (Array.isArray(type) ? type[0] : type) {
    case 'object':
      return buildObject(own, root, level)
    case 'array':
      return buildList(own, root, level)
    case 'string':
      return textSample(own) ?? giveUp()
    case 'integer':
    case 'number':
      return numberSample(own) ?? giveUp()
    case 'boolean':
      return true
    default:
      return isRecord(own.properties) ? buildObject(own, root, level) : null
  }
}

function buildObject(
  { properties, required }: JsonSchema,
  root: JsonSchema,
  level: number,
): Record<string, unknown> {
  const needed = new Set(Array.isArray(required) ? required : [])
  const members = Object.entries(isRecord(properties) ? properties : {})
  const shown = members.filter(([name]) => level < maxLevel || needed.has(name))
  return Object.fromEntries(shown.map(([name, member]) => [name, build(member, root, level + 1)]))
}

function buildList(
  { items, prefixItems, minItems, uniqueItems }: JsonSchema,
  root: JsonSchema,
  level: number,
): unknown[] {
  const first = Array.isArray(prefixItems) ? prefixItems : []
  const count = numberOf(minItems) ?? (level < maxLevel ? 1 : 0)
  if (count > maxItems || (uniqueItems === true && count > 1)) giveUp()
  const rest = isRecord(items) ? new Array(Math.max(0, count - first.length)).fill(items) : []
  return [...first, ...rest].map((item) => build(item, root, level + 1))
}

function resolve(ref: string, root: JsonSchema): unknown {
  if (ref === '#') return root
  if (!ref.startsWith('#/')) return undefined
  let target: unknown = root
  for (const part of ref.slice(2).split('/')) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
    target = isRecord(target) ? target[key] : undefined
  }
  return target
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}
