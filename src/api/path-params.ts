/** The parameters in the path of a route: `{id}` of `/items/{id}`. @module */
import { checkThat } from '../core/options.ts'
import { whenReady } from '../core/promise.ts'
import { checkSchema, type StandardSchemaV1 } from '../descriptors/run-schema.ts'
import type { RequestHook } from './hooks.ts'
import { checked } from './query.ts'

type NamesIn<R extends string> = R extends `${string}{${infer N}}${infer Rest}`
  ? N | NamesIn<Rest>
  : never

/** `ctx.params` of a function on route `R` with schema `P`. */
export type ParamsOf<R extends string, P> =
  P extends StandardSchemaV1<unknown, infer Out>
    ? Out
    : string extends R
      ? Readonly<Record<string, string>>
      : { readonly [N in NamesIn<R>]: string }

/** What a client gives for the parameters of route `R` with schema `P`; `unknown` for a route without any. */
export type ParamsArgument<R extends string, P> =
  P extends StandardSchemaV1<infer In>
    ? In
    : string extends R
      ? unknown
      : [NamesIn<R>] extends [never]
        ? unknown
        : { readonly [N in NamesIn<R>]: string | number }

const parameter = /^\{([A-Za-z]\w*)\}$/

/** Whether a segment of a route is a parameter. */
export function isParameter(segment: string): boolean {
  return parameter.test(segment)
}

/** @returns the names of a route's parameters. */
export function paramNames(route: string): string[] {
  return route.split('/').flatMap((segment) => parameter.exec(segment)?.[1] ?? [])
}

/**
 * @returns the hook that checks the parameters, before the body is read.
 * @throws InvalidArgument.
 */
export function paramsHook(
  schema: StandardSchemaV1 | undefined,
  route: string,
  api: string,
): RequestHook[] {
  if (schema === undefined) return []
  checkSchema(schema, `params of ${api}`)
  checkThat(
    paramNames(route).length > 0,
    'a route with {name} for the schema params',
    `the route of ${api}`,
    route,
  )
  return [
    (ctx) =>
      whenReady(checked(schema, ctx.params, 'the path'), (params) => {
        ctx.params = params as Readonly<Record<string, unknown>>
      }) as void | Promise<void>,
  ]
}
