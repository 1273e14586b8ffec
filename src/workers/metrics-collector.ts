/**
 * Collects the metrics of all worker processes.
 * @module
 */
import type { MetricFamily } from '../metrics/metric-family.ts'
import { workerFamilies } from '../server/server-metrics.ts'
import {
  isMessageOf,
  type MetricsOfAll,
  type MetricsReport,
  type MetricsRequest,
  type MetricsWanted,
} from './worker-messages.ts'

/** How long a busy worker is waited for; then what it told last counts. **Units**: milliseconds. */
export const collectMs = 2_000

/** The part of a worker of node:cluster that this needs. */
export interface Asked {
  readonly process: { on(event: 'close', listener: () => void): unknown }
  on(event: 'message', listener: (message: unknown) => void): unknown
  send(message: MetricsRequest | MetricsOfAll, callback: (error: Error | null) => void): boolean
}

type Families = readonly MetricFamily[]

/**
 * Asks worker processes for their metrics. Counters never go back: those of a worker that has ended are kept, as it
 * told them at its orderly end, else when it was last asked.
 */
export class MetricsCollector {
  readonly #last = new Map<Asked, Families>()
  readonly #waiting = new Map<number, { readonly missing: Set<Asked>; readonly done: () => void }>()
  readonly #ended: Families[] = []
  #ids = 0
  #restarts = 0
  #joining: Promise<void> = Promise.resolve()

  /** Collects the metrics of a worker process from now on, and answers when it asks for those of all. */
  follow(worker: Asked): void {
    this.#last.set(worker, [])
    worker.on('message', (message) => {
      if (isMessageOf<MetricsReport>('metrics', message)) this.#told(worker, message)
      else if (isMessageOf<MetricsWanted>('metrics_wanted', message)) void this.#answer(worker, message)
    })
    // After the last message, as `exit` is not.
    worker.process.on('close', () => this.#onEnd(worker))
  }

  /** Counts a worker process that takes the place of one that died. */
  restarted(): void {
    this.#restarts++
  }

  /** Returns the metrics of each worker, of those that have ended, and of the supervisor. */
  async collect(): Promise<readonly Families[]> {
    const id = ++this.#ids
    const missing = new Set(this.#last.keys())
    if (missing.size > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, collectMs)
        const done = () => {
          clearTimeout(timer)
          resolve()
        }
        this.#waiting.set(id, { missing, done })
        // The callback receives the error of a worker that has just died; `ended` follows.
        for (const worker of missing) worker.send({ type: 'collect', id }, () => {})
      })
      this.#waiting.delete(id)
    }
    return [...this.#last.values(), ...this.#ended, workerFamilies(this.#last.size, this.#restarts)]
  }

  #told(worker: Asked, { id, families }: MetricsReport): void {
    this.#last.set(worker, families)
    this.#answered(worker, id)
  }

  async #answer(worker: Asked, { id }: MetricsWanted): Promise<void> {
    const processes = await this.collect()
    worker.send({ type: 'metrics_of_all', id, processes }, () => {})
  }

  #onEnd(worker: Asked): void {
    const counters = (this.#last.get(worker) ?? []).filter(({ type }) => type !== 'gauge')
    this.#last.delete(worker)
    for (const id of this.#waiting.keys()) this.#answered(worker, id)
    if (counters.length === 0) return
    this.#ended.push(counters)
    this.#joining = this.#joining.then(() => this.#joinEnded())
  }

  #answered(worker: Asked, id: number): void {
    const waiting = this.#waiting.get(id)
    if (waiting?.missing.delete(worker) && waiting.missing.size === 0) waiting.done()
  }

  /** Joins the counters of workers that have ended, so that they do not become ever more. */
  async #joinEnded(): Promise<void> {
    const several = this.#ended.slice()
    if (several.length < 2) return
    const { joinFamilies } = await import('../metrics/exposition.ts')
    const joined = await joinFamilies(several)
    this.#ended.splice(0, several.length, joined)
  }
}
