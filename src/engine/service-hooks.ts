/** The auth and hooks of a service, and all who observe its requests. @module */

import type { Api } from '../api/api.ts'
import type { Cors } from '../api/cors.ts'
import type { Endpoint } from '../api/endpoint.ts'
import { type Hooks, isPublicPath, type RequestHook, runRequestHooks } from '../api/hooks.ts'
import type { LiveApi } from '../api/live-api.ts'
import type { Origins, Visit } from '../api/visit.ts'
import { expected, Forbidden, type ServingError } from '../core/errors.ts'
import { isPromise, type MaybePromise, whenReady } from '../core/promise.ts'
import type { Context } from '../http/context.ts'
import { allHeaders, joinHeaderNames, type RequestHeaders } from '../http/message.ts'
import type { RequestObserver } from '../http/outcome.ts'
import { hostFault, isOwnPage, originFault } from '../http/own-page.ts'
import type { Logger } from './log.ts'

/** The part of an endpoint that decides what runs. */
export type HookedEndpoint = Pick<Endpoint, 'access' | 'origins' | 'path'>

/**
 * Never throws.
 *
 * @returns the error that refuses the request, or undefined.
 */
export type RunBefore = (
  endpoint: HookedEndpoint,
  visit: Visit,
) => MaybePromise<ServingError | undefined>

/** Which hosts and pages a server answers. */
export interface AllowedSources {
  /** Names of the server beside localhost and addresses; undefined for any. */
  readonly hosts: ReadonlySet<string> | undefined
  readonly cors: Pick<Cors, 'allows'> | undefined
  /** Of all endpoints. */
  readonly origins: readonly Origins[]
}

/**
 * Undefined if all requests are let in: the service has no auth and no hooks, and pages of any origin may ask by any
 * Host.
 */
export function beforeRequests(
  service: HookedService,
  sources: AllowedSources,
): RunBefore | undefined {
  const before = beforeHooks(service)
  const { hosts, origins } = sources
  if (hosts === undefined && origins.every((each) => each === 'any')) return before
  return (endpoint, visit) =>
    sourceFault(endpoint, visit.ctx.headers, sources) ?? before?.(endpoint, visit)
}

/** @returns why nobody may ask from there. */
function sourceFault(
  { access, origins }: HookedEndpoint,
  headers: RequestHeaders,
  sources: AllowedSources,
) {
  if (access.kind === 'open') return undefined
  const host = headers.get('host')
  const fault = sources.hosts && hostFault(host, sources.hosts)
  const origin = headers.get('origin')
  if (fault !== undefined || origins === 'any' || origin === undefined) return fault
  if (origins !== 'same') return originFault(origin, host, origins)
  if (sources.cors?.allows(origin) || isOwnPage(origin, host, sources.hosts !== undefined))
    return undefined
  return new Forbidden(
    expected(
      'a page of this host, or of an origin that cors names,',
      'origin',
      origin.slice(0, 80),
    ),
  )
}

function beforeHooks(service: HookedService): RunBefore | undefined {
  const { auth, hooks } = service
  const apis = functionsOf(service)
  const hasOwn = apis.some((api) => api.hooks.request.length > 0 || api.auth)
  if (hooks.request.length === 0 && auth === undefined && !hasOwn) return undefined
  const decidesLater = apis.some((api) => api.auth !== undefined)
  const runs = new Map<HookedEndpoint, RunBefore>()
  return (endpoint, visit) => {
    let run = runs.get(endpoint)
    if (run === undefined) {
      run = runFor(endpoint)
      runs.set(endpoint, run)
    }
    return run(endpoint, visit)
  }

  function runFor(endpoint: HookedEndpoint): RunBefore {
    const { access } = endpoint
    if (access.kind === 'open') return () => undefined
    const api = access.kind === 'api' ? apiOf(service, access.api) : undefined
    const own = api?.hooks.request ?? []
    const isPublic = access.kind === 'public' || isPublicPath(service.publicPaths, endpoint.path)
    const authorize = api?.auth ?? (isPublic ? false : auth)
    const early = hooks.request.filter(({ before }) => before === 'auth')
    const later = hooks.request.filter(({ before }) => before !== 'auth')
    if (!authorize) return runAll([...early, ...later, ...own])
    if (endpoint.path.endsWith('/*')) {
      // A mounted handler has many paths, of which some may be public.
      const open = [...early, ...later]
      const closed = [...early, authorize, ...later]
      return (_, { ctx }) =>
        runRequestHooks(isPublicPath(service.publicPaths, ctx.path) ? open : closed, ctx)
    }
    if (access.kind !== 'message' || !decidesLater)
      return runAll([...early, authorize, ...later, ...own])
    // The body names the API, which decides whether the refusal holds.
    return (_, visit) =>
      whenReady(runRequestHooks(early, visit.ctx), (refusal) => {
        if (refusal !== undefined) return refusal
        return whenReady(runRequestHooks([authorize], visit.ctx), (denial) => {
          visit.denial = denial
          return runRequestHooks(later, visit.ctx)
        })
      })
  }
}

