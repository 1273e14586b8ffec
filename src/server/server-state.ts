/** The state of a server before it listens. @module */

import { ConcurrencyLimiter } from '../api/concurrency-limiter.ts'
import { type Cors, type CorsOptions, corsBy } from '../api/cors.ts'
import type { Endpoint } from '../api/endpoint.ts'
import { MemoryBudget } from '../core/memory/memory-budget.ts'
import type { ServerState } from '../engine/engine.ts'
import { type Health, unreadyReason } from '../engine/health.ts'
import { type Logger, logFailure } from '../engine/log.ts'
import type { Disclosure, Limits } from '../engine/options.ts'
import { createRouter, type MakePreflight } from '../engine/router.ts'
import { beforeRequests, hookObserver, joinObservers } from '../engine/service-hooks.ts'
import { forwardingHeaders, type TrustedProxies } from '../http/client-address.ts'
import { allHeaders, type HeaderNames, joinHeaderNames } from '../http/message.ts'
import type { RequestObserver } from '../http/outcome.ts'
import type { JobPaths } from '../jobs/job-endpoints.ts'
import { LiveStreams } from '../live/live-streams.ts'
import { mcpEndpoint } from '../protocols/mcp/endpoint.ts'
import { type AskOthers, ModelGroup } from '../protocols/oip/model-group.ts'
import { Models } from '../protocols/oip/models.ts'
import type { OipServer } from '../protocols/oip/oip-endpoint.ts'
import type { Service } from '../service.ts'
import { corsEndpoint } from './endpoints/cors-endpoint.ts'
import { endpointsOf } from './endpoints/endpoints.ts'

/** The optional parts of a server. */
export interface ServerExtras {
  readonly proxies?: TrustedProxies | undefined
  readonly isTls?: boolean | undefined
  readonly corsOrigin?: string | undefined
  /** Undefined: any. */
  readonly allowedHosts?: ReadonlySet<string> | undefined
  /** Told of all requests before the hooks of the service. */
  readonly observers?: readonly RequestObserver[]
  readonly endpoints?: readonly Endpoint[]
  readonly jobs?: JobPaths | undefined
  /** Undefined for a process alone. */
  readonly askOthers?: AskOthers | undefined
}

/** Returns the state of a server of `service` with its APIs below `prefix`; its health is `starting`. */
export function createServerState(
  service: Service,
  limits: Limits,
  prefix: string,
  log: Logger,
  disclosure: Disclosure,
  { proxies, isTls, corsOrigin, allowedHosts, observers = [], endpoints = [], jobs, askOthers }: ServerExtras = {},
): ServerState {
  const health: Health = { state: 'starting' }
  const models = new Models(service)
  const oip: OipServer = {
    models,
    group: new ModelGroup(models, askOthers),
    prefix,
    introspection: disclosure.introspection,
    unready: () => unreadyReason(health, () => service.unready ?? jobs?.unready),
    onLateError: (error, requestId) => logFailure(log, error, requestId),
  }
  const cors = corsOf(service, corsOrigin)
  const preflight: MakePreflight | undefined = cors && ((methodsOf) => corsEndpoint(cors, methodsOf))
  // A process that only runs jobs has no APIs.
  const hasApis = jobs?.role !== 'work'
  const hasLives = hasApis && service.lives.size > 0
  const lives = hasLives ? new LiveStreams(service.lives.values(), prefix, limits.maxLive) : undefined
  const mcp = hasApis && service.mcp && mcpEndpoint(service, prefix, oip.onLateError)
  const others = [...endpoints, ...(lives?.endpoints ?? []), ...(mcp ? [mcp] : [])]
  const warn = (message: string) => log.warn({ event: 'cache' }, message)
  const all = endpointsOf(service, health, prefix, disclosure, oip, others, warn, jobs)
  const router = createRouter(all, preflight)
  const hooks = hookObserver(service, log)
  const observer = joinObservers(hooks === undefined ? observers : [...observers, hooks])
  return {
    router,
    oip,
    limits,
    limiter: new ConcurrencyLimiter(limits.maxInFlight),
    memory: new MemoryBudget(limits.maxMemoryBytes),
    health,
    log,
    observer,
    before: beforeRequests(service, { hosts: allowedHosts, cors, origins: all.map(({ origins }) => origins) }),
    cors,
    lives,
    readsHeaders: joinHeaderNames(
      headersFor(service, observer, proxies, cors),
      allowedHosts === undefined ? [] : ['host'],
    ),
    proxies,
    isTls,
  }
}

function headersFor(
  service: Service,
  observer: RequestObserver | undefined,
  proxies: TrustedProxies | undefined,
  cors: Cors | undefined,
): HeaderNames {
  if (!service.hooks.isEmpty || service.auth !== undefined) return allHeaders
  const forwarding = proxies === undefined ? [] : forwardingHeaders(proxies)
  return joinHeaderNames(observer?.readsHeaders ?? [], forwarding, cors === undefined ? [] : ['origin'])
}

function corsOf({ cors }: Service, origin: string | undefined): Cors | undefined {
  if (origin === undefined) return cors && corsBy(cors)
  const list = origin === '*' ? origin : origin.split(',').map((each) => each.trim())
  return corsBy({ ...cors, origin: list } as CorsOptions)
}
