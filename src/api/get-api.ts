import { BadInput, expected } from '../core/errors.ts'
import { type MaybePromise, whenReady } from '../core/promise.ts'
import type { AnyDescriptor, Returned } from '../descriptors/descriptor.ts'
import { checkSchema, runSchema, type StandardSchemaV1 } from '../descriptors/run-schema.ts'
import { schemaError } from '../descriptors/schema-error.ts'
import { jsonSchemaOf } from '../descriptors/standard-json-schema.ts'
import type { Context } from '../http/context.ts'
import { type Api, type ApiOptions, parseFunction, parseRoute } from './api.ts'
import type { HookOptions } from './hooks.ts'

/** The parameters of a query; a list if a name repeats. */
export type QueryRecord = Readonly<Record<string, string | readonly string[]>>

/** How a function that answers GET is registered. */
export interface GetOptions<O extends AnyDescriptor, Q extends StandardSchemaV1 | undefined = undefined>
  extends HookOptions,
    Pick<ApiOptions<AnyDescriptor, O>, 'output' | 'name' | 'doc' | 'auth' | 'maxInFlight'> {
  /** A Standard Schema of the {@link QueryRecord}; its output is the function's input. */
  readonly query?: Q
}

/** The function's input: the schema's output. */
export type QueryOf<Q> = Q extends StandardSchemaV1<unknown, infer Out> ? Out : QueryRecord

/** A function that answers GET. */
export type GetFunction<O, Q> = (query: QueryOf<Q>, ctx: Context) => MaybePromise<Returned<O>>

/** A registered function that answers GET. */
export interface GetApi extends Pick<Api, 'name' | 'route' | 'doc' | 'output' | 'auth' | 'hooks' | 'slots'> {
  readonly query: StandardSchemaV1 | undefined
  /** Parameters that the schema takes as lists, even of one. */
  readonly lists: readonly string[]
  readonly fn: (query: unknown, ctx: Context) => unknown
}

/** **Errors**: InvalidArgument that names the mistake. */
export function createGetApi(
  route: string,
  options: GetOptions<AnyDescriptor, StandardSchemaV1 | undefined>,
  fn: GetApi['fn'],
): GetApi {
  const path = parseRoute(route)
  const common = parseFunction('svc.get', options, fn, path, ['query'])
  const { query } = options
  checkSchema(query, `query of ${common.name}`)
  return { ...common, route: path, query, lists: query === undefined ? [] : listsOf(query) }
}

/** Returns the list parameters of a query's JSON Schema, if its library has one. */
function listsOf(query: StandardSchemaV1): string[] {
  const { properties = {} } = jsonSchemaOf(query, 'input') as { readonly properties?: Record<string, unknown> }
  const typeOf = (property: unknown) => (property as { readonly type?: unknown } | null)?.type
  return Object.keys(properties).filter((name) => typeOf(properties[name]) === 'array')
}

/** **Errors**: BadInput `schema` with the parameter's name. */
export function readQuery({ query, lists }: GetApi, params: URLSearchParams): MaybePromise<unknown> {
  const record = recordOf(params)
  if (query === undefined) return record
  for (const name of lists) {
    const value = record[name]
    if (typeof value === 'string') record[name] = [value]
  }
  return whenReady(runSchema(query, record), (result) => {
    if (result.issues !== undefined) throw schemaError(result.issues, 'the query')
    return result.value
  })
}

const maxParams = 1000

function recordOf(params: URLSearchParams): Record<string, string | string[]> {
  if (params.size > maxParams)
    throw new BadInput(expected(`at most ${maxParams} parameters`, 'the query', params.size), { reason: 'size' })
  // No prototype: a parameter may have any name.
  const record: Record<string, string | string[]> = Object.create(null)
  for (const [name, value] of params) {
    const there = record[name]
    if (there === undefined) record[name] = value
    else if (typeof there === 'string') record[name] = [there, value]
    else there.push(value)
  }
  return record
}
