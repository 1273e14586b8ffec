import { InvalidArgument } from '../core/errors.ts'
import {
  checkedLater,
  fromCode,
  type OptionsOf,
  type OptionTable,
  readBy,
  readOptions,
  type SettingsOf,
  whole,
} from '../core/option.ts'
import { checkThat } from '../core/options.ts'
import type { MaybePromise } from '../core/promise.ts'
import {
  type AnyDescriptor,
  type ExampleOf,
  IODescriptor,
  type Received,
  type Returned,
} from '../descriptors/descriptor.ts'
import type { StandardSchemaV1 } from '../descriptors/run-schema.ts'
import type { Context, PathParams } from '../http/context.ts'
import type { EndpointSlots } from '../http/limits.ts'
import { allHeaders, type HeaderNames, joinHeaderNames } from '../http/message.ts'
import { type AsyncSettings, parseAsync } from './async-options.ts'
import { type CacheSettings, parseCache } from './cache-options.ts'
import { type CaptureOptions, type CaptureSettings, parseCapture } from './capture-options.ts'
import { ConcurrencyLimiter } from './concurrency-limiter.ts'
import { type ApiExample, type EncodedExample, encodeExamples } from './examples.ts'
import { functionOf } from './function-of.ts'
import { authOption, Hooks, hookOptions, type RequestHook } from './hooks.ts'

import { type McpSettings, parseMcp } from './mcp-options.ts'
import { isParameter, paramNames, paramsHook } from './path-params.ts'
import { Query } from './query.ts'
import type { Sampler } from './sampler.ts'

// For the descriptor, the server, and the log and error answers.
const ownHeaders = ['content-type', 'content-encoding', 'x-request-id']

/** Whether a text is a path segment of letters, digits, `_`, `.`, `~` and `-`. */
export function isPathSegment(text: string): boolean {
  return /^[A-Za-z0-9_~][A-Za-z0-9_.~-]*$/.test(text)
}

const descriptor = fromCode<IODescriptor>(
  'an IODescriptor',
  (value) => value instanceof IODescriptor,
)

/** What every function is registered with. */
export const functionOptions = {
  ...hookOptions,
  output: descriptor.required(),
  /** @default the function's name, else the route with `_` for `/` */
  name: checkedLater<string>(),
  /** What the API does, as Markdown for the documentation page. */
  doc: fromCode<string>('a text', (value) => typeof value === 'string'),
  /**
   * Who may call: everybody by `false`, or whom this hook admits.
   *
   * @default the service's
   */
  auth: authOption,
  /**
   * Most concurrent requests in each worker, beside the server's `maxInFlight`.
   *
   * @default no limit
   */
  maxInFlight: whole(1),
}

/** Which calls are recorded: those of the service's share, or those of its own. False: no call. */
export const captureOption = readBy((place, given: CaptureOptions | false) =>
  parseCapture(given, place),
)

const ofAllMethods = {
  /** A Standard Schema of the path's parameters; its output is `ctx.params`. */
  params: checkedLater<StandardSchemaV1>(),
  /**
   * Records inputs and outputs; `false`: does not.
   *
   * @default the service's
   */
  capture: captureOption,
  /** How agents see it, if the service has `mcp`; `false` hides it from them. */
  mcp: readBy(parseMcp).or({}),
}
const ofBodies = {
  ...ofAllMethods,
  input: descriptor.required(),
  /** Inputs to try on the documentation page. Pictures and files are paths, `file:` URLs or bytes. */
  examples: checkedLater<readonly ApiExample[]>().or([]),
}
const cache = {
  /**
   * Gives answers again to equal requests of the same caller: for functions that look at nothing
   * else.
   *
   * @default each request is computed
   */
  cache: readBy(parseCache),
}
const ofQueries = { ...ofAllMethods, query: checkedLater<StandardSchemaV1>() }
const ofPosts = {
  ...ofBodies,
  ...cache,
  /** Path below the base URL. Default: the name. With `{id}` in it the API is called by HTTP alone. */
  route: checkedLater<string>(),
  /** Lets clients call it as a job, too, with `prefer: respond-async`. `true`: with all defaults. */
  async: readBy(parseAsync),
}

/** The options of each method. */
const optionsOf = {
  POST: ofPosts,
  PUT: ofBodies,
  PATCH: ofBodies,
  GET: { ...ofQueries, ...cache },
  DELETE: ofQueries,
}

