import { InvalidArgument } from '../core/errors.ts'
import { checkAtLeast, checkOptions, checkThat } from '../core/options.ts'
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
import { type AsyncOptions, type AsyncSettings, parseAsync } from './async-options.ts'
import { type CacheOptions, type CacheSettings, parseCache } from './cache-options.ts'
import { type CaptureOptions, type CaptureSettings, parseCapture } from './capture-options.ts'
import { ConcurrencyLimiter } from './concurrency-limiter.ts'
import { type ApiExample, type EncodedExample, encodeExamples } from './examples.ts'
import { functionOf } from './function-of.ts'
import { type HookOptions, Hooks, parseAuth, type RequestHook } from './hooks.ts'
import { type McpOptions, type McpSettings, parseMcp } from './mcp-options.ts'
import { isParameter, paramNames, paramsHook } from './path-params.ts'
import { Query } from './query.ts'
import type { Sampler } from './sampler.ts'

// For the descriptor, the server, and the log and error answers.
const ownHeaders = ['content-type', 'content-encoding', 'x-request-id']

/** How a function is registered. */
export interface ApiOptions<
  I extends AnyDescriptor,
  O extends AnyDescriptor,
  R extends string = string,
  P extends StandardSchemaV1 | undefined = StandardSchemaV1 | undefined,
> extends HookOptions {
  readonly input: I
  readonly output: O
  /** @default the function's name, else the route with `_` for `/` */
  readonly name?: string
  /** Path below the base URL. Default: the name. With `{id}` in it the API is called by HTTP alone. */
  readonly route?: R
  /** A Standard Schema of the path's parameters; its output is `ctx.params`. */
  readonly params?: P
  /** What the API does, as Markdown for the documentation page. */
  readonly doc?: string
  /** Inputs to try on the documentation page. Pictures and files are paths, `file:` URLs or bytes. */
  readonly examples?: readonly ApiExample<ExampleOf<I>>[]
  /**
   * Who may call: everybody by `false`, or whom this hook admits.
   *
   * @default the service's
   */
  readonly auth?: RequestHook | false
  /**
   * Most concurrent requests in each worker, beside the server's `maxInFlight`.
   *
   * @default no limit
   */
  readonly maxInFlight?: number
  /** Lets clients call it as a job, too, with `prefer: respond-async`. `true`: with all defaults. */
  readonly async?: boolean | AsyncOptions
  /**
   * Gives answers again to equal requests of the same caller: for functions that look at nothing
   * else.
   *
   * @default each request is computed
   */
  readonly cache?: CacheOptions
  /**
   * Records inputs and outputs; `false`: does not.
   *
   * @default the service's
   */
  readonly capture?: CaptureOptions | false
  /** How agents see it, if the service has `mcp`; `false` hides it from them. */
  readonly mcp?: false | McpOptions
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

/** What every function is registered with. */
export type FunctionOptions = HookOptions &
  Pick<ApiOptions<AnyDescriptor, AnyDescriptor>, 'output' | 'name' | 'doc' | 'auth' | 'maxInFlight'>
const optionNames = [
  'output',
  'name',
  'doc',
  'auth',
  'maxInFlight',
  'onRequest',
  'onResponse',
  'onError',
]

/** The options of all methods. */
export type AnyOptions = FunctionOptions &
  Partial<ApiOptions<AnyDescriptor, AnyDescriptor>> & { readonly query?: StandardSchemaV1 }

/** Whether a text is a path segment of letters, digits, `_`, `.`, `~` and `-`. */
export function isPathSegment(text: string): boolean {
  return /^[A-Za-z0-9_~][A-Za-z0-9_.~-]*$/.test(text)
}

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
  const hasQuery = method === 'GET' || method === 'DELETE'
  const own =
    method === 'POST' ? ['input', 'examples', 'route', 'async', 'cache'] : ['input', 'examples']
  const path = given ?? options.route
  // Two methods of one route have two names.
  const toName = method === 'GET' || method === 'POST' ? path : `${method.toLowerCase()}/${path}`
  const pathRoute = path === undefined ? undefined : parseRoute(path)
  const common = parseFunction<Api[typeof functionOf]>(caller, options, fn, toName, [
    'params',
    'capture',
    'mcp',
    ...(hasQuery ? ['query', ...(method === 'GET' ? ['cache'] : [])] : own),
  ])
  const { name, output, hooks } = common
  const route = pathRoute ?? parseRoute(name)
  const input = hasQuery
    ? new Query(options.query, name)
    : requireDescriptor(options.input, 'input', name)
  hooks.request.unshift(...paramsHook(options.params, route, name))
  const settings = parseAsync(options.async, name)
  if (settings !== undefined && paramNames(route).length > 0)
    throw new InvalidArgument(
      `expected a route without {parameters} for async of ${name}, received ${route}`,
    )
  const cache = parseCache(options.cache, name)
  return {
    ...common,
    method,
    route,
    examples: encodeExamples(options.examples ?? [], input, name),
    input,
    params: options.params,
    async: settings,
    cache,
    capture: parseCapture(options.capture, `capture of ${name}`),
    sampler: undefined,
    mcp: parseMcp(options.mcp, name),
    readsHeaders:
      takesContext(common[functionOf]) ||
      !hooks.isEmpty ||
      options.auth ||
      settings !== undefined ||
      cache !== undefined
        ? allHeaders
        : joinHeaderNames(ownHeaders, input.readsHeaders, output.readsHeaders),
  }
}

/**
 * Checks a function and its options. `method`: the caller's; `own`: its other options.
 *
 * @throws InvalidArgument.
 */
export function parseFunction<F extends (...args: never[]) => unknown>(
  method: string,
  options: FunctionOptions,
  fn: unknown,
  route: string | undefined,
  own: readonly string[],
) {
  checkThat(typeof fn === 'function', 'a function', method, fn)
  checkOptions(method, options, [...optionNames, ...own])
  const name = requireName(options.name ?? (fn.name || nameOfRoute(route)), method)
  const { maxInFlight: max } = options
  return {
    name,
    doc: options.doc,
    output: requireDescriptor(options.output, 'output', name),
    [functionOf]: fn as unknown as F,
    isGenerator: /^(Async)?GeneratorFunction$/.test(fn.constructor.name),
    auth: parseAuth(options.auth, `auth of ${name}`),
    hooks: new Hooks(options),
    slots:
      max === undefined
        ? undefined
        : new ConcurrencyLimiter(checkAtLeast(`maxInFlight of ${name}`, max, 1)),
  }
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

function requireDescriptor(value: unknown, role: string, name: string): IODescriptor {
  checkThat(value instanceof IODescriptor, 'an IODescriptor', `${role} of API ${name}`, value)
  return value
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
