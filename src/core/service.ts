/**
 * The service: a named set of APIs with hooks around its life.
 * @module
 */
import { expected, InvalidArgument } from '../errors.ts'
import type { AnyDescriptor } from '../io/descriptor.ts'
import { type Api, type ApiFunction, type ApiOptions, createApi } from './api.ts'

/** Options of a {@link Service}. */
export interface ServiceOptions {
  /** What the service does, for the documentation page. */
  readonly doc?: string
}

/** Work around a service's life; awaited. */
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
 */
export class Service {
  readonly name: string
  readonly doc: string | undefined
  readonly #apis = new Map<string, Api>()
  readonly #startup: Hook[] = []
  readonly #shutdown: Hook[] = []

  /** **Errors**: InvalidArgument for an empty name, one with other than letters, digits, `_`, `.` and `-`, or an unknown option. */
  constructor(name: string, options: ServiceOptions = {}) {
    if (typeof name !== 'string' || !/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(name)) {
      throw new InvalidArgument(expected('letters, digits, _ . and -', 'the name of a Service', name))
    }
    const unknown = Object.keys(options).find((key) => key !== 'doc')
    if (unknown !== undefined)
      throw new InvalidArgument(`unknown option ${JSON.stringify(unknown)} for Service; it has doc`)
    this.name = name
    this.doc = options.doc
  }

  /**
   * Registers a function as `POST {baseUrl}/{route}` and returns it. The function receives what the input descriptor makes
   * of the request, and the {@link Context}.
   * **Errors**: InvalidArgument for an empty, duplicate or reserved name or route, and for what is no descriptor.
   */
  api<I extends AnyDescriptor, O extends AnyDescriptor, F extends ApiFunction<I, O>>(
    options: ApiOptions<I, O>,
    fn: F & ApiFunction<I, O>,
  ): F {
    const api = createApi(options, fn as unknown as Api['fn'])
    for (const other of this.#apis.values()) {
      if (other.name === api.name) throw new InvalidArgument(`the API ${api.name} is registered already`)
      if (other.route === api.route)
        throw new InvalidArgument(`the route ${api.route} belongs to the API ${other.name} already`)
    }
    this.#apis.set(api.name, api)
    return fn
  }

  /** The registered APIs by name, in the order of registration. */
  get apis(): ReadonlyMap<string, Api> {
    return this.#apis
  }

  /** Adds work that must be done before the service is ready, in every worker process. */
  onStartup(hook: Hook): void {
    this.#startup.push(requireHook(hook, 'onStartup'))
  }

  /** Adds work for the end, after the last request; the last hook added runs first. */
  onShutdown(hook: Hook): void {
    this.#shutdown.push(requireHook(hook, 'onShutdown'))
  }

  /** Runs the startup hooks in order. Called by the server. */
  async start(): Promise<void> {
    for (const hook of this.#startup) await hook()
  }

  /** Runs all shutdown hooks, also when one fails, and then throws the first failure. Called by the server. */
  async stop(): Promise<void> {
    const failures: unknown[] = []
    for (const hook of this.#shutdown.toReversed()) {
      try {
        await hook()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
}

function requireHook(hook: unknown, name: string): Hook {
  if (typeof hook !== 'function') throw new InvalidArgument(expected('a function', name, hook))
  return hook as Hook
}
