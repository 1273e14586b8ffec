/**
 * Runs schemas. zod drops the promise of an asynchronous check in a synchronous run: its rejection would end the
 * process. So schemas of zod with such checks are run by `safeParseAsync`. @module
 */

import type { StandardSchemaV1 } from '@standard-schema/spec'
import { checkThat } from '../core/options.ts'
import { isPromise, type MaybePromise } from '../core/promise.ts'

export type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'

type Result = StandardSchemaV1.Result<unknown>

interface ZodSchema {
  safeParseAsync(
    value: unknown,
  ): Promise<{ readonly data?: unknown; readonly error?: StandardSchemaV1.FailureResult }>
}

/**
 * Checks an optional schema.
 *
 * @throws InvalidArgument.
 */
export function checkSchema(schema: StandardSchemaV1 | undefined, option: string): void {
  const isSchema = typeof schema?.['~standard']?.validate === 'function'
  checkThat(schema === undefined || isSchema, 'a Standard Schema object', option, schema)
}

const asynchronous = new WeakMap<StandardSchemaV1, boolean>()

/** @throws throws or rejects with what a function of the schema throws. */
export function runSchema(schema: StandardSchemaV1, value: unknown): MaybePromise<Result> {
  let isAsync = asynchronous.get(schema)
  if (isAsync === undefined) {
    isAsync = isZod(schema) && callsAsync(schema, new Set())
    asynchronous.set(schema, isAsync)
  }
  if (isAsync) {
    const parsed = (schema as unknown as ZodSchema).safeParseAsync(value)
    return parsed.then(({ data, error }) =>
      error === undefined ? { value: data } : { issues: error.issues },
    )
  }
  const answer = schema['~standard'].validate(value)
  // Asynchronous by a function that does not look so.
  if (isPromise(answer) && isZod(schema)) asynchronous.set(schema, true)
  return answer
}

function isZod(schema: StandardSchemaV1): boolean {
  return (
    schema['~standard'].vendor === 'zod' &&
    typeof (schema as Partial<ZodSchema>).safeParseAsync === 'function'
  )
}

/** Whether a definition of zod has an async function anywhere. */
function callsAsync(node: unknown, seen: Set<unknown>): boolean {
  if (typeof node === 'function') return node.constructor.name === 'AsyncFunction'
  if (typeof node !== 'object' || node === null || seen.has(node)) return false
  seen.add(node)
  const { _zod } = node as { readonly _zod?: { readonly def?: unknown } }
  if (_zod !== undefined) return callsAsync(_zod.def, seen)
  const isData = Array.isArray(node) || Object.getPrototypeOf(node) === Object.prototype
  return isData && Object.values(node).some((each) => callsAsync(each, seen))
}
