/**
 * Headers that continue a trace.
 * @module
 */
import type { Context } from '../http/context.ts'
import { tracer } from './tracer.ts'

/**
 * Returns the headers with which a call of another service continues the trace of a request: `traceparent`, and
 * `tracestate` and `baggage` where there are any. Without an OpenTelemetry SDK, those that came with the request.
 *
 * **Example** `await fetch(url, { headers: traceHeaders(ctx) })`
 */
export function traceHeaders(ctx: Context): Record<string, string> {
  if (tracer !== undefined) return tracer.headers(ctx)
  const headers: Record<string, string> = {}
  for (const name of ['traceparent', 'tracestate', 'baggage']) {
    const value = ctx.headers.get(name)
    if (value !== undefined) headers[name] = value
  }
  return headers
}
