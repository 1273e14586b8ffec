/** Spans by OpenTelemetry, named by the semantic conventions 1.45. The only file that imports its API. @module */
import { randomBytes } from 'node:crypto'
import {
  type Attributes,
  context,
  type Link,
  type Context as OtelContext,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  TraceFlags,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api'
import { grpcStatusOf } from '../../core/errors.ts'
import { isPromise } from '../../core/promise.ts'
import type { Context } from '../../http/context.ts'
import type { RequestHeaders } from '../../http/message.ts'
import type { Outcome, RequestObserver } from '../../http/outcome.ts'
import type { CallTrace, JobTrace, RequestTrace, StageName } from '../../http/request-trace.ts'
import { traceKey } from './active-trace.ts'
import { formatTraceparent, parseTraceparent, type Traceparent } from './traceparent.ts'

export type { TracerProvider }

const getter: TextMapGetter<RequestHeaders> = {
  get: (headers, name) => headers.get(name),
  keys: (headers) => [...headers].map(([name]) => name),
}

/** Removes an SDK from OpenTelemetry's API. Returns whether it was the one that is registered. */
export function unregister(provider: TracerProvider): boolean {
  const registered = trace.getTracerProvider() as { getDelegate?(): TracerProvider }
  if (registered.getDelegate?.() !== provider) return false
  for (const each of [trace, context, propagation]) each.disable()
  return true
}

/** @returns the SDK that is registered in this process; undefined without one. */
export function registeredProvider(): TracerProvider | undefined {
  const provider = trace.getTracerProvider() as TracerProvider & {
    getDelegateTracer?(name: string): unknown
  }
  return provider.getDelegateTracer?.('serving') === undefined ? undefined : provider
}

/** @returns the share of requests that OpenTelemetry's variables ask for. */
export function sampleShare(environment: NodeJS.ProcessEnv): number {
  const { OTEL_TRACES_SAMPLER: sampler = '', OTEL_TRACES_SAMPLER_ARG: share = '1' } = environment
  if (sampler.endsWith('always_off')) return 0
  const value = sampler.endsWith('traceidratio') ? Number(share) : 1
  return value >= 0 && value <= 1 ? value : 1
}

/** Makes the spans of the requests of a server. */
export class OtelTracer implements RequestObserver {
  readonly readsHeaders: readonly string[]
  readonly needsAddress = true
  readonly #tracer: Tracer
  readonly #ratio: number
  readonly #scheme: 'http' | 'https'

  /**
   * `provider`: the SDK. `ratio`: share of the requests without `traceparent` for which it is asked; others follow
   * their flag.
   */
  constructor(provider: TracerProvider, ratio: number, scheme: 'http' | 'https') {
    this.#tracer = provider.getTracer('serving')
    this.#ratio = ratio
    this.#scheme = scheme
    this.readsHeaders = [
      ...new Set(['traceparent', 'tracestate', 'baggage', 'user-agent', ...propagation.fields()]),
    ]
  }

  onBegin(ctx: Context): void {
    const { headers, method, path } = ctx
    const parent = parseTraceparent(headers.get('traceparent') ?? '')
    if (parent === undefined ? Math.random() >= this.#ratio : !parent.sampled) {
      ctx.trace = new OtelTrace(this.#tracer, unrecorded(parent), undefined)
      return
    }
    const before = propagation.extract(ROOT_CONTEXT, headers, getter)
    const attributes: Attributes = {
      'http.request.method': method,
      'url.path': path,
      'url.scheme': this.#scheme,
      'client.address': ctx.remoteAddress,
      'user_agent.original': headers.get('user-agent'),
    }
    const span = this.#tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, before)
    ctx.trace = new OtelTrace(
      this.#tracer,
      trace.setSpan(before, span),
      span.isRecording() ? span : undefined,
    )
  }

  onOutcome(ctx: Context, outcome: Outcome): void {
    const span = ctx.trace instanceof OtelTrace ? ctx.trace.span : undefined
    if (span === undefined) return
    const { protocol, status, code, error, endpoint, route } = outcome
    span.setAttribute('http.response.status_code', status)
    if (ctx.api !== undefined) span.setAttribute('serving.api', ctx.api)
    if (ctx.job !== undefined)
      span.setAttributes({ 'serving.job.id': ctx.job.id, 'serving.job.attempt': ctx.job.attempt })
    if (protocol === 'http') {
      if (route !== undefined)
        span.updateName(`${ctx.method} ${route}`).setAttribute('http.route', route)
    } else {
      const name = endpoint ?? ctx.path.replace(/^\//, '')
      const system = protocol === 'grpc' ? 'grpc' : 'connectrpc'
      const attributes = {
        'rpc.system.name': system,
        'rpc.method': name,
        'rpc.status_code': grpcStatusOf(error),
      }
      span.updateName(name).setAttributes(attributes)
    }
    if (status >= 500) {
      span.setAttribute('error.type', code ?? String(status))
      span.setStatus({ code: SpanStatusCode.ERROR })
      if (error !== undefined) span.recordException(error)
    }
    span.end()
  }
}

class OtelTrace implements RequestTrace {
  /** Undefined if the request is not recorded. */
  readonly span: Span | undefined
  readonly #tracer: Tracer
  /** With the request's span, even an unrecorded one, so that nobody below it begins another trace. */
  readonly #context: OtelContext

  constructor(tracer: Tracer, within: OtelContext, span: Span | undefined) {
    this.#tracer = tracer
    this.#context = within.setValue(traceKey, this)
    this.span = span
  }

  get traceId(): string | undefined {
    return trace.getSpanContext(this.#context)?.traceId
  }

  stage<T>(name: StageName, work: () => T): T {
    if (this.span === undefined)
      return name === 'function' ? context.with(this.#context, work) : work()
    const span = this.#tracer.startSpan(name, {}, this.#context)
    const failed = (error: unknown) => {
      end(span, error)
      throw error
    }
    try {
      const result = context.with(trace.setSpan(this.#context, span), work)
      if (isPromise(result)) {
        const ended = (value: unknown) => {
          span.end()
          return value
        }
        return Promise.resolve(result).then(ended, failed) as T
      }
      span.end()
      return result
    } catch (error) {
      return failed(error)
    }
  }

  call(runner: string, method: string): CallTrace | undefined {
    const parent = this.#active()
    return isRecorded(parent) ? new OtelCall(this.#tracer, parent, runner, method) : undefined
  }

  headers(): Record<string, string> {
    const headers: Record<string, string> = {}
    propagation.inject(this.#active(), headers)
    return headers
  }

  /**
   * @returns the context that runs if it has a span, such as the function's, else the request's.
   */
  #active(): OtelContext {
    const active = context.active()
    return trace.getSpan(active) === undefined ? this.#context : active
  }
}

class OtelCall implements CallTrace {
  readonly span: Span
  readonly #tracer: Tracer
  readonly #context: OtelContext
  readonly #queue: Span

  constructor(tracer: Tracer, parent: OtelContext, runner: string, method: string) {
    const attributes = { 'serving.runner': runner, 'serving.method': method }
    this.#tracer = tracer
    this.span = tracer.startSpan(`${runner}.${method}`, { attributes }, parent)
    this.#context = trace.setSpan(parent, this.span)
    this.#queue = tracer.startSpan('queue', {}, this.#context)
  }

  dispatched(): void {
    this.#queue.end()
  }

  settled(error: Error | undefined): void {
    if (this.#queue.isRecording()) this.#queue.end()
    end(this.span, error)
  }

  job(name: string, calls: readonly (CallTrace | undefined)[], rows: number | undefined): JobTrace {
    const traced = calls.filter((call) => call instanceof OtelCall)
    let parent = this.#context
    let batch: Span | undefined
    const links: Link[] = traced.map((call) => ({ context: call.span.spanContext() }))
    if (rows !== undefined) {
      const attributes = { 'serving.batch.rows': rows, 'serving.batch.calls': calls.length }
      batch = this.#tracer.startSpan(`batch ${name}`, { links, attributes }, parent)
      for (const call of traced) call.span.addLink({ context: batch.spanContext() })
      parent = trace.setSpan(parent, batch)
    }
    // Short calls outside a batch share a message: all but the first are linked to what it did.
    const others = batch === undefined ? links.slice(1) : []
    const model = this.#tracer.startSpan(
      `model ${name}`,
      { kind: SpanKind.CLIENT, links: others },
      parent,
    )
    return {
      traceparent: traceparentOf(model),
      settled(error) {
        end(model, error)
        if (batch !== undefined) end(batch, error)
      },
    }
  }
}

function end(span: Span, error: unknown): void {
  if (error !== undefined) {
    span.recordException(error instanceof Error ? error : String(error))
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}

function isRecorded(of: OtelContext): boolean {
  return ((trace.getSpanContext(of)?.traceFlags ?? 0) & TraceFlags.SAMPLED) !== 0
}

function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return formatTraceparent({ traceId, spanId, sampled: (traceFlags & TraceFlags.SAMPLED) !== 0 })
}

/** @returns a context whose trace is not recorded: that of the caller, or a new one. */
function unrecorded(parent: Traceparent | undefined): OtelContext {
  if (parent !== undefined) return contextBelow({ ...parent, sampled: false })
  const [traceId, spanId] = [16, 8].map((size) => randomBytes(size).toString('hex'))
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: TraceFlags.NONE })
}

/** Runs `work` below the span of a `traceparent`, for instrumentation in a thread that has an SDK of its own. */
export function withParent<T>(traceparent: string, work: () => T): T {
  const parent = parseTraceparent(traceparent)
  return parent === undefined ? work() : context.with(contextBelow(parent), work)
}

function contextBelow({ traceId, spanId, sampled }: Traceparent): OtelContext {
  const traceFlags = sampled ? TraceFlags.SAMPLED : TraceFlags.NONE
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true })
}
