/** The metrics of a worker process: reported to its supervisor, and requested from it for all workers. @module */
import type { MetricFamily } from '../../telemetry/metrics/metric-family.ts'
import { joinGroup } from '../../telemetry/metrics/process-group.ts'
import { collectMs } from './metrics-collector.ts'
import {
  type AllMetrics,
  isMessageOf,
  type MetricsRequest,
  sendToSupervisor,
  type WorkerMessage,
} from './worker-messages.ts'
import { supervisorChannel, WorkerPoll } from './worker-poll.ts'

type Families = readonly MetricFamily[]

const answerMs = collectMs + 1_000

/** Makes this process one of those that a supervisor collects metrics from. */
export class MetricsMember {
  readonly #own: () => Promise<Families>
  readonly #poll = new WorkerPoll<readonly Families[], WorkerMessage>()

  constructor(own: () => Promise<Families>) {
    this.#own = own
    process.on('message', (message: unknown) => {
      if (isMessageOf<MetricsRequest>('metrics_request', message)) void this.#report(message.id)
      else if (isMessageOf<AllMetrics>('all_metrics', message))
        this.#poll.take(supervisorChannel, message.id, message.processes)
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

  async #ask(): Promise<readonly Families[]> {
    const requestOf = (id: number) => ({ type: 'all_metrics_request', id }) as const
    const { answers } = await this.#poll.ask([supervisorChannel], answerMs, requestOf)
    if (answers.length === 0) throw new Error('the supervisor did not answer')
    return answers[0]
  }
}