/** How a function is registered. */
export interface ApiOptions<
  I extends AnyDescriptor,
  O extends AnyDescriptor,
  R extends string = string,
  P extends StandardSchemaV1 | undefined = StandardSchemaV1 | undefined,
> extends Omit<
    OptionsOf<typeof functionOptions & typeof ofPosts>,
    'input' | 'output' | 'examples' | 'route' | 'params'
  > {
  readonly input: I
  readonly output: O
  /** Path below the base URL. Default: the name. With `{id}` in it the API is called by HTTP alone. */
  readonly route?: R
  /** A Standard Schema of the path's parameters; its output is `ctx.params`. */
  readonly params?: P
  /** Inputs to try on the documentation page. Pictures and files are paths, `file:` URLs or bytes. */
  readonly examples?: readonly ApiExample<ExampleOf<I>>[]
}

/** A function behind descriptors `I` and `O`, with the parameters `P` of its path. */
export type ApiFunction<I, O, P = PathParams> = (
  input: Received<I>,
  ctx: Context<P>,
) => MaybePromise<Returned<O>>

declare const apiTypes: unique symbol

/** Marks the result of `svc.api` with its descriptors' types, for typed clients. Types only. */
export interface ApiTypes<I = unknown, O = unknown, P = unknown> {
  readonly [apiTypes]: { readonly input: I; readonly output: O; readonly params: P }
}

/** Key of {@link ServiceTypes}. */
export declare const serviceApis: unique symbol

/** Marks a Service with the APIs that its type knows, for typed clients. Types only. */
export interface ServiceTypes<A = unknown> {
  readonly [serviceApis]: A
}

/** The methods of HTTP that APIs answer; GET includes HEAD. */
export type ApiMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A registered API. */
export interface Api {
  readonly name: string
  readonly method: ApiMethod
  /** A {@link Query} for GET and DELETE. */
  readonly input: IODescriptor
  /** Without slashes at its ends. */
  readonly route: string
  readonly doc: string | undefined
  readonly examples: readonly EncodedExample[]
  readonly params: StandardSchemaV1 | undefined
  readonly output: IODescriptor
  /** The function. Only the stages call it: see {@link Visit}. */
  readonly [functionOf]: (input: unknown, ctx: Context) => unknown
  /** Whether the function yields its results. */
  readonly isGenerator: boolean
  readonly auth: RequestHook | false | undefined
  /** Run after those of the service. */
  readonly hooks: Hooks
  readonly slots: EndpointSlots | undefined
  readonly async: AsyncSettings | undefined
  readonly cache: CacheSettings | undefined
  /** Undefined for that of the service. */
  readonly capture: CaptureSettings | false | undefined
  /** Of the server that records calls, which sets it. */
  sampler: Sampler | undefined
  /** Undefined if no agent sees it. */
  readonly mcp: McpSettings | undefined
  /** Headers to copy; all if the function or a hook takes the context. */
  readonly readsHeaders: HeaderNames
}

/** First path segments that APIs may not have: the server's own paths. */
const reservedNames: readonly string[] = [
  'healthz',
  'livez',
  'readyz',
  'metrics',
  'docs',
  'docs.json',
  'openapi.json',
]

/** The options of all methods. */
export type AnyOptions = Partial<
  OptionsOf<typeof functionOptions & typeof ofPosts & typeof ofQueries>
>

/**
 * `given`: the route of `svc.get` and the like; that of POST is an option.
 *
 * @throws InvalidArgument.
 */
