/** The service: a named set of APIs, with hooks for its start, its requests and its end. @module */

import {
  type AnyOptions,
  type Api,
  type ApiFunction,
  type ApiMethod,
  type ApiOptions,
  type ApiTypes,
  createApi,
  type ServiceTypes,
  type serviceApis,
} from './api/api.ts'
import { type CorsOptions, corsBy } from './api/cors.ts'
import type { functionOf } from './api/function-of.ts'
import {
  add,
  type ErrorHook,
  Hooks,
  parseAuth,
  type RequestHook,
  type ResponseHook,
} from './api/hooks.ts'
import type { InjectLiveRequest, Injector, InjectRequest } from './api/inject.ts'
import {
  createLiveApi,
  type LiveApi,
  type LiveFunction,
  type LiveOptions,
  type LiveTypes,
} from './api/live-api.ts'
import { type ModelOptions, parseModels } from './api/model-options.ts'
import { createMount, type FetchHandler, type Mount, type MountOptions } from './api/mount.ts'
import { type ParamsArgument, type ParamsOf, paramNames } from './api/path-params.ts'
import type { Protocol } from './api/protocol.ts'
import type { Query } from './api/query.ts'
import type { BodyMethod, QueryMethod, QueryOptions } from './api/route-methods.ts'
import { parsePaths, parseVersion, requireRunners } from './api/service-options.ts'
import { expected, InvalidArgument, Overloaded } from './core/errors.ts'
import { checkOneOf, checkOptions, checkThat } from './core/options.ts'
import type { AnyDescriptor } from './descriptors/descriptor.ts'
import type { StandardSchemaV1 } from './descriptors/run-schema.ts'
import type { JobsOptions } from './jobs/jobs-options.ts'
import { modelRepository, type RepositoryOptions } from './protocols/oip/repository.ts'
import type { RunnerLife, StartOptions } from './runner/runner.ts'

export type { RepositoryOptions } from './protocols/oip/repository.ts'

const serverPaths = ['health', 'metrics', 'connect', 'oip'] as const

/** Paths of the server by what they are for: `oip` is the Open Inference Protocol. */
export type ServerPaths = (typeof serverPaths)[number]

/** Options of a {@link Service}. */
export interface ServiceOptions {
  /** What the service does, for the documentation page. */
  readonly doc?: string
  /** Version in its documents. Default: that of the package.json above its file. */
  readonly version?: string
  /** Loaded before the service is ready, released at its end. */
  readonly runners?: readonly RunnerLife[]
  /** Runners that clients may call by the Open Inference Protocol, beside APIs of tensors; loaded as `runners`. */
  readonly models?: readonly (RunnerLife | ModelOptions)[]
  /** A folder of ONNX models for the Open Inference Protocol, served as by {@link modelRepository}. */
  readonly repository?: string | (RepositoryOptions & { readonly folder: string })
  /**
   * Which pages of other origins may call the service.
   *
   * @default no other origins
   */
  readonly cors?: CorsOptions
  /**
   * Who may call, such as `apiKey` of `serving/auth`; APIs may have their own.
   *
   * @default everybody
   */
  readonly auth?: RequestHook
  /** Paths without auth: `/metrics`, or `/app/*` with all below; `/*` is everything. Health never needs auth. */
  readonly publicPaths?: readonly string[]
  /** Where the jobs of asynchronous APIs are kept. */
  readonly jobs?: JobsOptions
  /** Protocols beside those that are built in, such as `openai` of `serving/openai`. */
  readonly protocols?: readonly Protocol[]
  /**
   * Serves APIs as tools for agents at `/mcp`.
   *
   * @default false
   */
  readonly mcp?: boolean
  /**
   * What the OpenAPI document has beside the service's own paths.
   *
   * @default nothing
   */
  readonly openapi?: DocumentOptions
}

/** Paths of the server that the OpenAPI document may have, too. */
export interface DocumentOptions {
  readonly include: readonly ServerPaths[]
}

const optionNames = [
  'doc',
  'version',
  'runners',
  'models',
  'repository',
  'cors',
  'auth',
  'publicPaths',
  'jobs',
  'protocols',
  'openapi',
  'mcp',
]

