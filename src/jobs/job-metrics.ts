import { ServingError } from '../core/errors.ts'
import { headerOf } from '../http/message.ts'
import {
  BucketCounts,
  counter,
  gauge,
  histogram,
  type MetricFamily,
} from '../telemetry/metrics/metric-family.ts'
import { type Attempt, noJobs, type Outcome, type QueueState } from './job-store.ts'
import { failureOf } from './problem-answer.ts'

/** **Units**: seconds. */
const jobBuckets = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 14_400,
] as const

/** How an attempt ended. `handed_back`: its worker stopped; `lost`: its lease ran out, and the job runs elsewhere. */
export type AttemptEnd = Outcome['kind'] | 'handed_back' | 'lost'

class Series {
  readonly wait = new BucketCounts(jobBuckets)
  readonly run = new BucketCounts(jobBuckets)
  readonly ends = new Map<AttemptEnd, number>()
  retries = 0
}

/** The part of a log that is written to. */
export interface JobLog {
  debug(fields: object, message: string): void
  warn(fields: object, message: string): void
}

/** A job that was handed back so often is told: its workers may stop before it can end. */
const manyHandBacks = 3

/** Counts the attempts that a process makes, and logs those that fail, without inputs and answers. */
export class JobCounts {
  readonly #series = new Map<string, Series>()
  readonly #log: JobLog
  /** Whether the worker has been told to stop. */
  isStopping = false

  constructor(log: JobLog) {
    this.#log = log
  }

  async run(attempt: Attempt, run: (attempt: Attempt) => Promise<Outcome>): Promise<Outcome> {
    const { job, number, starts } = attempt
    const handBacks = starts - number
    if (handBacks > 0 && handBacks % manyHandBacks === 0) {
      const fields = { event: 'job_begins_again', job: job.id, api: job.api, handBacks }
      const remedy =
        'a worker needs --drain-timeout-ms, and time before it is killed, for its longest job'
      this.#log.warn(
        fields,
        `job ${job.id} was handed back ${handBacks} times by workers that stopped: ${remedy}`,
      )
    }
    const series = this.#of(job.api)
    if (number > 1) series.retries++
    else {
      const since = Math.max(job.createdAt, job.notBefore ?? 0)
      series.wait.add(Math.max(0, (job.startedAt ?? since) - since) / 1000)
    }
    const start = performance.now()
    let outcome: Outcome | undefined
    try {
      outcome = await run(attempt)
      return outcome
    } finally {
      this.#ended(attempt, outcome, start)
    }
  }

  #ended(attempt: Attempt, outcome: Outcome | undefined, start: number): void {
    const { job, number } = attempt
    const { run, ends } = this.#of(job.api)
    const end = this.#endOf(attempt, outcome)
    const ms = performance.now() - start
    run.add(ms / 1000)
    ends.set(end, (ends.get(end) ?? 0) + 1)
    // The id joins these lines with those of the request, and of the function's error.
    const requestId = headerOf(attempt.request.headers, 'x-request-id')
    const fields = {
      event: `job_${end}`,
      job: job.id,
      requestId,
      api: job.api,
      attempt: number,
      ms: Math.round(ms),
    }
    if (end === 'lost') this.#log.warn(fields, `the lease of job ${job.id} was lost, it runs again`)
    else if (end !== 'failed') this.#log.debug(fields, `job ${job.id} ${end}`)
    else {
      const failed = outcome?.kind === 'failed' ? outcome : undefined
      const mayRetry = (failed?.mayRetry ?? true) && number <= job.retries
      const more = {
        status: failed?.response.status,
        ...(failed && failureOf(failed.response)),
        mayRetry,
      }
      this.#log.warn({ ...fields, ...more }, `attempt ${number} at job ${job.id} failed`)
    }
  }

  #endOf({ signal }: Attempt, outcome: Outcome | undefined): AttemptEnd {
    const isCanceled = ServingError.is(signal.reason) && signal.reason.code === 'client_closed'
    if (!signal.aborted || isCanceled) return outcome?.kind ?? 'failed'
    return this.isStopping ? 'handed_back' : 'lost'
  }

  #of(api: string): Series {
    const series = this.#series.get(api) ?? new Series()
    this.#series.set(api, series)
    return series
  }

  /**
   * `states`: of the store, undefined if it is away; `apis`: that it may not know yet.
   *
   * @returns the metrics.
   */
  families(states: readonly QueueState[] | undefined, apis: readonly string[]): MetricFamily[] {
    const all = [...this.#series]
    const ofEach = <T>(valueOf: (series: Series) => T) =>
      all.map(([api, series]) => ({ labels: { api }, ...valueOf(series) }))
    const ends = all.flatMap(([api, { ends }]) =>
      [...ends].map(([outcome, value]) => ({ labels: { api, outcome }, value })),
    )
    const empty = { counts: noJobs, delayed: 0, oldestMs: 0, isPaused: false }
    const unknown = apis.map((api) => ({ api, ...empty }))
    return [
      ...(states === undefined ? [] : storeFamilies([...unknown, ...states])),
      histogram(
        'serving_job_wait_seconds',
        'From the submission of a job, or the time before which it may not start, to its first start.',
        ofEach(({ wait }) => ({ counts: wait })),
      ),
      histogram(
        'serving_job_run_seconds',
        'Attempts at jobs, from their start to their end.',
        ofEach(({ run }) => ({ counts: run })),
      ),
      counter(
        'serving_job_attempts_total',
        'Attempts at jobs that are over, by how they ended.',
        ends,
      ),
      counter(
        'serving_job_retries_total',
        'Starts of jobs that had started before.',
        ofEach(({ retries }) => ({ value: retries })),
      ),
    ]
  }
}

/** Of several states of an API the last counts. All processes see the same store. */
function storeFamilies(all: readonly QueueState[]): MetricFamily[] {
  const states = [...new Map(all.map((state) => [state.api, state])).values()]
  // No worker can help those that are delayed.
  const counts = states.flatMap(({ api, delayed, counts: { queued, ...others } }) =>
    Object.entries({ queued: Math.max(0, queued - delayed), delayed, ...others }).map(
      ([status, value]) => ({ labels: { api, status }, value }),
    ),
  )
  const ofEach = (valueOf: (state: QueueState) => number) =>
    states.map((state) => ({ labels: { api: state.api }, value: valueOf(state) }))
  return [
    gauge(
      'serving_jobs',
      'Jobs in the store by status, until they are forgotten. Queued ones whose time has not come are delayed.',
      counts,
      'max',
    ),
    gauge(
      'serving_jobs_oldest_seconds',
      'Age of the oldest job that waits for a worker; 0 without one.',
      ofEach(({ oldestMs }) => oldestMs / 1000),
      'max',
    ),
    gauge(
      'serving_jobs_paused',
      '1 if no worker takes jobs of the API.',
      ofEach(({ isPaused }) => Number(isPaused)),
      'max',
    ),
  ]
}
