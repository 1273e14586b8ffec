/** What one server counts, and its metrics. @module */
import { grpcStatusOf, ServingError } from '../../core/errors.ts'
import { packageVersion } from '../../core/package-version.ts'
import type { ServerState } from '../../engine/engine.ts'
import type { EngineName } from '../../engine/options.ts'
import type { Context } from '../../http/context.ts'
import type { Outcome, RequestObserver } from '../../http/outcome.ts'
import { modelRunners, type RunnerLife } from '../../runner/runner.ts'
import { processFamilies } from '../../telemetry/metrics/exposition.ts'
import {
  BucketCounts,
  counter,
  durationBuckets,
  gauge,
  histogram,
  type MetricFamily,
} from '../../telemetry/metrics/metric-family.ts'
import { runnerFamilies, runnerState } from '../../telemetry/metrics/runner-counts.ts'

/** The parts of a server that are measured. */
export interface MeasuredServer extends Pick<ServerState, 'limiter' | 'memory' | 'collectors'> {
  readonly engine: EngineName
}

interface Series {
  readonly labels: { readonly api: string; readonly transport: string }
  readonly durations: BucketCounts
  readonly codes: Map<number | string, number>
  bytesIn: number
  bytesOut: number
}

/** Counts the requests of a server in plain numbers; metrics are made of them when somebody asks. */
export class ServerMetrics implements RequestObserver {
  /** By transport, then by API. */
  readonly #series = new Map<string, Map<string, Series>>()
  readonly #refused = new Map<string, number>()
  readonly #runners: readonly RunnerLife[]
  server: MeasuredServer | undefined

  constructor(runners: readonly RunnerLife[]) {
    this.#runners = runners
  }

  onOutcome(ctx: Context, outcome: Outcome): void {
    const { status, error, protocol, endpoint, bytesIn, bytesOut, durations } = outcome
    const api = ctx.api ?? endpoint ?? 'none'
    const series = this.#series.get(protocol)?.get(api) ?? this.#newSeries(api, protocol)
    addOne(series.codes, protocol === 'grpc' ? grpcStatusOf(error) : status)
    series.durations.add(durations.totalMs / 1000)
    series.bytesIn += bytesIn
    series.bytesOut += bytesOut
    if (error === undefined) return
    const reason = refusalReason(error)
    if (reason !== undefined) addOne(this.#refused, reason)
  }

  #newSeries(api: string, transport: string): Series {
    const durations = new BucketCounts(durationBuckets)
    const series = {
      labels: { api, transport },
      durations,
      codes: new Map(),
      bytesIn: 0,
      bytesOut: 0,
    }
    const apis = this.#series.get(transport) ?? new Map<string, Series>()
    this.#series.set(transport, apis.set(api, series))
    return series
  }

  async collect(): Promise<readonly MetricFamily[]> {
    if (this.server === undefined) return []
    const { engine, limiter, memory, collectors } = this.server
    const states = modelRunners(this.#runners)
      .map((runner) => runnerState(runner))
      .filter((state) => state !== undefined)
    const ofProtocols = await Promise.all(collectors.map((collectOne) => collectOne()))
    const build = { version: packageVersion, node: process.version, engine }
    return [
      ...this.requestFamilies(),
      gauge(
        'serving_requests_in_flight',
        'Requests from their headers to the end of their response.',
        one(limiter.open),
      ),
      gauge(
        'serving_body_memory_bytes',
        'Memory of large bodies and answers in flight.',
        one(memory.used),
      ),
      ...(states.length === 0 ? [] : runnerFamilies(states)),
      ...this.#runners.flatMap((runner) => runner.families?.() ?? []),
      ...ofProtocols.flat(),
      gauge(
        'serving_build_info',
        'Versions and the engine.',
        [{ labels: build, value: 1 }],
        'first',
      ),
      ...(await processFamilies()),
    ]
  }

  /** @returns the metrics of requests. */
  requestFamilies(): readonly MetricFamily[] {
    const all = [...this.#series.values()].flatMap((apis) => [...apis.values()])
    const requests = all.flatMap(({ labels, codes }) =>
      [...codes].map(([code, value]) => ({ labels: { ...labels, code }, value })),
    )
    const total = (field: 'bytesIn' | 'bytesOut') =>
      all.map((each) => ({ labels: each.labels, value: each[field] }))
    const durations = all.map(({ labels, durations: counts }) => ({ labels, counts }))
    const refused = [...this.#refused].map(([reason, value]) => ({ labels: { reason }, value }))
    return [
      counter(
        'serving_requests_total',
        'Requests that are over, by status of HTTP, or of gRPC.',
        requests,
      ),
      histogram(
        'serving_request_duration_seconds',
        'From the headers to the last byte of the response.',
        durations,
      ),
      counter(
        'serving_request_body_bytes_total',
        'Bytes of request bodies, as they were sent.',
        total('bytesIn'),
      ),
      counter('serving_response_body_bytes_total', 'Bytes of response bodies.', total('bytesOut')),
      counter('serving_rejected_total', 'Requests that were refused, by reason.', refused),
    ]
  }
}

function addOne<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

const one = (value: number) => [{ labels: {}, value }]

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
