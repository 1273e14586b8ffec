import { BadInput, expected, InternalError } from '../core/errors.ts'
import { type MaybePromise, whenReady } from '../core/promise.ts'
import type { Formats } from '../descriptors/description.ts'
import { IODescriptor } from '../descriptors/descriptor.ts'
import { checkSchema, runSchema, type StandardSchemaV1 } from '../descriptors/run-schema.ts'
import { schemaError } from '../descriptors/schema-error.ts'
import { jsonSchemaOf } from '../descriptors/standard-json-schema.ts'
import type { Context } from '../http/context.ts'
import type { HttpRequest } from '../http/message.ts'

/** The parameters of a query; a list if a name repeats. */
export type QueryRecord = Readonly<Record<string, string | readonly string[]>>

/** The function's input: the schema's output. */
export type QueryOf<Q> = Q extends StandardSchemaV1<unknown, infer Out> ? Out : QueryRecord

/** The input of functions that answer GET and DELETE: the query of the URL, as its schema makes it. */
export class Query<Q extends StandardSchemaV1 | undefined = undefined> extends IODescriptor<
  QueryOf<Q>,
  never
> {
  override readonly readsHeaders: readonly string[] = []
  readonly mimeType = 'application/x-www-form-urlencoded'
  readonly schema: Q
  /** Parameters that the schema takes as lists, even of one. */
  readonly #lists: readonly string[]

  /** @throws InvalidArgument if `schema` is no Standard Schema. */
  constructor(schema: Q, name: string) {
    super()
    checkSchema(schema, `query of ${name}`)
    this.schema = schema
    this.#lists = schema === undefined ? [] : listsOf(schema)
  }

  /** @throws BadInput `schema` with the parameter's name. */
  override fromHttpRequest(_: HttpRequest, ctx: Context): MaybePromise<QueryOf<Q>> {
    const record = recordOf(ctx.query)
    for (const name of this.#lists) {
      const value = record[name]
      if (typeof value === 'string') record[name] = [value]
    }
    return checked(this.schema, record, 'the query') as MaybePromise<QueryOf<Q>>
  }

  protected override formats(): Formats {
    const { mimeType, schema } = this
    const described = schema && { schema: jsonSchemaOf(schema, 'output') }
    return { input: [{ mimeType, ...described }], output: [] }
  }

  override toHttpResponse(): never {
    throw new InternalError('a query is no response')
  }
}

/**
 * @returns what a schema makes of parameters.
 * @throws BadInput `schema`.
 */
export function checked(
  schema: StandardSchemaV1 | undefined,
  value: object,
  place: string,
): MaybePromise<unknown> {
  if (schema === undefined) return value
  return whenReady(runSchema(schema, value), (result) => {
    if (result.issues !== undefined) throw schemaError(result.issues, place)
    return result.value
  })
}

/** @returns the list parameters of a query's JSON Schema, if its library has one. */
function listsOf(query: StandardSchemaV1): string[] {
  const { properties = {} } = jsonSchemaOf(query, 'input') as {
    readonly properties?: Record<string, unknown>
  }
  const typeOf = (property: unknown) => (property as { readonly type?: unknown } | null)?.type
  return Object.keys(properties).filter((name) => typeOf(properties[name]) === 'array')
}

const maxParams = 1000

function recordOf(params: URLSearchParams): Record<string, string | string[]> {
  if (params.size > maxParams)
    throw new BadInput(expected(`at most ${maxParams} parameters`, 'the query', params.size), {
      reason: 'size',
    })
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