export function createApi(
  method: ApiMethod,
  given: string | undefined,
  options: AnyOptions,
  fn: unknown,
): Api {
  const caller = method === 'POST' ? 'svc.api' : `svc.${method.toLowerCase()}`
  const path = given ?? options?.route
  // Two methods of one route have two names.
  const toName = method === 'GET' || method === 'POST' ? path : `${method.toLowerCase()}/${path}`
  const pathRoute = path === undefined ? undefined : parseRoute(path)
  // Of another method, the options that it lacks are undefined.
  const table = optionsOf[method] as typeof ofPosts & typeof ofQueries
  const { common, settings } = parseFunction<Api[typeof functionOf], typeof table>(
    caller,
    options,
    fn,
    toName,
    table,
  )
  const { name, output, hooks } = common
  const { params, async, cache, auth, examples = [], capture, mcp } = settings
  const route = pathRoute ?? parseRoute(name)
  const input = 'query' in table ? new Query(settings.query, name) : settings.input
  hooks.request.unshift(...paramsHook(params, route, name))
  if (async !== undefined && paramNames(route).length > 0)
    throw new InvalidArgument(
      `expected a route without {parameters} for async of ${name}, received ${route}`,
    )
  return {
    ...common,
    method,
    route,
    examples: encodeExamples(examples, input, name),
    input,
    params,
    async,
    cache,
    capture,
    sampler: undefined,
    mcp,
    readsHeaders:
      takesContext(common[functionOf]) ||
      !hooks.isEmpty ||
      auth ||
      async !== undefined ||
      cache !== undefined
        ? allHeaders
        : joinHeaderNames(ownHeaders, input.readsHeaders, output.readsHeaders),
  }
}

/**
 * Reads a function and its options.
 *
 * @param method - The caller's.
 * @param own - Options beside those of every function.
 * @throws InvalidArgument.
 */
export function parseFunction<F extends (...args: never[]) => unknown, T extends OptionTable>(
  method: string,
  options: { readonly name?: string },
  fn: unknown,
  route: string | undefined,
  own: T,
) {
  checkThat(typeof fn === 'function', 'a function', method, fn)
  const nameOf = () => requireName(options.name ?? (fn.name || nameOfRoute(route)), method)
  const table = { ...functionOptions, ...own }
  const settings = readOptions(
    method,
    options,
    table,
    (option) => `${option} of ${nameOf()}`,
  ) as SettingsOf<typeof functionOptions> & SettingsOf<T>
  const { doc, output, auth, maxInFlight, onRequest, onResponse, onError } = settings
  const common = {
    name: nameOf(),
    doc,
    output,
    [functionOf]: fn as unknown as F,
    isGenerator: /^(Async)?GeneratorFunction$/.test(fn.constructor.name),
    auth,
    hooks: new Hooks({ onRequest, onResponse, onError }),
    slots: maxInFlight === undefined ? undefined : new ConcurrencyLimiter(maxInFlight),
  }
  return { common, settings }
}

/** @returns the name of an API whose function has no name: `labels_top` of `/labels/top`. */
function nameOfRoute(route = ''): string {
  return String(route).replace(/^\//, '').replaceAll(/\/+/g, '_').replace(/[{}]/g, '')
}

function requireName(name: unknown, method: string): string {
  if (typeof name !== 'string' || name === '')
    throw new InvalidArgument(
      `expected a name for ${method}: name the function or give options.name`,
    )
  checkThat(isPathSegment(name), 'letters, digits, _ . ~ and -', 'the name of an API', name)
  return name
}

/**
 * @returns a route without slashes at its ends.
 * @throws InvalidArgument.
 */
export function parseRoute(route: string): string {
  const segments = String(route).replace(/^\//, '').split('/')
  const colon = segments.find((segment) => /^:\w+$/.test(segment))
  if (colon !== undefined)
    throw new InvalidArgument(
      `expected {name} for a parameter of the route ${route}: write {${colon.slice(1)}}`,
    )
  const isPath = segments.every((segment) => isPathSegment(segment) || isParameter(segment))
  const names = paramNames(segments.join('/'))
  const isUnique = new Set(names).size === names.length
  checkThat(
    isPath && isUnique,
    'a path of letters, digits, _ . ~ -, and {name} once for a parameter',
    'route',
    route,
  )
  requireFreePath(route, segments)
  return segments.join('/')
}

/** @throws InvalidArgument for a path that the server answers itself. */
export function requireFreePath(path: string, segments: readonly string[]): void {
  if (!reservedNames.includes(segments[0])) return
  const names = reservedNames.join(', ')
  throw new InvalidArgument(
    `the path ${JSON.stringify(path)} is reserved; the server answers ${names} itself`,
  )
}

/** Whether a function may read its context; in doubt true: a wrong false hides headers from default parameters. */
function takesContext(fn: Api[typeof functionOf]): boolean {
  if (fn.length !== 1) return true
  const source = Function.prototype.toString.call(fn)
  if (/\.{3}|\barguments\b|\[native code\]/.test(source)) return true
  return source.slice(0, source.indexOf(')')).includes(',')
}
