/** Collects the metrics of all worker processes. @module */
import { joinFamilies } from '../../telemetry/metrics/exposition.ts'
import type { MetricFamily } from '../../telemetry/metrics/metric-family.ts'
import { workerFamilies } from '../telemetry/server-metrics.ts'
import { type AllMetricsRequest, isMessageOf, type MetricsReport } from './worker-messages.ts'
import { type WorkerChannel, WorkerPoll } from './worker-poll.ts'

/** How long a busy worker is waited for; then its last report counts. **Units**: milliseconds. */
export const collectMs = 2_000

type Families = readonly MetricFamily[]

/** Asks worker processes for their metrics. Counters of a worker that has ended are kept: they never go back. */
export class MetricsCollector {
  readonly #last = new Map<WorkerChannel, Families>()
  readonly #poll = new WorkerPoll<undefined>()
  readonly #ended: Families[] = []
  #restarts = 0
  #joining: Promise<void> = Promise.resolve()

  follow(worker: WorkerChannel): void {
    this.#last.set(worker, [])
    worker.on('message', (message) => {
      if (isMessageOf<MetricsReport>('metrics_report', message)) this.#onReport(worker, message)
      else if (isMessageOf<AllMetricsRequest>('all_metrics_request', message)) void this.#answer(worker, message)
    })
    // After the last message, as `exit` is not.
    worker.process.on('close', () => this.#onEnd(worker))
  }

  restarted(): void {
    this.#restarts++
  }

  async collect(): Promise<readonly Families[]> {
    await this.#poll.ask(this.#last.keys(), collectMs, (id) => ({ type: 'metrics_request', id }))
    return [...this.#last.values(), ...this.#ended, workerFamilies(this.#last.size, this.#restarts)]
  }

  #onReport(worker: WorkerChannel, { id, families }: MetricsReport): void {
    this.#last.set(worker, families)
    this.#poll.take(worker, id, undefined)
  }

  async #answer(worker: WorkerChannel, { id }: AllMetricsRequest): Promise<void> {
    const processes = await this.collect()
    worker.send({ type: 'all_metrics', id, processes }, () => {})
  }

  #onEnd(worker: WorkerChannel): void {
    const counters = (this.#last.get(worker) ?? []).filter(({ type }) => type !== 'gauge')
    this.#last.delete(worker)
    this.#poll.end(worker)
    if (counters.length === 0) return
    this.#ended.push(counters)
    this.#joining = this.#joining.then(() => this.#joinEnded())
  }

  /** Joins the counters of workers that have ended, so that they do not become ever more. */
  async #joinEnded(): Promise<void> {
    const several = this.#ended.slice()
    if (several.length < 2) return
    const joined = await joinFamilies(several)
    this.#ended.splice(0, several.length, joined)
  }
}
