/**
 * The interface between the listener and its HTTP engines.
 * @module
 */

import type { ConcurrencyLimiter } from '../api/concurrency-limiter.ts'
import type { Cors } from '../api/cors.ts'
import type { TrustedProxies } from '../http/client-address.ts'
import type { RequestObserver } from '../http/outcome.ts'
import type { OipServer } from '../oip/endpoints.ts'
import type { Health } from './health.ts'
import type { Logger } from './log.ts'
import type { MemoryBudget } from './memory-budget.ts'
import type { EngineName, Limits } from './options.ts'
import type { RunBefore } from './request-hooks.ts'
import type { Router } from './router.ts'
import type { TlsFiles } from './tls-files.ts'

/** What an engine serves: everything about a server but its sockets. */
export interface ServerState {
  readonly router: Router
  /** For the Open Inference Protocol. */
  readonly oip: OipServer
  readonly limits: Limits
  readonly limiter: ConcurrencyLimiter
  readonly memory: MemoryBudget
  readonly health: Health
  readonly log: Logger
  /** The observer of all requests; undefined without one. */
  readonly observer?: RequestObserver | undefined
  /** Runs the hooks of an endpoint before the body is read; undefined when there are none. */
  readonly before?: RunBefore | undefined
  /** Request headers that are read for every endpoint, beside its own. */
  readonly readsHeaders?: readonly string[] | 'all'
  /** Undefined where pages of other origins cannot read answers. */
  readonly cors?: Cors | undefined
  /** Undefined where no header of a proxy is believed. */
  readonly proxies?: TrustedProxies | undefined
  /** Whether the HTTP port speaks TLS. Default false. */
  readonly isTls?: boolean | undefined
}

/** Where an engine listens. */
export interface Address {
  /** Undefined for all addresses, IPv4 and IPv6. */
  readonly host: string | undefined
  /** 0 for a free one. */
  readonly port: number
  /** Undefined for plain text. */
  readonly tls?: TlsFiles | undefined
}

/** A listening HTTP engine. */
export interface Engine {
  readonly name: EngineName
  readonly port: number
  /** Accepts no new connections; open ones go on. */
  stopAccepting(): void
  /** Stops listening and closes every connection; requests that still run are aborted. */
  close(): Promise<void>
}
