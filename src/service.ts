/** The service: a named set of APIs, with hooks for its start, its requests and its end. @module */

import type {
  AnyOptions,
  Api,
  ApiFunction,
  ApiMethod,
  ApiOptions,
  ApiTypes,
  ServiceTypes,
  serviceApis,
} from './api/api.ts'
import type { CaptureSettings } from './api/capture-options.ts'
import type { CorsOptions } from './api/cors.ts'
import { add, type ErrorHook, Hooks, type RequestHook, type ResponseHook } from './api/hooks.ts'
import type { InjectLiveRequest, Injector, InjectRequest } from './api/inject.ts'
import type { LiveApi, LiveFunction, LiveOptions, LiveTypes } from './api/live-api.ts'
import type { ModelOptions } from './api/model-options.ts'
import type { FetchHandler, Mount, MountOptions } from './api/mount.ts'
import type { ParamsArgument, ParamsOf } from './api/path-params.ts'
import type { Protocol } from './api/protocol.ts'
import type { Query } from './api/query.ts'
import { Registry } from './api/registry.ts'
import type { BodyMethod, QueryMethod, QueryOptions } from './api/route-methods.ts'
import type { Schedule, ScheduleOptions } from './api/schedule.ts'
import { type Hook, ServiceLife, type ServiceStart } from './api/service-life.ts'
import type { AnyDescriptor, ExampleOf } from './descriptors/descriptor.ts'
import type { StandardSchemaV1 } from './descriptors/run-schema.ts'
import type { JobsOptions } from './jobs/jobs-options.ts'
import type { RunnerLife } from './runner/runner.ts'
import {
  type DocumentOptions,
  parseServiceOptions,
  type ServiceOptions,
} from './service-options.ts'

type Schema = StandardSchemaV1 | undefined
type Typed<A, N extends string, F> = Service<A & { readonly [K in N]: F }>

/**
 * A set of functions, each behind an input and an output descriptor.
 *
 * **Example**
 * ```ts
 * const svc = new Service('greeter')
 * svc.api({ input: new io.Text(), output: new io.Text() }, function greet(name) { return `Hello, ${name}!` })
 * export default svc
 * ```
 *
 * `A`: the APIs that `add` and `addGet` have registered, for `createClient<typeof svc>`.
 */
export class Service<A = unknown> implements ServiceTypes<A> {
  declare readonly [serviceApis]: A
  readonly name: string
  readonly doc: string | undefined
  /** See ServiceOptions; the command sets the default. */
  version: string | undefined
  readonly cors: CorsOptions | undefined
  readonly auth: RequestHook | undefined
  readonly publicPaths: readonly string[]
  readonly jobs: JobsOptions
  readonly capture: CaptureSettings | undefined
  readonly openapi: DocumentOptions
  readonly mcp: boolean
  readonly runners: readonly RunnerLife[]
  readonly models: readonly ModelOptions[]
  readonly protocols: readonly Protocol[]
  readonly hooks = new Hooks()
  readonly #registry = new Registry()
  /**
   * Answers a request in process, without a socket. Startup hooks and Runners need {@link
   * Service.start} before, and `stop` after.
   *
   * @throws InvalidArgument for a malformed request; an Error if a stream breaks off.
   * @example
   * `(await svc.inject({ path: '/double', body: [1, 2] })).json()`
   */
  readonly inject: Injector = Object.assign(
    // Loaded at the first call.
    async (request: InjectRequest) =>
      (await import('./server/memory-engine.ts')).inject(this, request),
    {
      live: async (request: InjectLiveRequest) =>
        (await import('./server/memory-live.ts')).injectLive(this, request),
    },
  )
  /** The APIs that clients may call by name over any protocol, in the order of registration. */
  readonly apis: ReadonlyMap<string, Api> = this.#registry.apis
  /** The APIs of HTTP alone, by name: of other methods than POST, or with parameters in their path. */
  readonly routes: ReadonlyMap<string, Api> = this.#registry.routes
  /** The live streams, by name. */
  readonly lives: ReadonlyMap<string, LiveApi> = this.#registry.lives
  readonly mounts: ReadonlyMap<string, Mount> = this.#registry.mounts
  /** What `schedule` has registered. */
  readonly schedules: readonly Schedule[] = this.#registry.schedules
  readonly #life: ServiceLife

