import { isRecord, recordOf } from '../../core/options.ts'
import type { JsonSchema } from '../../descriptors/description.ts'

const base = '#/components/schemas/'

const dataKeywords: ReadonlySet<string> = new Set([
  'const',
  'enum',
  'default',
  'example',
  'examples',
])
const mapKeywords: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  '$defs',
])

/**
 * Collects schemas under unique names. The references of a descriptor's JSON Schema are relative to its own root. So
 * its `$defs` become components, and so does the schema itself if it refers to its root.
 */
export class Components {
  readonly #schemas = new Map<string, JsonSchema>()
  /** What each name stands for: two schemas of one name and meaning are one component. */
  readonly #meanings = new Map<string, string>()

  get schemas(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries(this.#schemas)
  }

  /** Adds a schema without references, and returns a reference to it. */
  add(name: string, schema: JsonSchema): JsonSchema {
    this.#schemas.set(name, schema)
    this.#meanings.set(name, JSON.stringify(schema))
    return { $ref: base + name }
  }

  /**
   * `name` is its own, and tells apart equal ones.
   *
   * @returns a schema whose references point into this document.
   */
  adopt(schema: JsonSchema, name: string): JsonSchema {
    const { $defs, ...body } = schema
    const defs = Object.entries(recordOf($defs)) as [string, JsonSchema][]
    const all = new Map<string, JsonSchema>([['#', body], ...defs])
    const names = new Map<string, string>()
    const used = reachable('#', all)
    const isRecursive = [...used].some((key) => targetsIn(all.get(key)).includes('#'))
    for (const key of used) {
      if (key === '#' && !isRecursive) continue
      const meaning = JSON.stringify(
        [...reachable(key, all)].sort().map((each) => [each, all.get(each)]),
      )
      names.set(key, nameFor(meaning, this.#meanings, ...preferredNames(key, name)))
    }
    const rename = (ref: string) => {
      const { key = '', rest } = parseRef(ref)
      const component = names.get(key)
      if (component === undefined) return ref
      return base + component + rest
    }
    for (const [key, component] of names) {
      if (this.#schemas.has(component)) continue
      this.#schemas.set(component, rewrite(all.get(key), rename) as JsonSchema)
    }
    const own = names.get('#')
    if (own === undefined) return rewrite(body, rename) as JsonSchema
    return { $ref: base + own }
  }
}

/**
 * Takes the first of the names, or of numbered ones, that no other meaning has.
 *
 * @returns that name.
 */
export function nameFor(
  meaning: string,
  meanings: Map<string, string>,
  ...names: readonly string[]
): string {
  for (let i = 0; ; i++) {
    const name = names[i] ?? `${names[0]}_${i + 1}`
    const there = meanings.get(name)
    if (there !== undefined && there !== meaning) continue
    meanings.set(name, meaning)
    return name
  }
}

/** @returns the names wanted for a part of a schema; zod calls those without a name __schema0, __schema1, … */
function preferredNames(key: string, owner: string): readonly string[] {
  const own = key.startsWith('__') ? `${owner}_${key.replace(/^_+/, '')}` : key
  const names = key === '#' ? [owner] : [own, `${owner}_${own}`]
  return names.map((name) => name.replace(/[^A-Za-z0-9._-]/g, '_'))
}

/**
 * @returns which schema a reference points to, and where in it; `key` is undefined for another
 * document.
 */
function parseRef(ref: string) {
  const [, name, rest = ''] = /^#\/\$defs\/([^/]+)(.*)$/.exec(ref) ?? []
  if (name !== undefined)
    return { key: decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~'), rest }
  if (ref.startsWith('#')) return { key: '#', rest: ref.slice(1) }
  return { key: undefined, rest }
}

function reachable(from: string, all: ReadonlyMap<string, JsonSchema>): Set<string> {
  const seen = new Set([from])
  for (const key of seen)
    for (const target of targetsIn(all.get(key))) if (all.has(target)) seen.add(target)
  return seen
}

function targetsIn(schema: JsonSchema | undefined): readonly string[] {
  const targets: string[] = []
  rewrite(schema, (ref) => {
    const { key } = parseRef(ref)
    if (key !== undefined) targets.push(key)
    return ref
  })
  return targets
}

/**
 * Beside a reference, many tools do not read them.
 *
 * @returns a schema with more keywords.
 */
export function extended(schema: JsonSchema, more: JsonSchema): JsonSchema {
  const isBare = !('$ref' in schema) || Object.keys(more).length === 0
  if (isBare) return { ...schema, ...more }
  return { allOf: [schema], ...more }
}

/** Gives integers beyond 32 bits the format by which generators choose a type that holds them. */
function wide(schema: Readonly<Record<string, unknown>>): object {
  const { type, format, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema
  const isInteger = [type].flat().includes('integer') && format === undefined
  const bounds = [minimum, maximum, exclusiveMinimum, exclusiveMaximum]
  const isWide = bounds.some(
    (bound) => typeof bound === 'number' && (bound < -(2 ** 31) || bound >= 2 ** 31),
  )
  if (isInteger && isWide) return { format: 'int64' }
  return {}
}

function rewrite(schema: unknown, rename: (ref: string) => string): unknown {
  if (Array.isArray(schema)) return schema.map((each) => rewrite(each, rename))
  if (!isRecord(schema)) return schema
  const entries = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    if (keyword === '$ref' && typeof value === 'string') return [keyword, rename(value)]
    if (dataKeywords.has(keyword)) return [keyword, value]
    if (!mapKeywords.has(keyword) || !isRecord(value)) return [keyword, rewrite(value, rename)]
    return [
      keyword,
      Object.fromEntries(
        Object.entries(value).map(([name, each]) => [name, rewrite(each, rename)]),
      ),
    ]
  })
  const { $ref, ...others } = Object.fromEntries([...entries, ...Object.entries(wide(schema))])
  if ($ref === undefined) return others
  return extended({ $ref }, others)
}
