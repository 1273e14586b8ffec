import { isRecord } from '../core/options.ts'
import { attempt, type JsonSchema } from './description.ts'

// Below this level optional members and elements of lists are left out, so that recursive schemas end.
const maxLevel = 4
const maxDepth = 32
const maxItems = 64

const texts: Readonly<Record<string, string>> = {
  'date-time': '2024-01-31T12:00:00Z',
  date: '2024-01-31',
  time: '12:00:00Z',
  duration: 'PT1H',
  email: 'someone@example.com',
  uri: 'https://example.com/',
  uuid: '3fa85f64-5717-4562-b3fc-2c963f66afa6',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  hostname: 'example.com',
}

/** Returns a value that should fit, or undefined. A check that JSON Schema cannot state may refuse it. */
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
  for (const keyword of ['example', 'default', 'const']) if (Object.hasOwn(own, keyword)) return own[keyword]
  if (Array.isArray(choices)) return choices[0]
  if (typeof $ref === 'string') return build(resolve($ref, root), root, level + 1)
  for (const choice of [own.anyOf, own.oneOf]) if (Array.isArray(choice)) return build(choice[0], root, level)
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
      return buildText(own)
    case 'integer':
    case 'number':
      return buildNumber(own)
    case 'boolean':
      return true
    default:
      return isRecord(own.properties) ? buildObject(own, root, level) : null
  }
}

function buildText({ format, minLength, maxLength, pattern }: JsonSchema): string {
  const max = numberOf(maxLength) ?? Number.POSITIVE_INFINITY
  const text = texts[String(format)] ?? 'text'.padEnd(numberOf(minLength) ?? 0, 'x').slice(0, max)
  return typeof pattern === 'string' && !new RegExp(pattern, 'u').test(text) ? giveUp() : text
}

function buildObject({ properties, required }: JsonSchema, root: JsonSchema, level: number): Record<string, unknown> {
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

function buildNumber(schema: JsonSchema): number {
  const min = numberOf(schema.minimum)
  const above = numberOf(schema.exclusiveMinimum)
  const max = numberOf(schema.maximum)
  const step = numberOf(schema.multipleOf)
  // The bounds of `z.int()` are no useful example.
  const bound = above !== undefined ? above + 1 : min
  const start = bound === undefined || bound < 0 ? Math.min(1, max ?? 1) : bound
  const value = step === undefined ? start : Math.ceil(start / step) * step
  const below = numberOf(schema.exclusiveMaximum)
  const fits = value <= (max ?? value) && (below === undefined || value < below)
  return fits ? value : giveUp()
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
