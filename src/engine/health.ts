/** Liveness and readiness, for load balancers and orchestrators. @module */

import { type Endpoint, getPage } from '../api/endpoint.ts'
import type { Access } from '../api/visit.ts'
import type { HttpResponse } from '../http/message.ts'
import type { RunnerReadiness } from '../runner/not-started.ts'

/** `stopping`: still answers, not ready. `leaving`: a successor accepts connections. `draining`: refuses requests. */
export type HealthState = 'starting' | 'ready' | 'stopping' | 'leaving' | 'draining'

/** The state of one server, which the listener changes. */
export interface Health {
  state: HealthState
  /** A Runner that a function has called and nobody has started, by mistake of the service. */
  missing?: RunnerReadiness
}

// A proxy that keeps an old answer would keep a dead server in rotation.
const headers = [
  ['content-type', 'text/plain; charset=utf-8'],
  ['cache-control', 'no-store'],
] as const
const ok: HttpResponse = { headers, body: 'ok\n' }

/**
 * `/livez` and `/healthz`: the process answers; `/readyz`: it should get requests. Named as in Kubernetes.
 * `unready`: of {@link unreadyReason}.
 */
export function healthEndpoints(unready: () => string | undefined): Endpoint[] {
  return [
    openPage('/livez', 'Whether the process answers.', () => ok),
    openPage('/healthz', 'As `/livez`.', () => ok),
    openPage(
      '/readyz',
      'Whether requests should be sent.',
      () => readiness(unready()),
      'No, and why.',
    ),
  ]
}

/** Undefined if the server should get requests. */
export function unreadyReason(
  { state, missing }: Health,
  unready: () => string | undefined,
): string | undefined {
  if (state === 'ready' || state === 'leaving') return missing?.unready ?? unready()
  const waitsFor = state === 'starting' ? unready() : undefined
  return waitsFor === undefined ? state : `${state}: ${waitsFor}`
}

function readiness(reason: string | undefined): HttpResponse {
  return reason === undefined ? ok : { status: 503, headers, body: `${reason}\n` }
}

const probes: Access = { kind: 'open', because: 'probes of orchestrators have no credentials' }

function openPage(
  path: string,
  summary: string,
  answer: () => HttpResponse,
  unavailable?: string,
): Endpoint {
  const text = (description: string) => ({
    description,
    content: { 'text/plain': { schema: { type: 'string' } } },
  })
  const responses = {
    200: text('Yes.'),
    ...(unavailable !== undefined && { 503: text(unavailable) }),
  }
  const operation = { operationId: path.slice(1), tags: ['health'], summary, responses }
  return { ...getPage(path, probes, [], answer), operation }
}