  /**
   * @throws InvalidArgument for a name of other than letters, digits, `_`, `.` and `-`, or an
   * unknown option.
   */
  constructor(name: string, options: ServiceOptions = {}) {
    const parsed = parseServiceOptions(name, options)
    this.name = name
    this.doc = parsed.doc
    this.version = parsed.version
    this.cors = parsed.cors
    this.auth = parsed.auth
    this.publicPaths = parsed.publicPaths
    this.jobs = parsed.jobs
    this.capture = parsed.capture
    this.openapi = parsed.openapi
    this.mcp = parsed.mcp
    this.runners = parsed.runners
    this.models = parsed.models
    this.protocols = parsed.protocols
    this.#life = new ServiceLife(this)
  }

  /**
   * Registers a function as `POST {baseUrl}/{route}` and returns it. It receives the input and the
   * {@link Context}.
   *
   * @throws InvalidArgument for an empty, duplicate or reserved name or route, or an invalid
   * descriptor.
   */
  api<
    I extends AnyDescriptor,
    O extends AnyDescriptor,
    F extends ApiFunction<I, O, ParamsOf<R, P>>,
    R extends string = string,
    P extends Schema = undefined,
  >(
    options: ApiOptions<I, O, R, P>,
    fn: F & ApiFunction<I, O, ParamsOf<R, P>>,
  ): F & ApiTypes<I, O, ParamsArgument<R, P>> {
    return this.#register('POST', undefined, options, fn)
  }

  /**
   * Registers a function as `GET {baseUrl}/{route}` and HEAD. It receives the URL's query, or what
   * the schema `query` makes of it; a query that the schema refuses gets 400. Segments `{name}` of
   * the route are in `ctx.params`.
   *
   * @throws as `api`.
   * @example
   * `svc.get('/items/{id}', { output: new io.Text() }, (_, ctx) => ctx.params.id)`
   */
  readonly get: QueryMethod = (route, options, fn) => this.#register('GET', route, options, fn)

  /** Like `get`, as DELETE. */
  readonly delete: QueryMethod = (route, options, fn) =>
    this.#register('DELETE', route, options, fn)

  /** Like `api`, as PUT on the route. */
  readonly put: BodyMethod = (route, options, fn) => this.#register('PUT', route, options, fn)

  /** Like `api`, as PATCH on the route. */
  readonly patch: BodyMethod = (route, options, fn) => this.#register('PATCH', route, options, fn)

