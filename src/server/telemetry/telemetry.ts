/** The telemetry of a server: metrics, the access log and traces. @module */
import type { Logger } from '../../engine/log.ts'
import type { ServerOptions } from '../../engine/options.ts'
import type { ListeningServer } from '../../http/node-http.ts'
import { type CollectGroup, measureProcess } from '../../telemetry/metrics/exposition.ts'
import { registeredTelemetry } from '../../telemetry/tracing/active-trace.ts'
import type { OtelTracer, TracerProvider } from '../../telemetry/tracing/otel-tracer.ts'
import type { ServedService } from '../served-service.ts'
import { logRequests } from './access-log.ts'
import { listenMetrics, metricsEndpoint, metricsPage } from './metrics-endpoint.ts'
import { type MeasuredServer, ServerMetrics } from './server-metrics.ts'

// Loading what measures blocks: not while others wait for `/readyz`. **Units**: milliseconds.
const measureAfterMs = 200

/**
 * Starts an OpenTelemetry SDK where that is asked for. `collectGroup`: of all processes, undefined
 * for one alone.
 *
 * @throws InvalidArgument; MissingDependencyException.
 */
export async function startTelemetry(
  service: ServedService,
  options: ServerOptions,
  log: Logger,
  collectGroup: CollectGroup | undefined,
) {
  const { metrics, metricsPort, accessLog, accessLogSample, otlpEndpoint, traceSample } = options
  const otlp =
    otlpEndpoint === undefined
      ? undefined
      : await (await import('../../telemetry/tracing/otlp.ts')).startOtlp(
          otlpEndpoint,
          service.name,
        )
  const tracer = await createTracer(
    otlp?.provider,
    traceSample,
    options.tlsCert === undefined ? 'http' : 'https',
  )
  const counts =
    metrics === false && metricsPort === undefined ? undefined : new ServerMetrics(service.runners)
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
    /**
     * Called before the server listens.
     *
     * @throws SetupError for a port that cannot be listened on.
     */
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
      clearTimeout(measuring)
      await Promise.all([port?.close(), otlp?.stop()])
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

/**
 * `share`: `traceSample`.
 *
 * @returns a tracer for the SDK of this server, else for the one that the application has
 * registered; undefined without either.
 */
async function createTracer(
  provider: TracerProvider | undefined,
  share: number | undefined,
  scheme: 'http' | 'https',
): Promise<OtelTracer | undefined> {
  if (provider === undefined && registeredTelemetry()?.trace === undefined) return undefined
  const { OtelTracer, registeredProvider, sampleShare } = await import(
    '../../telemetry/tracing/otel-tracer.ts'
  )
  const used = provider ?? registeredProvider()
  return used && new OtelTracer(used, share ?? sampleShare(process.env), scheme)
}
