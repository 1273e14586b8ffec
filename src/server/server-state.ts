/**
 * The state of a server before it listens.
 * @module
 */
import type { ServingError } from '../errors.ts'
import { Models } from '../oip/models.ts'
import type { Service } from '../service/service.ts'
import { ConcurrencyLimiter } from './concurrency-limiter.ts'
import { endpointsOf } from './endpoints.ts'
import type { ServerState } from './engine.ts'
import { type Health, unreadyReason } from './health.ts'
import { type Logger, logFailure } from './log.ts'
import { MemoryBudget } from './memory-budget.ts'
import type { Disclosure, Limits } from './options.ts'
import { createRouter } from './router.ts'

/** Returns the state of a server of `service` with its APIs below `prefix`; its health is `starting`. */
export function createServerState(
  service: Service,
  limits: Limits,
  prefix: string,
  log: Logger,
  disclosure: Disclosure,
): ServerState {
  const health: Health = { state: 'starting' }
  const models = new Models(service)
  const oip = {
    models,
    unready: () => unreadyReason(health.state, () => service.unready),
    onLateError: (error: ServingError, requestId: string) => logFailure(log, error, requestId),
  }
  const router = createRouter(endpointsOf(service, health, prefix, disclosure, oip))
  return {
    router,
    models,
    limits,
    limiter: new ConcurrencyLimiter(limits.maxInFlight),
    memory: new MemoryBudget(limits.maxMemoryBytes),
    health,
    log,
  }
}
