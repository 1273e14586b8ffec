/** The state of a server before it listens. @module */

import { ConcurrencyLimiter } from '../api/concurrency-limiter.ts'
import { type Cors, type CorsOptions, corsBy } from '../api/cors.ts'
import { MemoryBudget } from '../core/memory/memory-budget.ts'
import type { ServerState } from '../engine/engine.ts'
import { type Health, unreadyReason } from '../engine/health.ts'
import { type Logger, logFailure } from '../engine/log.ts'
import { parseAllowedHosts, trustedProxies } from '../engine/option-kinds.ts'
import type { Disclosure, Limits, ServerOptions } from '../engine/options.ts'
import { createRouter, type MakePreflight } from '../engine/router.ts'
import { beforeRequests, hookObserver, joinObservers } from '../engine/service-hooks.ts'
import { forwardingHeaders, type TrustedProxies } from '../http/client-address.ts'
import { allHeaders, type HeaderNames, joinHeaderNames } from '../http/message.ts'
import type { RequestObserver } from '../http/outcome.ts'
import { attachProtocols, type Composition } from './built-in-protocols.ts'
import { corsEndpoint } from './endpoints/cors-endpoint.ts'
import { type AskProcesses, createHost, type ServerHost } from './host.ts'
import type { ServedService } from './served-service.ts'

/** The limits of a server, and what stands in front of it. */
export type StateSettings = Limits &
  Partial<Pick<ServerOptions, 'trustProxy' | 'tlsCert' | 'corsOrigin' | 'allowedHosts'>>

/** The optional parts of a server. */
export interface ServerExtras {
  /** Undefined for a server without sockets: it has nothing open. */
  readonly composition?: Pick<Composition, 'attach' | 'observers' | 'unready'>
  /** Undefined for a process alone. */
  readonly askProcesses?: AskProcesses | undefined
}

/** The state of a server, and what its protocols have registered. */
export type HostedState = ServerState & { readonly host: ServerHost }

/**
 * @returns the state of a server of `service` with its APIs below `prefix`; its health is
 * `starting`.
 */
export async function createServerState(
  service: ServedService,
  settings: StateSettings,
  prefix: string,
  log: Logger,
  { introspection, docs }: Disclosure,
  { composition, askProcesses }: ServerExtras = {},
): Promise<HostedState> {
  const { maxLive, maxInFlight, maxMemoryBytes, trustProxy, tlsCert } = settings
  const proxies = trustedProxies(trustProxy)
  const allowedHosts = parseAllowedHosts(settings.allowedHosts)
  const health: Health = { state: 'starting' }
  const host = createHost({
    service,
    prefix,
    introspection,
    maxLive,
    unready: () => unreadyReason(health, () => service.unready ?? composition?.unready),
    logLate: (error, requestId) => logFailure(log, error, requestId),
    warn: (message) => log.warn({ event: 'cache' }, message),
    askProcesses,
  })
  const cors = corsOf(service, settings.corsOrigin)
  const preflight: MakePreflight | undefined =
    cors && ((methodsOf) => corsEndpoint(cors, methodsOf))
  if (composition === undefined) await attachProtocols(host, service, { docs, metrics: [] })
  else await composition.attach(host)
  const { endpoints, methods, collectors, lives } = host
  const observers = composition?.observers ?? []
  const hooks = hookObserver(service, log)
  const observer = joinObservers(hooks === undefined ? observers : [...observers, hooks])
  const origins = endpoints.map((endpoint) => endpoint.origins)
  return {
    host,
    router: createRouter(endpoints, preflight),
    methods,
    collectors,
    limits: settings,
    limiter: new ConcurrencyLimiter(maxInFlight),
    memory: new MemoryBudget(maxMemoryBytes),
    health,
    log,
    observer,
    before: beforeRequests(service, { hosts: allowedHosts, cors, origins }),
    cors,
    lives,
    readsHeaders: headersFor(service, observer, proxies, [
      ...(cors === undefined ? [] : ['origin']),
      ...(allowedHosts === undefined ? [] : ['host']),
    ]),
    proxies,
    isTls: tlsCert !== undefined,
  }
}

function headersFor(
  service: ServedService,
  observer: RequestObserver | undefined,
  proxies: TrustedProxies | undefined,
  own: readonly string[],
): HeaderNames {
  if (!service.hooks.isEmpty || service.auth !== undefined) return allHeaders
  const forwarding = proxies === undefined ? [] : forwardingHeaders(proxies)
  return joinHeaderNames(observer?.readsHeaders ?? [], forwarding, own)
}

function corsOf({ cors }: ServedService, origin: string | undefined): Cors | undefined {
  if (origin === undefined) return cors && corsBy(cors)
  const list = origin === '*' ? origin : origin.split(',').map((each) => each.trim())
  return corsBy({ ...cors, origin: list } as CorsOptions)
}
