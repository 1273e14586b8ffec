/** One line of the log for each request. @module */

import type { Logger } from '../../engine/log.ts'
import type { Context } from '../../http/context.ts'
import type { Outcome, RequestObserver } from '../../http/outcome.ts'
import { parseTraceparent } from '../../telemetry/tracing/traceparent.ts'

/** Probes and scrapes, which would be most of the log of an idle server. */
const unlogged: ReadonlySet<string> = new Set(['/livez', '/healthz', '/readyz', '/metrics'])

const maxPath = 1024

/**
 * @returns what logs a share of the requests when they are over: never headers, bodies or queries,
 * which may hold secrets, nor probes and scrapes.
 */
export function logRequests(log: Logger, share: number): RequestObserver {
  let due = 1
  return {
    needsAddress: true,
    readsHeaders: ['traceparent'],
    onOutcome(ctx: Context, outcome: Outcome) {
      const { status, code, protocol, endpoint = '', bytesIn, bytesOut, durations } = outcome
      if (status < 400 && unlogged.has(endpoint)) return
      due += share
      if (due < 1 && status < 500) return
      if (due >= 1) due -= 1
      const { method, path, api, remoteAddress, id } = ctx
      const ms = Math.round(durations.totalMs * 1000) / 1000
      const traceId =
        ctx.trace?.traceId ?? parseTraceparent(ctx.headers.get('traceparent') ?? '')?.traceId
      const place = path.length > maxPath ? `${path.slice(0, maxPath)}…` : path
      const fields = {
        event: 'request',
        method,
        path: place,
        api,
        protocol,
        status,
        code,
        ms,
        bytesIn,
        bytesOut,
        requestId: id,
        traceId,
        remoteAddress,
      }
      log.info(fields, `${method} ${place} ${status}`)
    },
  }
}
