/** The trace of the request whose function runs. @module */
import { Context } from '../../http/context.ts'
import type { RequestTrace } from '../../http/request-trace.ts'

/** Where the copies of version 1 of OpenTelemetry's API find the registered SDK. */
const registry = Symbol.for('opentelemetry.js.api.1')

/** Key of the request's trace in OpenTelemetry's context. */
export const traceKey = Symbol('serving.trace')

interface Registered {
  readonly trace?: unknown
  readonly context?: { active(): { getValue(key: symbol): unknown } }
}

/**
 * @returns the parts of the SDK that OpenTelemetry's API has, without loading either; undefined
 * without an SDK.
 */
export function registeredTelemetry(): Registered | undefined {
  return (globalThis as Record<symbol, unknown>)[registry] as Registered | undefined
}

/**
 * @returns the trace of a caller that is a request, else that of the function that runs; undefined
 * if nothing is traced.
 */
export function traceOf(caller: object): RequestTrace | undefined {
  const trace = caller instanceof Context ? caller.trace : undefined
  return (
    trace ??
    (registeredTelemetry()?.context?.active().getValue(traceKey) as RequestTrace | undefined)
  )
}

/**
 * Without an OpenTelemetry SDK, those of the request.
 *
 * @returns the headers that continue a request's trace in another service: `traceparent`,
 * `tracestate`, `baggage`.
 * @example
 * `await fetch(url, { headers: traceHeaders(ctx) })`
 */
export function traceHeaders(ctx: Context): Record<string, string> {
  return traceOf(ctx)?.headers() ?? headersOf(ctx)
}

/** @returns the headers of a trace that a request came with. */
export function headersOf(ctx: Context): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const name of ['traceparent', 'tracestate', 'baggage']) {
    const value = ctx.headers.get(name)
    if (value !== undefined) headers[name] = value
  }
  return headers
}