function runAll(hooks: readonly RequestHook[]): RunBefore {
  return (_, { ctx }) => runRequestHooks(hooks, ctx)
}

/** The part of a service that is observed. */
export interface HookedService {
  readonly apis: ReadonlyMap<string, Api>
  readonly routes: ReadonlyMap<string, Api>
  readonly lives: ReadonlyMap<string, LiveApi>
  readonly hooks: Hooks
  readonly auth: RequestHook | undefined
  readonly publicPaths: readonly string[]
}

/** @returns the API of that name. */
export function apiOf(
  { apis, routes, lives }: HookedService,
  name: string | undefined,
): HookedFunction | undefined {
  return name === undefined ? undefined : (apis.get(name) ?? routes.get(name) ?? lives.get(name))
}

type HookedFunction = Api | LiveApi

function functionsOf({ apis, routes, lives }: HookedService): HookedFunction[] {
  return [...apis.values(), ...routes.values(), ...lives.values()]
}

/** Undefined without observers. */
export function joinObservers(observers: readonly RequestObserver[]): RequestObserver | undefined {
  if (observers.length < 2) return observers[0]
  return {
    needsAddress: observers.some(({ needsAddress }) => needsAddress),
    needsStages: observers.some(({ needsStages }) => needsStages),
    readsHeaders: joinHeaderNames(...observers.map(({ readsHeaders = [] }) => readsHeaders)),
    onBegin: (ctx) => {
      for (const each of observers) each.onBegin?.(ctx)
    },
    onError: (ctx, cause) => {
      for (const each of observers) each.onError?.(ctx, cause)
    },
    onOutcome: (ctx, result) => {
      for (const each of observers) each.onOutcome?.(ctx, result)
    },
  }
}

/** The `onResponse` and `onError` hooks of a service and its APIs as an observer. */
export function hookObserver(service: HookedService, log: Logger): RequestObserver | undefined {
  const { hooks } = service
  const all = [hooks, ...functionsOf(service).map((api) => api.hooks)]
  const hasError = all.some(({ error }) => error.length > 0)
  const hasResponse = all.some(({ response }) => response.length > 0)
  if (!hasError && !hasResponse) return undefined
  const run = (ctx: Context, name: 'error' | 'response', told: unknown) => {
    const failed = (err: unknown) =>
      log.error({ requestId: ctx.id, event: 'hook_failed', err }, `a hook failed`)
    for (const hook of [...hooks[name], ...(apiOf(service, ctx.api)?.hooks[name] ?? [])]) {
      try {
        const result = hook(ctx, told as never)
        if (isPromise(result)) Promise.resolve(result).catch(failed)
      } catch (err) {
        failed(err)
      }
    }
  }
  return {
    needsAddress: true,
    needsStages: hasResponse,
    readsHeaders: allHeaders,
    ...(hasError && {
      onError: (ctx, error) => {
        ctx.dropHeaders()
        run(ctx, 'error', error)
        ctx.saveHeaders()
      },
    }),
    ...(hasResponse && {
      onOutcome: (ctx, outcome) => run(ctx, 'response', outcome),
    }),
  }
}
