/** Counts the calls of a Runner. @module */
import {
  BucketCounts,
  counter,
  durationBuckets,
  gauge,
  histogram,
  type MetricFamily,
  rowBuckets,
} from './metric-family.ts'

/** Threads or processes of a runner by what they do. */
export interface ThreadStates {
  readonly busy: number
  readonly idle: number
  /** A call there has not returned in time. */
  readonly hung: number
  readonly starting: number
}

/** What a runner counts; lives as long as the runner. */
export class RunnerCounts {
  /** From a call to its dispatch to a thread. **Units**: seconds. */
  readonly queueWait = new BucketCounts(durationBuckets)
  readonly batchRows = new BucketCounts(rowBuckets)
  batches = 0
  /** Of the second dimension of padded batches, over all rows. */
  sentLength = 0
  paddedLength = 0
  replaced = 0
}

/** A runner at one moment. */
export interface RunnerState {
  readonly name: string
  readonly counts: RunnerCounts
  readonly waiting: number
  readonly threads: ThreadStates
}

const states = new WeakMap<object, () => RunnerState>()

/** Makes the state of a runner known here: a member would take a name from the methods of its model. */
export function measureRunner(runner: object, state: () => RunnerState): void {
  states.set(runner, state)
}

/** @returns the state of a runner; undefined for one of another copy of the package. */
export function runnerState(runner: object): RunnerState | undefined {
  return states.get(runner)?.()
}

/** @returns the metrics of runners. */
export function runnerFamilies(runners: readonly RunnerState[]): MetricFamily[] {
  const each = (value: (runner: RunnerState) => number) =>
    runners.map((runner) => ({ labels: { runner: runner.name }, value: value(runner) }))
  const series = (field: 'queueWait' | 'batchRows') =>
    runners.map(({ name, counts }) => ({ labels: { runner: name }, counts: counts[field] }))
  const threads = runners.flatMap(({ name, threads: states }) =>
    Object.entries(states).map(([state, value]) => ({
      labels: { runner: name, state },
      value: value as number,
    })),
  )
  return [
    gauge(
      'serving_queue_depth',
      'Calls that wait for a thread of a runner.',
      each(({ waiting }) => waiting),
    ),
    histogram(
      'serving_queue_wait_seconds',
      'From a call of a runner to its dispatch.',
      series('queueWait'),
    ),
    histogram('serving_batch_rows', 'Rows of a call of a batchable method.', series('batchRows')),
    counter(
      'serving_batches_total',
      'Calls of batchable methods that threads were given.',
      each((r) => r.counts.batches),
    ),
    counter(
      'serving_batch_length_total',
      'Second dimension of padded batches, over all rows: what callers sent, and what padding added.',
      runners.flatMap(({ name, counts }) => [
        { labels: { runner: name, part: 'sent' }, value: counts.sentLength },
        { labels: { runner: name, part: 'padding' }, value: counts.paddedLength },
      ]),
    ),
    gauge('serving_runner_threads', 'Threads or processes of a runner by what they do.', threads),
    counter(
      'serving_runner_threads_replaced_total',
      'Threads that took the place of others.',
      each((r) => r.counts.replaced),
    ),
  ]
}
