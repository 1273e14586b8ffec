/**
 * Validation of large values by a schema, in slices.
 *
 * A Standard Schema checks a value in one call, and a schema that refuses millions of elements creates an issue for
 * each: 4 to 16 µs and half a kilobyte with zod 4.6. Lists and records are taken out of the value and their elements
 * checked one by one, with turns of the event loop in between; checking stops after 64 issues. Only of zod is it known
 * which lists a schema checks element by element; other large values are checked in one call, up to a limit.
 * @module
 */
import { PayloadTooLarge } from '../core/errors.ts'
import { Turn } from '../core/memory/slices.ts'
import { isPromise } from '../core/promise.ts'
import { runSchema, type StandardSchemaV1 } from './run-schema.ts'

export type { StandardJSONSchemaV1, StandardSchemaV1 } from './run-schema.ts'

type Result = StandardSchemaV1.Result<unknown>
type Issue = StandardSchemaV1.Issue

/** Number of issues after which checking stops. */
export const maxIssues = 64

// Values up to this size are checked in one call, whatever their schema: some 10 ms if zod refuses all of them.
const leafValues = 1024
// Lists up to this length stay in the value.
const shortList = 64

/** Whether a value is large enough to be checked by {@link validateInSlices}. */
export function isLargeValue(value: unknown): boolean {
  return typeof value === 'object' && value !== null && countValues(value, leafValues) > leafValues
}

/**
 * Checks a large value by a schema.
 * **Errors**: PayloadTooLarge for more than `maxAtOnce` values that the schema has to check in one call; the signal's
 * reason.
 */
export async function validateInSlices(
  schema: StandardSchemaV1,
  value: unknown,
  name: string,
  maxAtOnce: number,
  signal?: AbortSignal,
): Promise<Result> {
  const turn = new Turn(signal)
  return validate(schema, value, { name, maxAtOnce, turn })
}

interface Work {
  readonly name: string
  readonly maxAtOnce: number
  readonly turn: Turn
}

async function validate(schema: StandardSchemaV1, value: unknown, work: Work): Promise<Result> {
  const taken: TakenElements[] = []
  const rest = takeElements(schema, value, [], taken)
  const { name, maxAtOnce, turn } = work
  // Without a limit not counted: a value of the function's may have a cycle.
  if (maxAtOnce !== Number.POSITIVE_INFINITY && countValues(rest, maxAtOnce) > maxAtOnce) {
    throw new PayloadTooLarge(
      `expected at most ${maxAtOnce} values that the schema for ${name} has to check at once (maxValues), ` +
        'received more',
    )
  }
  const result = await runSchema(schema, rest)
  if (result.issues !== undefined) return { issues: result.issues.slice(0, maxIssues) }
  const issues: Issue[] = []
  for (const { element, path, values, keys, start } of taken) {
    const checked = path.reduce<unknown>(
      (outer, key) => (outer as Record<string, unknown>)[key],
      result.value,
    ) as Members
    for (let i = start; i < (keys ?? values).length; i++) {
      const key = keys?.[i] ?? i
      const inner = values[key]
      const answer = isLargeValue(inner) ? validate(element, inner, work) : runSchema(element, inner)
      const own = isPromise(answer) ? await answer : answer
      if (own.issues === undefined) checked[key] = own.value
      else for (const issue of own.issues) issues.push({ ...issue, path: [...path, key, ...(issue.path ?? [])] })
      if (issues.length >= maxIssues) return { issues: issues.slice(0, maxIssues) }
      if (turn.isOver) await turn.next()
    }
  }
  return issues.length > 0 ? { issues } : result
}

/** A list or a record. */
type Members = Record<string | number, unknown> & { readonly length: number }

/** A list or a record whose elements from `start` on were taken out of the value that the schema checks. */
interface TakenElements {
  readonly path: readonly string[]
  readonly element: StandardSchemaV1
  readonly values: Members
  /** Those of a record. */
  readonly keys?: readonly string[]
  readonly start: number
}

