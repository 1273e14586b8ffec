/** The versions of a Split: their calls are counted, and those of a canary judged. @module */
import { ServingError } from '../core/errors.ts'
import {
  BucketCounts,
  counter,
  durationBuckets,
  gauge,
  histogram,
  type MetricFamily,
} from '../telemetry/metrics/metric-family.ts'
import type { RunnerLife } from './runner.ts'
import type { CallOptions } from './runner-options.ts'

/** What a method of a Runner returns. */
export type MethodAnswer = Promise<unknown> | AsyncIterableIterator<unknown>

/** What a canary must keep. */
interface GuardSettings {
  readonly errorRate: number
  readonly p99Ms?: number | undefined
  readonly calls: number
}

const noGuard: GuardSettings = { errorRate: 1, calls: Number.POSITIVE_INFINITY }

/** A version with its counts. */
export type Version = ReturnType<typeof countedVersion>

/**
 * @param breach - Told what the version did not keep, as soon as the calls of the guard that are left cannot change it.
 * @returns a version whose calls are counted.
 */
export function countedVersion(
  runner: RunnerLife,
  { errorRate, p99Ms, calls } = noGuard,
  breach?: (what: string) => void,
) {
  const judged = { calls: 0, failed: 0, late: 0 }
  const version = {
    runner,
    /** Until the answer, or the first value of a stream. */
    seconds: new BucketCounts(durationBuckets),
    errors: 0,
    call: (method: string, input: unknown, options?: CallOptions): MethodAnswer =>
      Reflect.get(runner, method).call(runner, input, options),
    begin() {
      if (judged.calls++ === calls) Object.assign(judged, { calls: 1, failed: 0, late: 0 })
      const begunAt = performance.now()
      const is = { answered: false, over: false, late: false }
      // A call that hangs is late, too.
      const timer = p99Ms && setTimeout(onLate, p99Ms).unref()
      function onLate() {
        is.late = true
        if (++judged.late > calls / 100) breach?.(`its p99 is above ${p99Ms} ms`)
      }
      const answered = () => {
        clearTimeout(timer)
        if (!is.answered) version.seconds.add((performance.now() - begunAt) / 1000)
        is.answered = true
      }
      const ended = (error?: unknown) => {
        clearTimeout(timer)
        const { code = '', status = 500 } = ServingError.is(error) ? error : {}
        if (is.over || code === 'client_closed') return
        is.over = true
        answered()
        // A deadline that this caller alone has is no fault of the version.
        const isOwn = code === 'deadline_exceeded' && p99Ms !== undefined && !is.late
        if (error === undefined || status < 500 || isOwn) return
        version.errors++
        if (++judged.failed > errorRate * calls)
          breach?.('more of its calls failed than errorRate allows')
      }
      return {
        /** Called with each value. */
        answered,
        /** Called with the error of a call that failed. */
        ended,
      }
    },
  }
  return version
}

const noReport: {
  readonly differences: number
  readonly dropped: Readonly<Record<string, number>>
} = { differences: 0, dropped: {} }

/**
 * @param split - The name of the Split.
 * @param share - That of the canary.
 * @returns the metrics of a Split.
 */
export function splitFamilies(
  split: string,
  share: number,
  versions: Readonly<Record<string, Version | undefined>>,
  { differences, dropped } = noReport,
): readonly MetricFamily[] {
  const labels = { split }
  const series = Object.entries(versions).flatMap(([version, counts]) =>
    counts === undefined
      ? []
      : { labels: { split, version }, counts: counts.seconds, value: counts.errors },
  )
  return [
    histogram(
      'serving_split_seconds',
      'Time of calls by version of the model; of a stream, until its first value.',
      series,
    ),
    counter(
      'serving_split_errors_total',
      'Calls that failed by the fault of the version.',
      series.map(({ labels, value }) => ({ labels, value })),
    ),
    gauge(
      'serving_split_canary_share',
      'Share of the calls that the canary gets; 0 once its guard has sent it back.',
      [{ labels, value: share }],
      'max',
    ),
    counter('serving_split_differences_total', 'Calls that the shadow answered otherwise.', [
      { labels, value: differences },
    ]),
    counter(
      'serving_split_dropped_total',
      'Calls that the shadow did not get, or that were not compared.',
      Object.entries(dropped).map(([reason, value]) => ({ labels: { split, reason }, value })),
    ),
  ]
}
