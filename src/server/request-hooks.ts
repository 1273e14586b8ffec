/**
 * The hooks that run before the bodies of requests are read.
 * @module
 */
import type { ServingError } from '../errors.ts'
import type { Context } from '../http/context.ts'
import type { Endpoint } from '../http/endpoint.ts'
import type { MaybePromise } from '../promise.ts'
import { type RequestHook, runRequestHooks } from '../service/hooks.ts'
import { type HookedService, hooksOf } from './observers.ts'

/** The part of an endpoint that decides which hooks run. */
export type HookedEndpoint = Pick<Endpoint, 'api' | 'isOpen'>

/** Runs the hooks of an endpoint; returns the error that refuses the request, or undefined. Never throws or rejects. */
export type RunBefore = (endpoint: HookedEndpoint, ctx: Context) => MaybePromise<ServingError | undefined>

/** Returns what runs the hooks of a service, and of its APIs where the path tells them; undefined for none. */
export function beforeRequests(service: HookedService): RunBefore | undefined {
  const { apis, gets, hooks } = service
  const hasOwn = [...apis.values(), ...gets.values()].some((api) => api.hooks.request.length > 0)
  if (hooks.request.length === 0 && !hasOwn) return undefined
  const lists = new Map<HookedEndpoint, readonly RequestHook[]>()
  return (endpoint, ctx) => {
    let list = lists.get(endpoint)
    if (list === undefined) {
      const own = hooksOf(service, endpoint.api)?.request ?? []
      list = endpoint.isOpen ? [] : [...hooks.request, ...own]
      lists.set(endpoint, list)
    }
    return runRequestHooks(list, ctx)
  }
}
