/** What one server counts, and its metrics. @module */
import { readFileSync } from 'node:fs'
import type { ConcurrencyLimiter } from '../../api/concurrency-limiter.ts'
import { grpcStatusOf, ServingError } from '../../core/errors.ts'
import type { MemoryBudget } from '../../engine/memory-budget.ts'
import type { EngineName } from '../../engine/options.ts'
import type { Context } from '../../http/context.ts'
import type { Outcome, RequestObserver } from '../../http/outcome.ts'
import type { RunnerLife } from '../../runner/runner.ts'
import { processFamilies } from '../../telemetry/metrics/exposition.ts'
import { counter, gauge, type MetricFamily } from '../../telemetry/metrics/metric-family.ts'
import { RequestCounts } from '../../telemetry/metrics/request-counts.ts'
import { runnerFamilies, runnerState } from '../../telemetry/metrics/runner-counts.ts'

/** The parts of a server that are measured. */
export interface MeasuredServer {
  readonly engine: EngineName
  readonly limiter: ConcurrencyLimiter
  readonly memory: MemoryBudget
}

/** Counts the requests of a server. */
export class ServerMetrics implements RequestObserver {
  readonly #counts = new RequestCounts()
  readonly #runners: readonly RunnerLife[]
  server: MeasuredServer | undefined

  constructor(runners: readonly RunnerLife[]) {
    this.#runners = runners
  }

  onOutcome(ctx: Context, outcome: Outcome): void {
    const { status, error, protocol, endpoint, bytesIn, bytesOut, durations } = outcome
    const api = ctx.api ?? endpoint ?? 'none'
    const code = protocol === 'grpc' ? grpcStatusOf(error) : status
    this.#counts.add(api, protocol, code, durations.totalMs / 1000, bytesIn, bytesOut)
    if (error === undefined) return
    const reason = refusalReason(error)
    if (reason !== undefined) this.#counts.addRefused(reason)
  }

  async collect(): Promise<readonly MetricFamily[]> {
    if (this.server === undefined) return []
    const { engine, limiter, memory } = this.server
    const states = this.#runners.map((runner) => runnerState(runner)).filter((state) => state !== undefined)
    const build = { version: packageVersion(), node: process.version, engine }
    return [
      ...this.#counts.families(),
      gauge('serving_requests_in_flight', 'Requests from their headers to the end of their response.', [
        { labels: {}, value: limiter.open },
      ]),
      gauge('serving_body_memory_bytes', 'Memory of large bodies and answers in flight.', [
        { labels: {}, value: memory.used },
      ]),
      ...(states.length === 0 ? [] : runnerFamilies(states)),
      gauge('serving_build_info', 'Versions and the engine.', [{ labels: build, value: 1 }], 'first'),
      ...(await processFamilies()),
    ]
  }
}

/** Metrics of the supervisor of worker processes. */
export function workerFamilies(workers: number, restarts: number): readonly MetricFamily[] {
  const value = (count: number) => [{ labels: {}, value: count }]
  return [
    gauge('serving_workers', 'Worker processes that run.', value(workers)),
    counter('serving_worker_restarts_total', 'Worker processes that took the place of others.', value(restarts)),
  ]
}

function refusalReason(error: Error): string | undefined {
  if (!ServingError.is(error)) return undefined
  const { code } = error
  if (code === 'overloaded') return error.limit ?? code
  return refusals.has(code) ? code : undefined
}

const refusals: ReadonlySet<string> = new Set([
  'unauthorized',
  'forbidden',
  'too_many_requests',
  'payload_too_large',
  'insufficient_storage',
  'deadline_exceeded',
])

let version: string | undefined

function packageVersion(): string {
  version ??= JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')).version as string
  return version
}
