/** The telemetry of a server: metrics, the access log and traces. @module */
import type { Logger } from '../../engine/log.ts'
import type { ServeOptions } from '../../engine/options.ts'
import type { Endpoint } from '../../http/endpoint.ts'
import type { RequestObserver } from '../../http/outcome.ts'
import type { Service } from '../../service.ts'
import { measureProcess } from '../../telemetry/metrics/exposition.ts'
import type { MetricFamily } from '../../telemetry/metrics/metric-family.ts'
import { collectGroup } from '../../telemetry/metrics/process-group.ts'
import { setTracer, type Tracer, tracer } from '../../telemetry/tracing/tracer.ts'
import { AccessLog } from './access-log.ts'
import { listenMetrics, MetricsPage, type MetricsPort, metricsEndpoint } from './metrics-endpoint.ts'
import { type MeasuredServer, ServerMetrics } from './server-metrics.ts'

/** The part of ServeOptions that this is about. */
export type TelemetryOptions = Pick<
  ServeOptions,
  'metrics' | 'metricsPort' | 'accessLog' | 'accessLogSample' | 'otlpEndpoint' | 'traceSample' | 'host' | 'tlsCert'
>

// Loading what measures blocks: not while others wait for `/readyz`. **Units**: milliseconds.
const measureAfterMs = 200

/** The telemetry of one server. */
export class Telemetry {
  readonly observers: readonly RequestObserver[]
  readonly endpoints: readonly Endpoint[]
  readonly #options: TelemetryOptions
  readonly #metrics: ServerMetrics | undefined
  readonly #page: MetricsPage
  readonly #tracer: Tracer | undefined
  readonly #stopTracing: (() => Promise<void>) | undefined
  #port: MetricsPort | undefined
  #measuring: NodeJS.Timeout | undefined

  private constructor(
    service: Service,
    options: TelemetryOptions,
    log: Logger,
    own: Tracer | undefined,
    stopTracing: (() => Promise<void>) | undefined,
  ) {
    const { metrics = true, metricsPort, accessLog = false, accessLogSample = 1 } = options
    this.#options = options
    this.#metrics =
      metrics === false && metricsPort === undefined ? undefined : new ServerMetrics(service.runners ?? [])
    this.#page = new MetricsPage(() => collectGroup(() => this.collect()))
    this.#tracer = own
    this.#stopTracing = stopTracing
    setTracer(own)
    const access = accessLog ? new AccessLog(log, accessLogSample) : undefined
    // The tracer first: what comes after it sees the trace.
    this.observers = [own, this.#metrics, access].filter((each) => each !== undefined)
    this.endpoints = metrics === true ? [metricsEndpoint(this.#page)] : []
  }

  /** Starts an OpenTelemetry SDK where that is asked for. **Errors**: InvalidArgument; MissingDependencyException. */
  static async start(service: Service, options: TelemetryOptions, log: Logger): Promise<Telemetry> {
    const { otlpEndpoint, traceSample, tlsCert } = options
    const stop =
      otlpEndpoint === undefined
        ? undefined
        : (await import('../../telemetry/tracing/otlp.ts')).startOtlp(otlpEndpoint, service.name)
    const scheme = tlsCert === undefined ? 'http' : 'https'
    return new Telemetry(service, options, log, await createTracer(traceSample, scheme), stop)
  }

  /** Called before the server listens. **Errors**: SetupError for a port that cannot be listened on. */
  async listen(server: MeasuredServer): Promise<void> {
    const { metricsPort, host } = this.#options
    if (this.#metrics === undefined) return
    this.#metrics.server = server
    if (metricsPort !== undefined) this.#port = await listenMetrics(this.#page, metricsPort, host)
  }

  measure(): void {
    if (this.#metrics !== undefined) this.#measuring = setTimeout(tryToMeasure, measureAfterMs).unref()
  }

  get metricsPort(): number | undefined {
    return this.#port?.port
  }

  async collect(): Promise<readonly MetricFamily[]> {
    return (await this.#metrics?.collect()) ?? []
  }

  async close(): Promise<void> {
    if (tracer === this.#tracer) setTracer(undefined)
    clearTimeout(this.#measuring)
    await Promise.all([this.#port?.close(), this.#stopTracing?.()])
  }
}

function tryToMeasure(): void {
  try {
    measureProcess()
  } catch {
    // No file descriptor was free. The next request for the metrics tries again.
  }
}

/** Returns a tracer for the SDK that the application has registered; undefined without one. `share`: `traceSample`. */
async function createTracer(share: number | undefined, scheme: 'http' | 'https'): Promise<Tracer | undefined> {
  // Where all copies of the API's major version 1 find what is registered.
  const registered = (globalThis as Record<symbol, unknown>)[Symbol.for('opentelemetry.js.api.1')]
  if ((registered as { readonly trace?: unknown } | undefined)?.trace === undefined) return undefined
  const { isSdkRegistered, OtelTracer, sampleShare } = await import('../../telemetry/tracing/otel-tracer.ts')
  return isSdkRegistered() ? new OtelTracer(share ?? sampleShare(process.env), scheme) : undefined
}