/** Returns the value without the elements that can be checked one by one, and adds those to `taken`. */
function takeElements(
  schema: StandardSchemaV1,
  value: unknown,
  path: readonly string[],
  taken: TakenElements[],
): unknown {
  const plain = unwrap(schema, value)
  if (Array.isArray(value)) {
    const list = listOf(plain)
    if (list === undefined || value.length > list.max || value.length <= Math.max(shortList, list.min)) return value
    taken.push({ path, element: list.element, values: value as unknown as Members, start: list.min })
    return value.slice(0, list.min)
  }
  if (typeof value !== 'object' || value === null) return value
  const element = recordOf(plain)
  if (element !== undefined) {
    const keys = keysOfRecord(value)
    if (keys === undefined || keys.length <= shortList) return value
    taken.push({ path, element, values: value as Members, keys, start: 0 })
    return {}
  }
  const shape = shapeOf(plain)
  if (shape === undefined) return value
  const rest: Record<string, unknown> = { ...value }
  for (const key of Object.keys(shape)) {
    if (Object.hasOwn(value, key)) rest[key] = takeElements(shape[key], rest[key], [...path, key], taken)
  }
  return rest
}

/** Returns the keys of an object that has nothing that zod treats apart; undefined for any other. */
function keysOfRecord(value: object): readonly string[] | undefined {
  const prototype = Object.getPrototypeOf(value)
  const isPlain = prototype === Object.prototype || prototype === null
  if (!isPlain || Object.hasOwn(value, '__proto__') || Object.getOwnPropertySymbols(value).length > 0) return undefined
  return Object.keys(value)
}

/** The part of zod 4's schema definition that is read here. **Source**: `_zod.def`, see zod.dev/library-authors. */
interface ZodDefinition {
  readonly type: string
  readonly checks?: readonly { readonly _zod: { readonly def: ZodCheck } }[]
  readonly element?: StandardSchemaV1
  readonly shape?: Readonly<Record<string, StandardSchemaV1>>
  readonly innerType?: StandardSchemaV1
  readonly keyType?: StandardSchemaV1
  readonly valueType?: StandardSchemaV1
  readonly coerce?: boolean
  readonly format?: string
}

interface ZodCheck {
  readonly check: string
  readonly minimum?: number
  readonly maximum?: number
}

function definitionOf(schema: StandardSchemaV1): ZodDefinition | undefined {
  if (schema['~standard'].vendor !== 'zod') return undefined
  return (schema as { readonly _zod?: { readonly def?: ZodDefinition } })._zod?.def
}

/** Returns the definition inside optional, nullable and default schemas if there is a value. */
function unwrap(schema: StandardSchemaV1, value: unknown): ZodDefinition | undefined {
  const definition = definitionOf(schema)
  const isWrapper = definition !== undefined && ['optional', 'nullable', 'default'].includes(definition.type)
  if (!isWrapper || definition.innerType === undefined || value === undefined || value === null) return definition
  return unwrap(definition.innerType, value)
}

/** Returns the element schema and the length limits of a list schema; undefined if it has other checks. */
function listOf(definition: ZodDefinition | undefined) {
  if (definition?.type !== 'array' || definition.element === undefined) return undefined
  let min = 0
  let max = Number.POSITIVE_INFINITY
  for (const { _zod } of definition.checks ?? []) {
    const { check, minimum, maximum } = _zod.def
    if (check === 'min_length' && minimum !== undefined) min = Math.max(min, minimum)
    else if (check === 'max_length' && maximum !== undefined) max = Math.min(max, maximum)
    else return undefined
  }
  return { element: definition.element, min, max }
}

/** Returns the element schema of a record of any strings; undefined if it has other checks. */
function recordOf(definition: ZodDefinition | undefined): StandardSchemaV1 | undefined {
  if (definition?.type !== 'record' || (definition.checks ?? []).length > 0) return undefined
  const key = definition.keyType && definitionOf(definition.keyType)
  if (key?.type !== 'string' || key.format !== undefined || key.coerce || (key.checks ?? []).length > 0)
    return undefined
  return definition.valueType
}

/** Returns the member schemas of an object schema; undefined if it has checks of its own. */
function shapeOf(definition: ZodDefinition | undefined): ZodDefinition['shape'] {
  const isPlain = definition?.type === 'object' && (definition.checks ?? []).length === 0
  return isPlain ? definition.shape : undefined
}

/** Counts the values in a value; stops just above `limit`. */
function countValues(value: unknown, limit: number): number {
  let count = 1
  const open: unknown[] = [value]
  const add = (inner: unknown) => {
    count++
    if (typeof inner === 'object' && inner !== null) open.push(inner)
  }
  for (let next = open.pop(); next !== undefined && count <= limit; next = open.pop()) {
    if (Array.isArray(next)) {
      for (let i = 0; i < next.length && count <= limit; i++) add(next[i])
    } else {
      for (const key in next as object) {
        add((next as Record<string, unknown>)[key])
        if (count > limit) break
      }
    }
  }
  return count
}
