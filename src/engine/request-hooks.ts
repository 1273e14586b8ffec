/** The auth and the hooks that run before bodies are read. @module */

import { isPublicPath, type RequestHook, runRequestHooks } from '../api/hooks.ts'
import type { ServingError } from '../core/errors.ts'
import { type MaybePromise, whenReady } from '../core/promise.ts'
import type { Context } from '../http/context.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { apiOf, type HookedService } from './observers.ts'

/** The part of an endpoint that decides what runs. */
export type HookedEndpoint = Pick<Endpoint, 'api' | 'isOpen' | 'isPublic' | 'namesApi' | 'path'>

/** Returns the error that refuses the request, or undefined. Never throws. */
export type RunBefore = (endpoint: HookedEndpoint, ctx: Context) => MaybePromise<ServingError | undefined>

/** Undefined if a service has no auth and no hooks. */
export function beforeRequests(service: HookedService): RunBefore | undefined {
  const { auth, hooks } = service
  const apis = [...service.apis.values(), ...service.gets.values()]
  const hasOwn = apis.some((api) => api.hooks.request.length > 0 || api.auth)
  if (hooks.request.length === 0 && auth === undefined && !hasOwn) return undefined
  const decidesLater = [...service.apis.values()].some((api) => api.auth !== undefined)
  const runs = new Map<HookedEndpoint, RunBefore>()
  return (endpoint, ctx) => {
    let run = runs.get(endpoint)
    if (run === undefined) {
      run = runFor(endpoint)
      runs.set(endpoint, run)
    }
    return run(endpoint, ctx)
  }

  function runFor(endpoint: HookedEndpoint): RunBefore {
    if (endpoint.isOpen) return () => undefined
    const api = apiOf(service, endpoint.api)
    const own = api?.hooks.request ?? []
    const isPublic = endpoint.isPublic || isPublicPath(service.publicPaths, endpoint.path)
    const authorize = api?.auth ?? (isPublic ? false : auth)
    const early = hooks.request.filter(({ before }) => before === 'auth')
    const later = hooks.request.filter(({ before }) => before !== 'auth')
    if (!authorize) return runAll([...early, ...later, ...own])
    if (!endpoint.namesApi || !decidesLater) return runAll([...early, authorize, ...later, ...own])
    // The body names the API, which decides whether the refusal holds.
    return (_, ctx) =>
      whenReady(runRequestHooks(early, ctx), (refusal) => {
        if (refusal !== undefined) return refusal
        return whenReady(runRequestHooks([authorize], ctx), (denial) => {
          ctx.denial = denial
          return runRequestHooks(later, ctx)
        })
      })
  }
}

function runAll(hooks: readonly RequestHook[]): RunBefore {
  return (_, ctx) => runRequestHooks(hooks, ctx)
}
