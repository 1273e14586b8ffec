/** What a service has registered, each under a name and a route of its own. @module */

import { InvalidArgument } from '../core/errors.ts'
import type { AnyDescriptor } from '../descriptors/descriptor.ts'
import { type AnyOptions, type Api, type ApiMethod, createApi } from './api.ts'
import { createLiveApi, type LiveApi, type LiveOptions } from './live-api.ts'
import { createMount, type FetchHandler, type Mount, type MountOptions } from './mount.ts'
import { paramNames } from './path-params.ts'
import { createSchedule, type Schedule, type ScheduleOptions } from './schedule.ts'

/** The APIs, live streams and mounted handlers of a service, in the order of registration. */
export class Registry {
  readonly apis = new Map<string, Api>()
  readonly routes = new Map<string, Api>()
  readonly lives = new Map<string, LiveApi>()
  readonly mounts = new Map<string, Mount>()
  readonly schedules: Schedule[] = []
  readonly #apiOf = new Map<unknown, Api>()

  /**
   * Adds a function of any method.
   *
   * @throws InvalidArgument, also for a taken name, or a taken route.
   */
  addApi(method: ApiMethod, route: string | undefined, options: AnyOptions, fn: unknown): void {
    const api = createApi(method, route, options, fn)
    this.#requireNew(api)
    const isPlain = method === 'POST' && paramNames(api.route).length === 0
    const apis = isPlain ? this.apis : this.routes
    apis.set(api.name, api)
    this.#apiOf.set(fn, api)
  }

  /** Adds a call by the clock. @throws InvalidArgument, MissingDependencyException. */
  addSchedule(cron: string, fn: unknown, input: unknown, options: ScheduleOptions): void {
    const api = this.#apiOf.get(fn)
    if (api?.async === undefined)
      throw new InvalidArgument(
        'expected what svc.api returned for an API with async for svc.schedule',
      )
    this.schedules.push(createSchedule(cron, api, input, options))
  }

  /** Adds a live stream. @throws as `addApi`. */
  addLive(name: string, options: LiveOptions<AnyDescriptor, AnyDescriptor>, fn: unknown): void {
    const api = createLiveApi(name, options, fn)
    this.#requireNew(api)
    this.lives.set(api.name, api)
  }

  /** Adds a mounted handler. @throws InvalidArgument, also for a taken path. */
  addMount(path: string, handler: FetchHandler, options: MountOptions): void {
    const mount = createMount(path, handler, options)
    if (this.mounts.has(path)) throw new InvalidArgument(`the path ${path} is mounted already`)
    this.mounts.set(path, mount)
  }

  /** Resolves when the examples of all APIs and the inputs of schedules are checked. @throws the first failure. */
  async checkExamples(): Promise<void> {
    for (const { examples } of [...this.apis.values(), ...this.routes.values()])
      for (const { checked } of examples) await checked
    for (const { request } of this.schedules) await request.checked
  }

  /** @throws InvalidArgument for a taken name, or a taken route of the same method. */
  #requireNew({ name, route, method }: { name: string; route: string; method?: ApiMethod }): void {
    const shape = (path: string) => path.replace(/\{\w+\}/g, '{}')
    for (const other of [...this.apis.values(), ...this.routes.values(), ...this.lives.values()]) {
      if (other.name === name) throw new InvalidArgument(`the API ${name} is registered already`)
      // One path of the OpenAPI document has parameters of one name.
      const isTaken =
        ('method' in other ? other.method : undefined) === method || other.route !== route
      if (isTaken && shape(other.route) === shape(route))
        throw new InvalidArgument(`the route ${route} belongs to the API ${other.name} already`)
    }
  }
}
