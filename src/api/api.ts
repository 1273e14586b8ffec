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
import type { Context } from '../http/context.ts'
import type { EndpointSlots } from '../http/endpoint.ts'
import { joinHeaderNames } from '../http/message.ts'
import { type AsyncOptions, type AsyncSettings, parseAsync } from './async-options.ts'
import { type CacheOptions, type CacheSettings, parseCache } from './cache-options.ts'
import { ConcurrencyLimiter } from './concurrency-limiter.ts'
import { type ApiExample, type EncodedExample, encodeExamples } from './examples.ts'
import { type HookOptions, Hooks, parseAuth, type RequestHook } from './hooks.ts'

// For the descriptor, the server, and the log and error answers.
const ownHeaders = ['content-type', 'content-encoding', 'x-request-id']

/** How a function is registered. */
export interface ApiOptions<I extends AnyDescriptor, O extends AnyDescriptor> extends HookOptions {
  readonly input: I
  readonly output: O
  /** Default: the function's name, else the route with `_` for `/`. */
  readonly name?: string
  /** Path below the base URL. Default: the name. */
  readonly route?: string
  /** What the API does, as Markdown for the documentation page. */
  readonly doc?: string
  /** Inputs to try on the documentation page. Pictures and files are paths, `file:` URLs or bytes. */
  readonly examples?: readonly ApiExample<ExampleOf<I>>[]
  /** Who may call: everybody by `false`, or whom this hook admits. Default: the service's. */
  readonly auth?: RequestHook | false
  /** Most concurrent requests in each worker, beside the server's `maxInFlight`. Default: no limit. */
  readonly maxInFlight?: number
  /** Lets clients call it as a job, too, with `prefer: respond-async`. `true`: with all defaults. */
  readonly async?: boolean | AsyncOptions
  /**
   * Gives answers again to equal requests of the same caller: for functions that look at nothing else. Default: each
   * request is computed.
   */
  readonly cache?: CacheOptions
}

/** A function behind descriptors `I` and `O`. */
export type ApiFunction<I, O> = (input: Received<I>, ctx: Context) => MaybePromise<Returned<O>>

declare const apiTypes: unique symbol

/** Marks the result of `svc.api` with its descriptors' types, for typed clients. Types only. */
export interface ApiTypes<I = unknown, O = unknown> {
  readonly [apiTypes]: { readonly input: I; readonly output: O }
}

declare const queryType: unique symbol

/** Stands for the query of a GET API with schema `Q` in {@link ApiTypes}. Types only. */
export interface QueryTypes<Q> {
  readonly [queryType]: Q
}

/** Key of {@link ServiceTypes}. */
export declare const serviceApis: unique symbol

/** Marks a Service with the APIs that its type knows, for typed clients. Types only. */
export interface ServiceTypes<A = unknown> {
  readonly [serviceApis]: A
}

/** A registered API. */
export interface Api {
  readonly name: string
  /** Without slashes at its ends. */
  readonly route: string
  readonly doc: string | undefined
  readonly examples: readonly EncodedExample[]
  readonly input: IODescriptor
  readonly output: IODescriptor
  readonly fn: (input: unknown, ctx: Context) => unknown
  readonly auth: RequestHook | false | undefined
  /** Run after those of the service. */
  readonly hooks: Hooks
  readonly slots: EndpointSlots | undefined
  /** Undefined if it has no jobs. */
  readonly async: AsyncSettings | undefined
  readonly cache: CacheSettings | undefined
  /** Headers to copy; all if the function or a hook takes the context. */
  readonly readsHeaders: readonly string[] | 'all'
}

/** First path segments that APIs may not have: the server's own paths. */
const reservedNames: readonly string[] = ['healthz', 'livez', 'readyz', 'metrics', 'docs', 'docs.json', 'openapi.json']

/** What every function is registered with. */
export type FunctionOptions = HookOptions &
  Pick<ApiOptions<AnyDescriptor, AnyDescriptor>, 'output' | 'name' | 'doc' | 'auth' | 'maxInFlight'>
const optionNames = ['output', 'name', 'doc', 'auth', 'maxInFlight', 'onRequest', 'onResponse', 'onError']

/** Whether a text is a path segment of letters, digits, `_`, `.`, `~` and `-`. */
export function isPathSegment(text: string): boolean {
  return /^[A-Za-z0-9_~][A-Za-z0-9_.~-]*$/.test(text)
}

/** **Errors**: InvalidArgument that names the mistake. */
export function createApi(options: ApiOptions<AnyDescriptor, AnyDescriptor>, fn: Api['fn']): Api {
  const common = parseFunction('svc.api', options, fn, options.route, ['input', 'route', 'examples', 'async', 'cache'])
  const { name, output, hooks } = common
  const input = requireDescriptor(options.input, 'input', name)
  const settings = parseAsync(options.async, name)
  const cache = parseCache(options.cache, name)
  return {
    ...common,
    route: parseRoute(options.route ?? name),
    examples: encodeExamples(options.examples ?? [], input, name),
    input,
    async: settings,
    cache,
    readsHeaders:
      takesContext(fn) || !hooks.isEmpty || options.auth || settings !== undefined || cache !== undefined
        ? 'all'
        : joinHeaderNames(ownHeaders, input.readsHeaders, output.readsHeaders),
  }
}

/** Checks a function and its options. `method`: the caller's; `own`: its other options. **Errors**: InvalidArgument. */
export function parseFunction<F extends (...args: never[]) => unknown>(
  method: string,
  options: FunctionOptions,
  fn: F,
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
    fn,
    auth: parseAuth(options.auth, `auth of ${name}`),
    hooks: new Hooks(options),
    slots: max === undefined ? undefined : new ConcurrencyLimiter(checkAtLeast(`maxInFlight of ${name}`, max, 1)),
  }
}

/** Returns the name of an API whose function has no name: `labels_top` of `/labels/top`. */
function nameOfRoute(route = ''): string {
  return String(route).replace(/^\//, '').replaceAll('/', '_')
}

function requireName(name: unknown, method: string): string {
  if (typeof name !== 'string' || name === '')
    throw new InvalidArgument(`expected a name for ${method}: name the function or give options.name`)
  checkThat(isPathSegment(name), 'letters, digits, _ . ~ and -', 'the name of an API', name)
  return name
}

function requireDescriptor(value: unknown, role: string, name: string): IODescriptor {
  checkThat(value instanceof IODescriptor, 'an IODescriptor', `${role} of API ${name}`, value)
  return value
}

/** Returns a route without slashes at its ends. **Errors**: InvalidArgument. */
export function parseRoute(route: string): string {
  const segments = String(route).replace(/^\//, '').split('/')
  checkThat(segments.every(isPathSegment), 'a path of letters, digits, _ . ~ and -', 'route', route)
  requireFreePath(route, segments)
  return segments.join('/')
}

/** **Errors**: InvalidArgument for a path that the server answers itself. */
export function requireFreePath(path: string, segments: readonly string[]): void {
  if (!reservedNames.includes(segments[0])) return
  const names = reservedNames.join(', ')
  throw new InvalidArgument(`the path ${JSON.stringify(path)} is reserved; the server answers ${names} itself`)
}

/** Whether a function may read its context; in doubt true: a wrong false hides headers from default parameters. */
function takesContext(fn: Api['fn']): boolean {
  if (fn.length !== 1) return true
  const source = Function.prototype.toString.call(fn)
  if (/\.{3}|\barguments\b|\[native code\]/.test(source)) return true
  return source.slice(0, source.indexOf(')')).includes(',')
}
