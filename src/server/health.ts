/**
 * Liveness and readiness, for load balancers and orchestrators.
 * @module
 */

import type { Endpoint } from '../http/endpoint.ts'
import type { HttpResponse } from '../http/message.ts'
import { problemResponse } from '../http/problem.ts'

/** The states of a server's life. Only a `ready` one accepts requests. */
export type HealthState = 'starting' | 'ready' | 'draining'

/** The state of one server, which the listener changes. */
export interface Health {
  state: HealthState
}

// `no-store`: a proxy that keeps an old answer would keep a dead server in rotation.
const headers = [
  ['content-type', 'text/plain; charset=utf-8'],
  ['cache-control', 'no-store'],
] as const
const ok: HttpResponse = { headers, body: 'ok\n' }

/**
 * Returns the endpoints of health: `/livez` and `/healthz` say that the process answers at all, `/readyz` whether it
 * should be sent requests (503 while starting or draining, or with what `unready` says is missing, such as a model).
 * **Source**: our choice: the endpoint names of the Kubernetes API server, which probes are usually written for.
 */
export function healthEndpoints(health: Health, unready: () => string | undefined): Endpoint[] {
  return [
    pageEndpoint('/livez', () => ok),
    pageEndpoint('/healthz', () => ok),
    pageEndpoint('/readyz', () => readiness(health.state, unready)),
  ]
}

/** Why a server should not be sent requests; undefined when it should. */
export function unreadyReason(state: HealthState, unready: () => string | undefined): string | undefined {
  return state === 'ready' ? unready() : state
}

function readiness(state: HealthState, unready: () => string | undefined): HttpResponse {
  const reason = unreadyReason(state, unready)
  return reason === undefined ? ok : { status: 503, headers, body: `${reason}\n` }
}

function pageEndpoint(path: string, page: () => HttpResponse): Endpoint {
  return {
    name: path,
    path,
    methods: ['GET'],
    readsHeaders: ['x-request-id'],
    isLimited: false,
    decompresses: false,
    answer: page,
    problem: problemResponse,
  }
}
