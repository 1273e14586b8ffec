/** The telemetry of a server: metrics, the access log and traces. @module */
import type { Logger } from '../../engine/log.ts'
import type { ServeOptions } from '../../engine/options.ts'
import type { ListeningServer } from '../../http/node-http.ts'
import type { Service } from '../../service.ts'
import { type CollectGroup, measureProcess } from '../../telemetry/metrics/exposition.ts'
import { type Tracer, useTracer } from '../../telemetry/tracing/tracer.ts'
import { logRequests } from './access-log.ts'
import { listenMetrics, metricsEndpoint, metricsPage } from './metrics-endpoint.ts'
import { type MeasuredServer, ServerMetrics } from './server-metrics.ts'

// Loading what measures blocks: not while others wait for `/readyz`. **Units**: milliseconds.
const measureAfterMs = 200

/** The telemetry of one server. */
export type Telemetry = Awaited<ReturnType<typeof startTelemetry>>

/**
 * Starts an OpenTelemetry SDK where that is asked for. `collectGroup`: of all processes, undefined for one alone.
 * **Errors**: InvalidArgument; MissingDependencyException.
 */
export async function startTelemetry(
  service: Service,
  options: ServeOptions,
  log: Logger,
  collectGroup: CollectGroup | undefined,
) {
  const { metrics = true, metricsPort, accessLog = false, accessLogSample = 1, otlpEndpoint, traceSample } = options
  const stopTracing =
    otlpEndpoint === undefined
      ? undefined
      : (await import('../../telemetry/tracing/otlp.ts')).startOtlp(otlpEndpoint, service.name)
  const tracer = await createTracer(traceSample, options.tlsCert === undefined ? 'http' : 'https')
  const stopUsing = tracer && useTracer(tracer)
  const counts = metrics === false && metricsPort === undefined ? undefined : new ServerMetrics(service.runners ?? [])
  const collect = async () => (await counts?.collect()) ?? []
  const page = metricsPage(collectGroup ?? (async () => [await collect()]))
  const access = accessLog ? logRequests(log, accessLogSample) : undefined
  let port: ListeningServer | undefined
  let measuring: NodeJS.Timeout | undefined
  return {
    // The tracer first: what comes after it sees the trace.
    observers: [tracer, counts, access].filter((each) => each !== undefined),
    tracer,
    endpoints: metrics === true ? [metricsEndpoint(page)] : [],
    get metricsPort() {
      return port?.port
    },
    /** Called before the server listens. **Errors**: SetupError for a port that cannot be listened on. */
    async listen(server: MeasuredServer) {
      if (counts === undefined) return
      counts.server = server
      if (metricsPort !== undefined) port = await listenMetrics(page, metricsPort, options.host)
    },
    /** Called once the server listens. */
    measure() {
      if (counts !== undefined) measuring = setTimeout(tryToMeasure, measureAfterMs).unref()
    },
    collect,
    async close() {
      stopUsing?.()
      clearTimeout(measuring)
      await Promise.all([port?.close(), stopTracing?.()])
    },
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
  // Where all copies of the API's major version 1 find registered objects.
  const registered = (globalThis as Record<symbol, unknown>)[Symbol.for('opentelemetry.js.api.1')]
  if ((registered as { readonly trace?: unknown } | undefined)?.trace === undefined) return undefined
  const { isSdkRegistered, OtelTracer, sampleShare } = await import('../../telemetry/tracing/otel-tracer.ts')
  return isSdkRegistered() ? new OtelTracer(share ?? sampleShare(process.env), scheme) : undefined
}