  #register(method: ApiMethod, route: string | undefined, options: AnyOptions, fn: unknown): never {
    this.#registry.addApi(method, route, options, fn)
    return fn as never
  }

  /**
   * Like `api`, but returns the service, whose type then has the API.
   *
   * @throws as `api`.
   */
  add<
    N extends string,
    I extends AnyDescriptor,
    O extends AnyDescriptor,
    F extends ApiFunction<I, O, ParamsOf<R, P>>,
    R extends string = string,
    P extends Schema = undefined,
  >(
    name: N,
    options: ApiOptions<I, O, R, P> & { readonly name?: never },
    fn: F & ApiFunction<I, O, ParamsOf<R, P>>,
  ): Typed<A, N, F & ApiTypes<I, O, ParamsArgument<R, P>>> {
    this.#register('POST', undefined, { ...options, name }, fn)
    return this as never
  }

  /** Like `get` on the route `name`, but returns the service, whose type then has the API. */
  addGet<
    N extends string,
    O extends AnyDescriptor,
    F extends ApiFunction<Query<Q>, O>,
    Q extends Schema = undefined,
  >(
    name: N,
    options: QueryOptions<O, Q> & { readonly name?: never },
    fn: F & ApiFunction<Query<Q>, O>,
  ): Typed<A, N, F & ApiTypes<Query<Q>, O>> {
    this.#register('GET', name, { ...options, name }, fn)
    return this as never
  }

  /**
   * Registers a function as a stream of messages in both directions at `{baseUrl}/{name}`, over
   * WebSocket, and returns it. It receives the client's messages and the {@link Context}, whose
   * signal is aborted if the client goes away.
   *
   * @throws as `api`.
   * @example
   * `svc.live('upper', { input: new io.Text(), output: new io.Text() }, async function* (texts) {
   * for await (const text of texts) yield text.toUpperCase() })`
   */
  live<I extends AnyDescriptor, O extends AnyDescriptor, F extends LiveFunction<I, O>>(
    name: string,
    options: LiveOptions<I, O>,
    fn: F & LiveFunction<I, O>,
  ): F & LiveTypes<I, O> {
    this.#registry.addLive(name, options, fn)
    return fn as F & LiveTypes<I, O>
  }

  /**
   * Like `live`, but returns the service, whose type then has the stream.
   *
   * @throws as `api`.
   */
  addLive<
    N extends string,
    I extends AnyDescriptor,
    O extends AnyDescriptor,
    F extends LiveFunction<I, O>,
  >(
    name: N,
    options: LiveOptions<I, O>,
    fn: F & LiveFunction<I, O>,
  ): Typed<A, N, F & LiveTypes<I, O>> {
    this.live<I, O, F>(name, options, fn)
    return this as never
  }

  /**
   * Calls an API as a job at each tick of a cron expression, once however many servers run. Hooks
   * do not run, and there is no caller. Needs the package `cron-parser`.
   *
   * @param api - What `svc.api` has returned, for an API with `async`.
   * @throws InvalidArgument, MissingDependencyException.
   * @example
   * `svc.schedule('0 3 * * *', report, 'all', { timeZone: 'Europe/Berlin' })`
   */
  schedule<I>(
    cron: string,
    api: ApiTypes<I>,
    input: ExampleOf<I>,
    options: ScheduleOptions = {},
  ): void {
    this.#registry.addSchedule(cron, api, input, options)
  }

  /**
   * Answers every path from `path` on by a Fetch handler, such as Hono's. It gets the whole URL,
   * before the body has come. Limits, hooks and auth apply; longer paths of APIs take precedence.
   *
   * @example
   * `svc.mount('/app', new Hono().basePath('/app').get('/', (c) => c.text('hi')).fetch)`
   */
  mount(path: string, handler: FetchHandler, options: MountOptions = {}): void {
    this.#registry.addMount(path, handler, options)
  }

  /**
   * Adds a hook that runs before a request's body is read, not for health. It may refuse by
   * throwing.
   *
   * @example
   * `svc.onRequest((ctx) => { if (!ctx.headers.get('x-team')) throw new Forbidden('expected
   * x-team') })`
   */
  onRequest(hook: RequestHook): void {
    add(this.hooks.request, 'onRequest', hook)
  }

  /** Adds a hook that is called once at the end of each request, even a refused one. */
  onResponse(hook: ResponseHook): void {
    add(this.hooks.response, 'onResponse', hook)
  }

  /** Adds a hook that is called before an error is answered, and if a stream breaks off. */
  onError(hook: ErrorHook): void {
    add(this.hooks.error, 'onError', hook)
  }

  /** Adds work that must be done before the service is ready, in every worker process. */
  onStartup(hook: Hook): void {
    add(this.#life.startup, 'onStartup', hook)
  }

  /** Adds work for the end, after the last request; the last hook added runs first. */
  onShutdown(hook: Hook): void {
    add(this.#life.shutdown, 'onShutdown', hook)
  }

  /** Why the service cannot answer now, though it has started; undefined if it can. */
  get unready(): string | undefined {
    return this.#life.unready
  }

  /** Runs the startup hooks in order, then loads all runners at the same time. Called by the server. */
  async start(options: ServiceStart = {}): Promise<void> {
    await this.#life.start(options, () => this.#registry.checkExamples())
  }

  /** Lets a running start fail soon, for a process that ends: it does not wait for models. @internal */
  cancelStart(): void {
    this.#life.cancel()
  }

  /** Runs all shutdown hooks, then stops the runners; throws the first failure. Called by the server. */
  async stop(): Promise<void> {
    await this.#life.stop()
  }
}
