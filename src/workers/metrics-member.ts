/**
 * The metrics of a worker process: told to its supervisor, and asked from it for all workers.
 * @module
 */
import type { MetricFamily } from '../metrics/metric-family.ts'
import { joinGroup } from '../metrics/process-group.ts'
import { collectMs } from './metrics-collector.ts'
import { isMessageOf, type MetricsOfAll, type MetricsRequest, type WorkerMessage } from './worker-messages.ts'

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
      if (isMessageOf<MetricsRequest>('collect', message)) void this.#tell(message.id)
      else if (isMessageOf<MetricsOfAll>('metrics_of_all', message)) this.#pending.get(message.id)?.(message.processes)
    })
    joinGroup(() => this.#ask())
  }

  /** Tells the metrics for the last time: what was counted outlives this process. */
  async leave(): Promise<void> {
    await this.#tell(0)
  }

  async #tell(id: number): Promise<void> {
    await send({ type: 'metrics', id, families: await this.#own().catch(() => []) })
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
      void send({ type: 'metrics_wanted', id })
    })
  }
}

/** Sends the supervisor a message. Resolves when it has left, or nobody is there. */
export function send(message: WorkerMessage): Promise<void> {
  return new Promise((resolve) => {
    // Without a connected supervisor there is nobody to tell.
    if (process.send === undefined || !process.connected) resolve()
    else process.send(message, undefined, undefined, () => resolve())
  })
}
