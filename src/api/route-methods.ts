/** How `svc.get`, `svc.put`, `svc.patch` and `svc.delete` are called. @module */
import type { AnyDescriptor } from '../descriptors/descriptor.ts'
import type { StandardSchemaV1 } from '../descriptors/run-schema.ts'
import type { ApiFunction, ApiOptions, ApiTypes } from './api.ts'
import type { CacheOptions } from './cache-options.ts'
import type { ParamsArgument, ParamsOf } from './path-params.ts'
import type { Query } from './query.ts'

type Schema = StandardSchemaV1 | undefined

/** How a function that answers PUT or PATCH is registered. */
export type BodyOptions<
  I extends AnyDescriptor,
  O extends AnyDescriptor,
  P extends Schema = undefined,
> = Omit<ApiOptions<I, O, string, P>, 'route' | 'async' | 'cache'>

/** How a function that answers GET or DELETE is registered. */
export interface QueryOptions<
  O extends AnyDescriptor,
  Q extends Schema = undefined,
  P extends Schema = undefined,
> extends Omit<BodyOptions<AnyDescriptor, O, P>, 'input' | 'examples'> {
  /** Of GET, as for `svc.api`. */
  readonly cache?: CacheOptions
  /** A Standard Schema of the {@link QueryRecord}; its output is the function's input. */
  readonly query?: Q
}

/**
 * Registers a function that receives the query.
 *
 * @throws as `svc.api`.
 */
export type QueryMethod = <
  O extends AnyDescriptor,
  F extends ApiFunction<Query<Q>, O, ParamsOf<R, P>>,
  R extends string,
  Q extends Schema = undefined,
  P extends Schema = undefined,
>(
  route: R,
  options: QueryOptions<O, Q, P>,
  fn: F & ApiFunction<Query<Q>, O, ParamsOf<R, P>>,
) => F & ApiTypes<Query<Q>, O, ParamsArgument<R, P>>

/**
 * Registers a function that receives the body.
 *
 * @throws as `svc.api`.
 */
export type BodyMethod = <
  I extends AnyDescriptor,
  O extends AnyDescriptor,
  F extends ApiFunction<I, O, ParamsOf<R, P>>,
  R extends string,
  P extends Schema = undefined,
>(
  route: R,
  options: BodyOptions<I, O, P>,
  fn: F & ApiFunction<I, O, ParamsOf<R, P>>,
) => F & ApiTypes<I, O, ParamsArgument<R, P>>