type Schema = StandardSchemaV1 | undefined
type Typed<A, N extends string, F> = Service<A & { readonly [K in N]: F }>

/** Work at the start or the end of a service; awaited. */
export type Hook = () => void | Promise<void>

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
  readonly openapi: DocumentOptions
  readonly mcp: boolean
  readonly runners: readonly RunnerLife[]
  readonly models: readonly ModelOptions[]
  readonly protocols: readonly Protocol[]
  readonly hooks = new Hooks()
  readonly #apis = new Map<string, Api>()
  readonly #routes = new Map<string, Api>()
  readonly #lives = new Map<string, LiveApi>()
  readonly #mounts = new Map<string, Mount>()
  /**
   * Answers a request in process, without a socket. Startup hooks and Runners need {@link
   * Service.start} before, and `stop` after.
   *
   * @throws InvalidArgument for a malformed request; an Error if a stream breaks off.
   * @example
   * `(await svc.inject({ path: '/double', body: [1, 2] })).json()`
   */
  readonly inject: Injector = Object.assign(
    // Loaded at the first call: the server stands above the service.
    async (request: InjectRequest) =>
      (await import('./server/memory-engine.ts')).inject(this, request),
    {
      live: async (request: InjectLiveRequest) =>
        (await import('./server/memory-live.ts')).injectLive(this, request),
    },
  )
  /** The APIs that clients may call by name over any protocol, in the order of registration. */
  readonly apis: ReadonlyMap<string, Api> = this.#apis
  /** The APIs of HTTP alone, by name: of other methods than POST, or with parameters in their path. */
  readonly routes: ReadonlyMap<string, Api> = this.#routes
  /** The live streams, by name. */
  readonly lives: ReadonlyMap<string, LiveApi> = this.#lives
  readonly mounts: ReadonlyMap<string, Mount> = this.#mounts
  readonly #startup: Hook[] = []
  readonly #shutdown: Hook[] = []
  readonly #started: RunnerLife[] = []
  #hasRunners = true
  #isCancelled = false

  /**
   * @throws InvalidArgument for a name of other than letters, digits, `_`, `.` and `-`, or an
   * unknown option.
   */
  constructor(name: string, options: ServiceOptions = {}) {
    if (typeof name !== 'string' || !/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(name)) {
      throw new InvalidArgument(
        expected('letters, digits, _ . and -', 'the name of a Service', name),
      )
    }
    checkOptions('Service', options, optionNames)
    this.name = name
    this.doc = options.doc
    this.version = parseVersion(options.version)
    if (options.cors !== undefined) corsBy(options.cors)
    this.cors = options.cors
    this.auth = parseAuth(options.auth, 'auth of Service') || undefined
    this.publicPaths = parsePaths(options.publicPaths ?? [])
    this.jobs = checkOptions('jobs of Service', options.jobs ?? {}, ['store', 'blobs', 'webhooks'])
    const { include = [] } = checkOptions(
      'openapi of Service',
      options.openapi ?? { include: [] },
      ['include'],
    )
    for (const each of include) checkOneOf('openapi.include of Service', each, serverPaths)
    this.openapi = { include }
    this.mcp = checkOneOf('mcp of Service', options.mcp ?? false, [true, false])
    const { repository } = options
    const models = parseModels(options.models ?? [], name)
    this.models =
      repository === undefined ? models : parseModels([...models, repositoryOf(repository)], name)
    const runners = requireRunners(options.runners ?? [], name)
    this.protocols = options.protocols ?? []
    const areProtocols =
      Array.isArray(this.protocols) &&
      this.protocols.every((each) => typeof each?.attach === 'function')
    checkThat(
      areProtocols,
      'a list of protocols, such as openai(...) returns',
      'protocols of Service',
      this.protocols,
    )
    const served = [
      ...this.models.map(({ runner }) => runner),
      ...this.protocols.flatMap(({ runners = [] }) => runners),
    ]
    const others = new Set(served.filter((runner) => !runners.includes(runner)))
    this.runners = Object.freeze(requireRunners([...runners, ...others], name))
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

  /**
   * Registers a function of any method.
   *
   * @throws InvalidArgument, also for a taken name, or a taken route.
   */
  #register(method: ApiMethod, route: string | undefined, options: AnyOptions, fn: unknown): never {
    const api = createApi(method, route, options, fn as Api[typeof functionOf])
    this.#requireNew(api)
    const isPlain = method === 'POST' && paramNames(api.route).length === 0
    const apis = isPlain ? this.#apis : this.#routes
    apis.set(api.name, api)
    return fn as never
  }

  /** @throws InvalidArgument for a taken name, or a taken route of the same method. */
  #requireNew({ name, route, method }: { name: string; route: string; method?: ApiMethod }): void {
    const shape = (path: string) => path.replace(/\{\w+\}/g, '{}')
    for (const other of [
      ...this.#apis.values(),
      ...this.#routes.values(),
      ...this.#lives.values(),
    ]) {
      if (other.name === name) throw new InvalidArgument(`the API ${name} is registered already`)
      // One path of the OpenAPI document has parameters of one name.
      const isTaken =
        ('method' in other ? other.method : undefined) === method || other.route !== route
      if (isTaken && shape(other.route) === shape(route))
        throw new InvalidArgument(`the route ${route} belongs to the API ${other.name} already`)
    }
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
    const api = createLiveApi(name, options, fn as unknown as LiveApi[typeof functionOf])
    this.#requireNew(api)
    this.#lives.set(api.name, api)
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
   * Answers every path from `path` on by a Fetch handler, such as Hono's. It gets the whole URL,
   * before the body has come. Limits, hooks and auth apply; longer paths of APIs take precedence.
   *
   * @example
   * `svc.mount('/app', new Hono().basePath('/app').get('/', (c) => c.text('hi')).fetch)`
   */
  mount(path: string, handler: FetchHandler, options: MountOptions = {}): void {
    const mount = createMount(path, handler, options)
    if (this.#mounts.has(path)) throw new InvalidArgument(`the path ${path} is mounted already`)
    this.#mounts.set(path, mount)
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
    add(this.#startup, 'onStartup', hook)
  }

  /** Adds work for the end, after the last request; the last hook added runs first. */
  onShutdown(hook: Hook): void {
    add(this.#shutdown, 'onShutdown', hook)
  }

  /** Why the service cannot answer now, though it has started; undefined if it can. */
  get unready(): string | undefined {
    if (!this.#hasRunners) return undefined
    return this.runners.find(({ unready }) => unready !== undefined)?.unready
  }

  /** Runs the startup hooks in order, then loads all runners at the same time. Called by the server. */
  async start(all: StartOptions & { readonly withRunners?: boolean } = {}): Promise<void> {
    const { withRunners = true, ...options } = all
    this.#hasRunners = withRunners
    for (const hook of this.#startup) await hook()
    for (const { examples } of [...this.#apis.values(), ...this.#routes.values()])
      for (const { checked } of examples) await checked
    if (this.#isCancelled)
      throw new Overloaded(`the start of the service ${this.name} was broken off`)
    const starts = (withRunners ? this.runners : []).map(async (runner) => {
      await runner.start(options)
      this.#started.push(runner)
    })
    // All must settle, so that a failed start stops all that has started.
    for (const { status, reason } of (await Promise.allSettled(
      starts,
    )) as PromiseRejectedResult[]) {
      if (status === 'rejected') throw reason
    }
  }

  /** Lets a running start fail soon, for a process that ends: it does not wait for models. @internal */
  cancelStart(): void {
    this.#isCancelled = true
    for (const runner of this.runners) void runner.stop()
  }

  /** Runs all shutdown hooks, then stops the runners; throws the first failure. Called by the server. */
  async stop(): Promise<void> {
    const failures: unknown[] = []
    const ends = this.#started.splice(0).map((runner) => () => runner.stop())
    for (const end of [...this.#shutdown.toReversed(), ...ends]) {
      try {
        await end()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
}

function repositoryOf(given: NonNullable<ServiceOptions['repository']>): RunnerLife {
  if (typeof given === 'string') return modelRepository(given)
  const { folder, ...options } = given
  return modelRepository(folder, options)
}
