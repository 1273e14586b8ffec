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

/** A call of the canary. **Units**: milliseconds. */
interface Outcome {
  /** When it was known. */
  at: number
  isFailed: boolean
  isLate: boolean
}

/** Judges the last calls of a canary in all processes. */
export type Guard = ReturnType<typeof guardOf>

/** @param breach - Told what the canary did not keep, as soon as later calls cannot change it. */
export function guardOf(
  { errorRate, p99Ms, calls }: GuardSettings,
  breach: (what: string) => void,
) {
  const guard = {
    p99Ms,
    /** Those of this process. */
    recent: [] as Outcome[],
    /** The server sets it. Returns those of the other processes. */
    others: async (): Promise<readonly Outcome[]> => [],
    add(outcome: Outcome): void {
      const { recent } = guard
      if (outcome.at === 0) recent.push(Object.assign(outcome, { at: Date.now() }))
      recent.splice(0, recent.length - calls)
      if (!outcome.isFailed && !outcome.isLate) return
      judge(recent)
      isSuspect = true
      if (!isAsking) void ask()
    },
  }
  let isSuspect = false
  let isAsking = false
  const ask = async () => {
    isAsking = true
    while (isSuspect) {
      isSuspect = false
      judge([...(await guard.others()), ...guard.recent])
    }
    isAsking = false
  }
  const judge = (outcomes: readonly Outcome[]) => {
    const last = outcomes.toSorted((a, b) => a.at - b.at).slice(-calls)
    const shareOf = (is: 'isFailed' | 'isLate') => last.filter((each) => each[is]).length / calls
    if (shareOf('isFailed') > errorRate) breach('more of its calls failed than errorRate allows')
    if (shareOf('isLate') > 0.01) breach(`its p99 is above ${p99Ms} ms`)
  }
  return guard
}

/** A version with its counts. */
export type Version = ReturnType<typeof countedVersion>

/** @returns a version whose calls are counted, and judged by a guard. */
export function countedVersion(runner: RunnerLife, guard?: Guard) {
  const { p99Ms } = guard ?? {}
  const version = {
    runner,
    /** Until the answer, or the first value of a stream. */
    seconds: new BucketCounts(durationBuckets),
    errors: 0,
    call: (method: string, input: unknown, options?: CallOptions): MethodAnswer =>
      Reflect.get(runner, method).call(runner, input, options),
    begin() {
      const begunAt = performance.now()
      const is = { answered: false, over: false }
      const outcome: Outcome = { at: 0, isFailed: false, isLate: false }
      const add = (more: Partial<Outcome>) => guard?.add(Object.assign(outcome, more))
      // A call that hangs is late, too.
      const timer = p99Ms && setTimeout(add, p99Ms, { isLate: true }).unref()
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
        const isOwn = code === 'deadline_exceeded' && p99Ms !== undefined && !outcome.isLate
        const isFailed = error !== undefined && status >= 500 && !isOwn
        if (isFailed) version.errors++
        add({ isFailed })
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
