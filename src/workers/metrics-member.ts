/**
 * The metrics of a worker process: reported to its supervisor, and requested from it for all workers.
 * @module
 */
import type { MetricFamily } from '../metrics/metric-family.ts'
import { joinGroup } from '../metrics/process-group.ts'
import { collectMs } from './metrics-collector.ts'
import { type AllMetrics, isMessageOf, type MetricsRequest, sendToSupervisor } from './worker-messages.ts'

type Families = readonly MetricFamily[]

/** How long the supervisor is waited for. **Units**: milliseconds. */
const answerMs = collectMs + 1_000

/** Makes this process one of those that a supervisor collects metrics from. */
export class MetricsMember {
  readonly #own: () => Promise<Families>
  readonly #pending = new Map<number, (processes: readonly Families[]) => void>()
  #ids = 0

  /** `own`: returns the metrics of this process. */
  constructor(own: () => Promise<Families>) {
    this.#own = own
    process.on('message', (message: unknown) => {
      if (isMessageOf<MetricsRequest>('metrics_request', message)) void this.#report(message.id)
      else if (isMessageOf<AllMetrics>('all_metrics', message)) this.#pending.get(message.id)?.(message.processes)
    })
    joinGroup(() => this.#ask())
  }

  /** Reports the metrics for the last time: what was counted outlives this process. */
  async leave(): Promise<void> {
    await this.#report(0)
  }

  async #report(id: number): Promise<void> {
    await sendToSupervisor({ type: 'metrics_report', id, families: await this.#own().catch(() => []) })
  }

  #ask(): Promise<readonly Families[]> {
    const id = ++this.#ids
    return new Promise((resolve, reject) => {
      const late = () => {
        this.#pending.delete(id)
        reject(new Error('the supervisor did not answer'))
      }
      const timer = setTimeout(late, answerMs)
      this.#pending.set(id, (processes) => {
        clearTimeout(timer)
        this.#pending.delete(id)
        resolve(processes)
      })
      void sendToSupervisor({ type: 'all_metrics_request', id })
    })
  }
}
