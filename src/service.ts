/** The service: a named set of APIs, with hooks for its start, its requests and its end. @module */

import {
  type Api,
  type ApiFunction,
  type ApiOptions,
  type ApiTypes,
  createApi,
  type QueryTypes,
  type ServiceTypes,
  type serviceApis,
} from './api/api.ts'
import { Cors, type CorsOptions } from './api/cors.ts'
import { createGetApi, type GetApi, type GetFunction, type GetOptions } from './api/get-api.ts'
import { add, type ErrorHook, Hooks, parseAuth, type RequestHook, type ResponseHook } from './api/hooks.ts'
import { type Injector, injectorOf } from './api/inject.ts'
import { createLiveApi, type LiveApi, type LiveFunction, type LiveOptions, type LiveTypes } from './api/live-api.ts'
import { type ModelOptions, parseModels } from './api/model-options.ts'
import { createMount, type FetchHandler, type Mount } from './api/mount.ts'
import type { ServiceProtocol } from './api/service-protocol.ts'
import { expected, InvalidArgument, Overloaded } from './core/errors.ts'
import { checkOptions, checkThat } from './core/options.ts'
import type { AnyDescriptor } from './descriptors/descriptor.ts'
import type { StandardSchemaV1 } from './descriptors/run-schema.ts'
import type { JobsOptions } from './jobs/jobs-options.ts'
import { modelRepository } from './oip/repository.ts'
import type { RunnerLife, StartOptions } from './runner/runner.ts'

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
  /** A folder of ONNX models for the Open Inference Protocol: `modelRepository(folder)` in `models`. */
  readonly repository?: string
  /** Which pages of other origins may call the service. Default: no other origins. */
  readonly cors?: CorsOptions
  /** Who may call, such as `apiKey` of `serving/auth`; APIs may have their own. Default: everybody. */
  readonly auth?: RequestHook
  /** Paths without auth: `/metrics`, or `/app/*` with all below; `/*` is everything. Health never needs auth. */
  readonly publicPaths?: readonly string[]
  /** Where the jobs of asynchronous APIs are kept. */
  readonly jobs?: JobsOptions
  /** Other endpoints, such as `openai` of `serving/openai`. */
  readonly protocols?: readonly ServiceProtocol[]
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
]

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
  readonly runners: readonly RunnerLife[]
  readonly models: readonly ModelOptions[]
  readonly protocols: readonly ServiceProtocol[]
  readonly hooks = new Hooks()
  readonly #apis = new Map<string, Api>()
  readonly #gets = new Map<string, GetApi>()
  readonly #lives = new Map<string, LiveApi>()
  readonly #mounts = new Map<string, Mount>()
  /**
   * Answers a request in process, without a socket. Startup hooks and Runners need {@link Service.start} before, and
   * `stop` after. **Errors**: InvalidArgument for a malformed request; an Error if a stream breaks off. **Example**
   * `(await svc.inject({ path: '/double', body: [1, 2] })).json()`
   */
  readonly inject: Injector = injectorOf(this)
  /** The APIs by name, in the order of registration. */
  readonly apis: ReadonlyMap<string, Api> = this.#apis
  /** The functions that answer GET, by name. */
  readonly gets: ReadonlyMap<string, GetApi> = this.#gets
  /** The live streams, by name. */
  readonly lives: ReadonlyMap<string, LiveApi> = this.#lives
  readonly mounts: ReadonlyMap<string, Mount> = this.#mounts
  readonly #startup: Hook[] = []
  readonly #shutdown: Hook[] = []
  readonly #started: RunnerLife[] = []
  #hasRunners = true
  #isCancelled = false

  /** **Errors**: InvalidArgument for a name of other than letters, digits, `_`, `.` and `-`, or an unknown option. */
  constructor(name: string, options: ServiceOptions = {}) {
    if (typeof name !== 'string' || !/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(name)) {
      throw new InvalidArgument(expected('letters, digits, _ . and -', 'the name of a Service', name))
    }
    checkOptions('Service', options, optionNames)
    this.name = name
    this.doc = options.doc
    this.version = parseVersion(options.version)
    if (options.cors !== undefined) new Cors(options.cors)
    this.cors = options.cors
    this.auth = parseAuth(options.auth, 'auth of Service') || undefined
    this.publicPaths = parsePaths(options.publicPaths ?? [])
    this.jobs = checkOptions('jobs of Service', options.jobs ?? {}, ['store', 'blobs', 'webhooks'])
    const { repository } = options
    const models = parseModels(options.models ?? [], name)
    this.models = repository === undefined ? models : parseModels([...models, modelRepository(repository)], name)
    const runners = requireRunners(options.runners ?? [], name)
    this.protocols = options.protocols ?? []
    const areProtocols = Array.isArray(this.protocols) && this.protocols.every((each) => Array.isArray(each?.runners))
    checkThat(areProtocols, 'a list of what openai(...) returns', 'protocols of Service', this.protocols)
    const served = [...this.models.map(({ runner }) => runner), ...this.protocols.flatMap((each) => each.runners)]
    const others = new Set(served.filter((runner) => !runners.includes(runner)))
    this.runners = Object.freeze(requireRunners([...runners, ...others], name))
  }

  /**
   * Registers a function as `POST {baseUrl}/{route}` and returns it. It receives the input and the {@link Context}.
   * **Errors**: InvalidArgument for an empty, duplicate or reserved name or route, or an invalid descriptor.
   */
  api<I extends AnyDescriptor, O extends AnyDescriptor, F extends ApiFunction<I, O>>(
    options: ApiOptions<I, O>,
    fn: F & ApiFunction<I, O>,
  ): F & ApiTypes<I, O> {
    const api = createApi(options, fn as unknown as Api['fn'])
    this.#requireNew(api, this.#apis)
    this.#apis.set(api.name, api)
    return fn as F & ApiTypes<I, O>
  }

  /**
   * Registers a function as `GET {baseUrl}/{route}` and HEAD. It receives the URL's query, or what the schema `query`
   * makes of it; a query that the schema refuses gets 400. **Errors**: as `api`. **Example** `svc.get('/labels', {
   * query: z.object({ top: z.coerce.number() }), output: new io.JSON() }, labels)`
   */
  get<O extends AnyDescriptor, F extends GetFunction<O, Q>, Q extends StandardSchemaV1 | undefined = undefined>(
    route: string,
    options: GetOptions<O, Q>,
    fn: F & GetFunction<O, Q>,
  ): F & ApiTypes<QueryTypes<Q>, O> {
    const api = createGetApi(route, options as never, fn as unknown as GetApi['fn'])
    this.#requireNew(api, this.#gets)
    this.#gets.set(api.name, api)
    return fn as F & ApiTypes<QueryTypes<Q>, O>
  }

  /** Like `api`, but returns the service, whose type then has the API. **Errors**: as `api`. */
  add<N extends string, I extends AnyDescriptor, O extends AnyDescriptor, F extends ApiFunction<I, O>>(
    name: N,
    options: ApiOptions<I, O> & { readonly name?: never },
    fn: F & ApiFunction<I, O>,
  ): Typed<A, N, F & ApiTypes<I, O>> {
    this.api<I, O, F>({ ...options, name }, fn)
    return this as never
  }

  /** Like `get` on the route `name`, but returns the service, whose type then has the API. */
  addGet<
    N extends string,
    O extends AnyDescriptor,
    F extends GetFunction<O, Q>,
    Q extends StandardSchemaV1 | undefined = undefined,
  >(
    name: N,
    options: GetOptions<O, Q> & { readonly name?: never },
    fn: F & GetFunction<O, Q>,
  ): Typed<A, N, F & ApiTypes<QueryTypes<Q>, O>> {
    this.get<O, F, Q>(name, { ...options, name }, fn)
    return this as never
  }

  /**
   * Registers a function as a stream of messages in both directions at `{baseUrl}/{name}`, over WebSocket, and returns
   * it. It receives the client's messages and the {@link Context}, whose signal is aborted if the client goes away.
   * **Errors**: as `api`. **Example** `svc.live('upper', { input: new io.Text(), output: new io.Text() }, async
   * function* (texts) { for await (const text of texts) yield text.toUpperCase() })`
   */
  live<I extends AnyDescriptor, O extends AnyDescriptor, F extends LiveFunction<I, O>>(
    name: string,
    options: LiveOptions<I, O>,
    fn: F & LiveFunction<I, O>,
  ): F & LiveTypes<I, O> {
    const api = createLiveApi(name, options, fn as unknown as LiveApi['fn'])
    this.#requireNew(api, this.#lives)
    this.#lives.set(api.name, api)
    return fn as F & LiveTypes<I, O>
  }

  /** Like `live`, but returns the service, whose type then has the stream. **Errors**: as `api`. */
  addLive<N extends string, I extends AnyDescriptor, O extends AnyDescriptor, F extends LiveFunction<I, O>>(
    name: N,
    options: LiveOptions<I, O>,
    fn: F & LiveFunction<I, O>,
  ): Typed<A, N, F & LiveTypes<I, O>> {
    this.live<I, O, F>(name, options, fn)
    return this as never
  }

  /**
   * Answers every path from `path` on by a Fetch handler, such as Hono's. It gets the whole URL, before the body has
   * come. Limits, hooks and auth apply; longer paths of APIs take precedence. **Example** `svc.mount('/app', new
   * Hono().basePath('/app').get('/', (c) => c.text('hi')).fetch)`
   */
  mount(path: string, handler: FetchHandler): void {
    const mount = createMount(path, handler)
    if (this.#mounts.has(path)) throw new InvalidArgument(`the path ${path} is mounted already`)
    this.#mounts.set(path, mount)
  }

  /** **Errors**: InvalidArgument for a taken name, or a taken route of the same method. */
  #requireNew({ name, route }: Api | GetApi | LiveApi, rivals: ReadonlyMap<string, Pick<Api, 'name' | 'route'>>): void {
    if (this.#apis.has(name) || this.#gets.has(name) || this.#lives.has(name))
      throw new InvalidArgument(`the API ${name} is registered already`)
    for (const other of rivals.values()) {
      if (other.route === route)
        throw new InvalidArgument(`the route ${route} belongs to the API ${other.name} already`)
    }
  }

  /**
   * Adds a hook that runs before a request's body is read, not for health. It may refuse by throwing. **Example**
   * `svc.onRequest((ctx) => { if (!ctx.headers.get('x-team')) throw new Forbidden('expected x-team') })`
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

  /**
   * Runs the startup hooks in order, and then loads all runners at the same time; not for a process that only submits
   * jobs. Called by the server.
   */
  async start(all: StartOptions & { readonly withRunners?: boolean } = {}): Promise<void> {
    const { withRunners = true, ...options } = all
    this.#hasRunners = withRunners
    for (const hook of this.#startup) await hook()
    for (const { examples } of this.#apis.values()) for (const { checked } of examples) await checked
    if (this.#isCancelled) throw new Overloaded(`the start of the service ${this.name} was broken off`)
    const starts = (withRunners ? this.runners : []).map(async (runner) => {
      await runner.start(options)
      this.#started.push(runner)
    })
    // All must settle, so that a failed start stops all that has started.
    for (const { status, reason } of (await Promise.allSettled(starts)) as PromiseRejectedResult[]) {
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

function parseVersion(version: string | undefined): string | undefined {
  if (version === undefined || (typeof version === 'string' && version !== '')) return version
  throw new InvalidArgument(expected('a version', 'version of Service', version))
}

function parsePaths(paths: readonly string[]): readonly string[] {
  const ok = Array.isArray(paths) && paths.every((path) => typeof path === 'string' && path.startsWith('/'))
  if (!ok) throw new InvalidArgument(expected('a list of paths', 'publicPaths of Service', paths))
  return paths
}

function requireRunners(runners: readonly RunnerLife[], service: string): RunnerLife[] {
  const place = `runners of the service ${service}`
  if (!Array.isArray(runners)) throw new InvalidArgument(expected('a list of Runners', place, runners))
  for (const [i, runner] of runners.entries()) {
    // By its members: a file may have loaded another copy of the package.
    const ok =
      typeof runner?.name === 'string' && typeof runner.start === 'function' && typeof runner.stop === 'function'
    if (!ok) throw new InvalidArgument(expected('a Runner', place, runner))
    if (runners.findIndex((other) => other.name === runner.name) !== i) {
      throw new InvalidArgument(`the service ${service} has two runners named ${runner.name}`)
    }
  }
  return [...runners]
}
