/**
 * The port on which the supervisor answers the metrics of all workers.
 * @module
 */
import type { MetricsPort } from '../telemetry/metrics-endpoint.ts'
import type { MetricsCollector } from './metrics-collector.ts'

/** Listens on a port that may change while the workers go on. */
export class SharedMetricsPort {
  readonly #metrics: MetricsCollector
  readonly #host: string | undefined
  #configured: number | undefined
  #open: MetricsPort | undefined

  constructor(metrics: MetricsCollector, host: string | undefined) {
    this.#metrics = metrics
    this.#host = host
  }

  /** The port that listens; undefined while none does. */
  get port(): number | undefined {
    return this.#open?.port
  }

  /**
   * Listens on a port, 0 for a free one, or on none; what listened before is closed then. Returns whether anything has
   * changed. **Errors**: SetupError for a port that cannot be listened on; what listened before goes on.
   */
  async move(port: number | undefined): Promise<boolean> {
    if (port === this.#configured) return false
    const before = this.#open
    // Loaded here: it takes the node engine and a tenth of a second before the first worker starts.
    const { listenMetrics, MetricsPage } = await import('../telemetry/metrics-endpoint.ts')
    this.#open =
      port === undefined
        ? undefined
        : await listenMetrics(new MetricsPage(() => this.#metrics.collect()), port, this.#host)
    this.#configured = port
    await before?.close()
    return true
  }
}
