/** Joins all who observe the requests of a server. @module */

import type { Api } from '../api/api.ts'
import type { GetApi } from '../api/get-api.ts'
import type { Hooks, RequestHook } from '../api/hooks.ts'
import { isPromise } from '../core/promise.ts'
import type { Context } from '../http/context.ts'
import { joinHeaderNames } from '../http/header-names.ts'
import type { RequestObserver } from '../http/outcome.ts'
import type { Logger } from './log.ts'

/** The part of a service that is observed. */
export interface HookedService {
  readonly apis: ReadonlyMap<string, Api>
  readonly gets: ReadonlyMap<string, GetApi>
  readonly hooks: Hooks
  readonly auth: RequestHook | undefined
  readonly publicPaths: readonly string[]
}

/** Returns the API of that name. */
export function apiOf({ apis, gets }: HookedService, name: string | undefined): Api | GetApi | undefined {
  return name === undefined ? undefined : (apis.get(name) ?? gets.get(name))
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
  const { apis, gets, hooks } = service
  const all = [hooks, ...[...apis.values(), ...gets.values()].map((api) => api.hooks)]
  const hasError = all.some(({ error }) => error.length > 0)
  const hasResponse = all.some(({ response }) => response.length > 0)
  if (!hasError && !hasResponse) return undefined
  const run = (
    ctx: Context,
    name: 'error' | 'response',
    call: (hook: (ctx: Context, of: never) => unknown) => unknown,
  ) => {
    const own = apiOf(service, ctx.api)?.hooks[name]
    for (const list of own === undefined ? [hooks[name]] : [hooks[name], own]) {
      for (const hook of list) {
        const failed = (err: unknown) => log.error({ requestId: ctx.id, event: 'hook_failed', err }, `a hook failed`)
        try {
          const result = call(hook)
          if (isPromise(result)) Promise.resolve(result).catch(failed)
        } catch (err) {
          failed(err)
        }
      }
    }
  }
  return {
    needsAddress: true,
    needsStages: hasResponse,
    readsHeaders: 'all',
    ...(hasError && {
      onError: (ctx, error) => {
        ctx.dropHeaders()
        run(ctx, 'error', (hook) => hook(ctx, error as never))
        ctx.saveHeaders()
      },
    }),
    ...(hasResponse && { onOutcome: (ctx, outcome) => run(ctx, 'response', (hook) => hook(ctx, outcome as never)) }),
  }
}
