/**
 * The state of a server before it listens.
 * @module
 */
import type { Service } from '../service/service.ts'
import { ConcurrencyLimiter } from './concurrency-limiter.ts'
import { endpointsOf } from './endpoints.ts'
import type { ServerState } from './engine.ts'
import type { Health } from './health.ts'
import type { Logger } from './log.ts'
import { MemoryBudget } from './memory-budget.ts'
import type { Limits } from './options.ts'
import { createRouter } from './router.ts'

/** Returns the state of a server of `service` with its APIs below `prefix`; its health is `starting`. */
export function createServerState(
  service: Service,
  limits: Limits,
  prefix: string,
  log: Logger,
  introspection: boolean,
): ServerState {
  const health: Health = { state: 'starting' }
  const router = createRouter(endpointsOf(service, health, prefix, introspection))
  return {
    router,
    limits,
    limiter: new ConcurrencyLimiter(limits.maxInFlight),
    memory: new MemoryBudget(limits.maxMemoryBytes),
    health,
    log,
  }
}
