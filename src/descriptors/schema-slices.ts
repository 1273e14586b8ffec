/**
 * Validation of large values by a schema, in slices.
 *
 * A schema of the Standard Schema interface checks a value in one call, and one that refuses millions of elements makes
 * an issue of each: 4 to 16 µs and half a kilobyte with zod 4.6. So lists are taken out of the value, their elements
 * are checked one by one with turns of the event loop between them, and after 64 issues no more is checked. Which lists
 * a schema checks element by element is known of zod alone; what else is large is checked at once up to a limit. The
 * only file that imports
 * @standard-schema/spec.
 * @module
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { PayloadTooLarge } from '../errors.ts'
import { Turn } from '../memory/slices.ts'
import { isPromise } from '../promise.ts'

export type { StandardSchemaV1 } from '@standard-schema/spec'

type Result = StandardSchemaV1.Result<unknown>
type Issue = StandardSchemaV1.Issue

/** Issues after which nothing more is checked. */
export const maxIssues = 64

// Values that are checked at once without a look at their schema: some 10 ms when zod refuses all of them.
const leafValues = 1024
// Shorter lists stay in the value.
const shortList = 64

/** Whether a value is so large that it should be checked by {@link validateInSlices}. */
export function isLargeValue(value: unknown): boolean {
  return typeof value === 'object' && value !== null && countValues(value, leafValues) > leafValues
}

/**
 * Checks a large value by a schema.
 * **Errors**: PayloadTooLarge for more than `maxAtOnce` values that the schema has to check at once; the signal's
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
  const lists: TakenList[] = []
  const rest = takeLists(schema, value, [], lists)
  const { name, maxAtOnce, turn } = work
  if (countValues(rest, maxAtOnce) > maxAtOnce) {
    throw new PayloadTooLarge(
      `expected at most ${maxAtOnce} values that the schema for ${name} has to check at once (maxValues), ` +
        'received more',
    )
  }
  const result = await schema['~standard'].validate(rest)
  if (result.issues !== undefined) return { issues: result.issues.slice(0, maxIssues) }
  const issues: Issue[] = []
  for (const { element, path, values, start } of lists) {
    const checked = path.reduce<unknown>(
      (outer, key) => (outer as Record<string, unknown>)[key],
      result.value,
    ) as unknown[]
    for (let i = start; i < values.length; i++) {
      const answer = isLargeValue(values[i])
        ? validate(element, values[i], work)
        : element['~standard'].validate(values[i])
      const own = isPromise(answer) ? await answer : answer
      if (own.issues === undefined) checked.push(own.value)
      else for (const issue of own.issues) issues.push({ ...issue, path: [...path, i, ...(issue.path ?? [])] })
      if (issues.length >= maxIssues) return { issues: issues.slice(0, maxIssues) }
      if (turn.isOver) await turn.next()
    }
  }
  return issues.length > 0 ? { issues } : result
}

/** A list whose elements from `start` on are not in the value that the schema is given. */
interface TakenList {
  readonly path: readonly string[]
  readonly element: StandardSchemaV1
  readonly values: readonly unknown[]
  readonly start: number
}

/** Returns the value without the elements of lists that can be checked one by one; `lists` gets those. */
function takeLists(schema: StandardSchemaV1, value: unknown, path: readonly string[], lists: TakenList[]): unknown {
  const plain = unwrap(schema, value)
  if (Array.isArray(value)) {
    const list = listOf(plain)
    if (list === undefined || value.length > list.max || value.length <= Math.max(shortList, list.min)) return value
    lists.push({ path, element: list.element, values: value, start: list.min })
    return value.slice(0, list.min)
  }
  const shape = shapeOf(plain)
  if (shape === undefined || typeof value !== 'object' || value === null) return value
  const rest: Record<string, unknown> = { ...value }
  for (const key of Object.keys(shape)) {
    if (Object.hasOwn(value, key)) rest[key] = takeLists(shape[key], rest[key], [...path, key], lists)
  }
  return rest
}

/** What zod 4 keeps of a schema. **Source**: zod's `_zod.def`, documented at zod.dev/library-authors. */
interface ZodDefinition {
  readonly type: string
  readonly checks?: readonly { readonly _zod: { readonly def: ZodCheck } }[]
  readonly element?: StandardSchemaV1
  readonly shape?: Readonly<Record<string, StandardSchemaV1>>
  readonly innerType?: StandardSchemaV1
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

/** The schema inside of optional, nullable and default ones, where the value is given. */
function unwrap(schema: StandardSchemaV1, value: unknown): ZodDefinition | undefined {
  const definition = definitionOf(schema)
  const isWrapper = definition !== undefined && ['optional', 'nullable', 'default'].includes(definition.type)
  if (!isWrapper || definition.innerType === undefined || value === undefined || value === null) return definition
  return unwrap(definition.innerType, value)
}

/** The elements of a list whose only own checks are of its length. */
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

/** The members of an object without checks of its own. */
function shapeOf(definition: ZodDefinition | undefined): ZodDefinition['shape'] {
  const isPlain = definition?.type === 'object' && (definition.checks ?? []).length === 0
  return isPlain ? definition.shape : undefined
}

/** Number of values in a value, counted no further than just above `limit`. */
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
