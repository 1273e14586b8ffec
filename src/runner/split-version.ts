/** The versions of a Split: their calls are counted, and those of a canary judged. @module */
import { ClientClosed, ServingError } from '../core/errors.ts'
import { isPromise } from '../core/promise.ts'
import {
  BucketCounts,
  counter,
  durationBuckets,
  gauge,
  histogram,
  type MetricFamily,
} from '../telemetry/metrics/metric-family.ts'
import type { ModelVersions, RunnerLife } from './runner.ts'
import type { CallOptions } from './runner-options.ts'
import type { Outcome, SplitState } from './split-state.ts'

/** What a method of a Runner returns. */
export type MethodAnswer = Promise<unknown> | AsyncIterableIterator<unknown>

/** What a canary must keep. */
interface GuardSettings {
  readonly errorRate: number
  readonly p99Ms?: number | undefined
  readonly calls: number
}

/**
 * Judges the last calls of a canary in all processes.
 *
 * @param breach - Told what the canary did not keep, as soon as later calls cannot change it.
 */
export function guardOf(
  { errorRate, p99Ms, calls }: GuardSettings,
  versions: ModelVersions,
  breach: (what: string) => void,
) {
  const { recent } = versions.state
  const judge = (outcomes: readonly Outcome[]) => {
    const last = outcomes.toSorted((a, b) => a.at - b.at).slice(-calls)
    const shareOf = (fault: 'isFailed' | 'isLate') =>
      last.filter((each) => each[fault]).length / calls
    if (shareOf('isFailed') > errorRate) breach('more of its calls failed than errorRate allows')
    if (shareOf('isLate') > 0.01) breach(`its p99 is above ${p99Ms} ms`)
  }
  let asked = Promise.resolve()
  let isWaiting = false
  const judgeAll = async () => {
    isWaiting = false
    const others = await versions.ask(null)
    judge(others.flatMap((each) => (each === 'late' ? [] : each.recent)).concat(recent))
  }
  return {
    p99Ms,
    add(outcome: Outcome): void {
      if (outcome.at === 0) recent.push(Object.assign(outcome, { at: Date.now() }))
      recent.splice(0, recent.length - calls)
      if (!outcome.isFailed && !outcome.isLate) return
      judge(recent)
      // One question at a time, and one more about the calls that came meanwhile.
      if (isWaiting) return
      isWaiting = true
      asked = asked.then(judgeAll)
    },
  }
}

/** Gets what a version answers. */
interface Follower {
  add(value: unknown): void
  end(error?: unknown): unknown
}

/** A version with its counts. */
export type Version = ReturnType<typeof newVersion>

/** @returns a version with no calls yet. */
export function newVersion(runner: RunnerLife, guard?: ReturnType<typeof guardOf>) {
  return {
    runner,
    guard,
    /** Until the answer, or the first value of a stream. */
    seconds: new BucketCounts(durationBuckets),
    errors: 0,
  }
}

/** Counts one call of a version, and lets its guard judge it. */
function countedCall(version: Version, copy: Follower | undefined) {
  const { guard } = version
  const outcome: Outcome = { at: 0, isFailed: false, isLate: false }
  const tell = (fault: Partial<Outcome>) => guard?.add(Object.assign(outcome, fault))
  let begunAt: number | undefined
  const is = { answered: false, over: false }
  let timer: NodeJS.Timeout | undefined
  const answered = () => {
    clearTimeout(timer)
    if (!is.answered) version.seconds.add((performance.now() - Number(begunAt)) / 1000)
    is.answered = true
  }
  return {
    /** Of a stream: each time that somebody waits for a value. */
    begin(): void {
      begunAt ??= performance.now()
      // A call that hangs is late, too.
      if (guard?.p99Ms) timer ??= setTimeout(tell, guard.p99Ms, { isLate: true }).unref()
    },
    add(value: unknown): void {
      answered()
      copy?.add(value)
    },
    end(error?: unknown): void {
      clearTimeout(timer)
      if (is.over) return
      is.over = true
      void copy?.end(error)
      const { code = '', status = 500 } = ServingError.is(error) ? error : {}
      if (begunAt === undefined || code === 'client_closed') return
      answered()
      // A deadline that this caller alone has is no fault of the version.
      const isOwn = code === 'deadline_exceeded' && guard?.p99Ms !== undefined && !outcome.isLate
      const isFailed = error !== undefined && status >= 500 && !isOwn
      if (isFailed) version.errors++
      tell({ isFailed })
    },
  }
}

/** Calls a method of a version. `copy`: gets what it answers, and the end. */
export function callVersion(
  version: Version,
  method: string,
  input: unknown,
  options?: CallOptions,
  copy?: Follower,
): MethodAnswer {
  const call = countedCall(version, copy)
  const fail = (error: unknown): never => {
    call.end(error)
    throw error
  }
  let answer: MethodAnswer
  try {
    answer = Reflect.get(version.runner, method).call(version.runner, input, options)
  } catch (error) {
    return fail(error)
  }
  if (isPromise(answer)) {
    call.begin()
    return answer.then((value) => {
      call.add(value)
      call.end()
      return value
    }, fail)
  }
  const stream = answer
  // Not by a generator: its `return` would wait for a value that is under way.
  const values: AsyncIterableIterator<unknown> = {
    next() {
      call.begin()
      return stream.next().then((next) => {
        if (next.done) call.end()
        else call.add(next.value)
        return next
      }, fail)
    },
    async return() {
      call.end(new ClientClosed())
      return (await stream.return?.()) ?? { done: true, value: undefined }
    },
    [Symbol.asyncIterator]: () => values,
  }
  return values
}

/**
 * @param split - The name of the Split.
 * @returns the metrics of a Split.
 */
export function splitFamilies(
  split: string,
  { canary, differences, dropped }: SplitState,
  versions: Readonly<Record<string, Version>>,
): readonly MetricFamily[] {
  const all = Object.entries(versions)
  const valueOf = (value: number, labels = {}) => ({ labels: { split, ...labels }, value })
  return [
    histogram(
      'serving_split_seconds',
      'Time of calls by version of the model; of a stream, until its first value.',
      all.map(([version, { seconds: counts }]) => ({ labels: { split, version }, counts })),
    ),
    counter(
      'serving_split_errors_total',
      'Calls that failed by the fault of the version.',
      all.map(([version, { errors }]) => valueOf(errors, { version })),
    ),
    gauge(
      'serving_split_canary_share',
      'Share of the calls that the canary gets; 0 once its guard has sent it back.',
      [valueOf(canary)],
      'max',
    ),
    counter('serving_split_differences_total', 'Calls that the shadow answered otherwise.', [
      valueOf(differences),
    ]),
    counter(
      'serving_split_dropped_total',
      'Calls that the shadow did not get, or that were not compared.',
      Object.entries(dropped).map(([reason, count]) => valueOf(count, { reason })),
    ),
  ]
}
