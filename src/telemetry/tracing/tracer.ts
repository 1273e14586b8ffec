/** The tracer of this process, and what it does. @module */
import type { Context } from '../../http/context.ts'
import type { RequestObserver } from '../../http/outcome.ts'

/** A stage of a request that has a span of its own. */
export type StageName = 'decode' | 'function' | 'encode'

/** The spans of one call of a Runner that is traced. */
export interface CallTrace {
  dispatched(): void
  /** Called once, when the call is answered or given up. */
  settled(error: Error | undefined): void
}

/** The spans of what one message asks a thread for. */
export interface JobTrace {
  readonly traceparent: string
  settled(error: Error | undefined): void
}

/** Makes spans of requests. Its methods never throw. */
export interface Tracer extends RequestObserver {
  /** Runs a stage of a request, in a span where the request is traced. Returns what `work` returns or throws. */
  stage<T>(ctx: Context, name: StageName, work: () => T): T
  /** Begins a call of a Runner; undefined where the caller is not traced. `caller`: a context, or other options. */
  call(runner: string, method: string, caller: object): CallTrace | undefined
  /** Begins the job of a thread; undefined if no call is traced. */
  job(name: string, calls: readonly (CallTrace | undefined)[], rows: number | undefined): JobTrace | undefined
  traceId(ctx: Context): string | undefined
  headers(ctx: Context): Record<string, string>
}

/** Of the servers of this process that trace. */
const tracers = new Set<Tracer>()

/**
 * A tracer of this process; undefined while nothing is traced. Each knows the requests of all servers, as their SDK is
 * one. A server alone decides as an observer whether it traces a request.
 */
export let tracer: Tracer | undefined

/** Adds the tracer of a server. Returns what removes it. */
export function useTracer(added: Tracer): () => void {
  tracers.add(added)
  tracer ??= added
  return () => {
    tracers.delete(added)
    if (tracer === added) [tracer] = tracers
  }
}

/**
 * Returns the headers that continue a request's trace in another service: `traceparent`, `tracestate`, `baggage`.
 * Without an OpenTelemetry SDK, those of the request. **Example** `await fetch(url, { headers: traceHeaders(ctx) })`
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
