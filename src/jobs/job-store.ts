/** Where jobs are kept and taken from: the one interface of the embedded store and of the distributed ones. @module */

import type { BlobStore } from './blob-store.ts'
import { deliveryApi } from './delivery.ts'
import type { Job, JobEvent, JobStatus, NewJob, StoredResponse } from './job.ts'
import type { StoredAnswer, UnreadRequest } from './stored-body.ts'

/** Each number is a promise that the conformance tests hold by killing processes. **Units**: milliseconds. */
export const jobTimes = {
  leaseMs: 9_000,
  renewMs: 3_000,
  sweepMs: 3_000,
  /** How long an expired job stays known. */
  forgetMs: 86_400_000,
} as const

/** The names of {@link jobTimes}, for tests that cannot wait for them. */
export type JobTimes = Readonly<Record<keyof typeof jobTimes, number>>

/** Starts that end with the death of their worker before the job fails by name. They are apart from `retries`. */
export const maxCrashes = 2

/** The same for a job that has kept rows, since rows that kill their worker fail alone. Rows in a row, at most. */
export const maxRowCrashes = 8

/** Events that a job keeps: of more, the latest. */
export const maxEvents = 1_000

/** What became of a job that was submitted. */
export type Added =
  | { readonly kind: 'added' }
  /** The same owner has sent this idempotency key for this API before; `isSame`: with the same request. */
  | { readonly kind: 'exists'; readonly id: string; readonly isSame: boolean }
  /** The API has `maxQueued` jobs that wait. */
  | { readonly kind: 'full' }
  /** Its caller has `maxPerCaller` jobs of the API that wait or run. */
  | { readonly kind: 'quota' }

/** What a job of the input of another one has of its own; the rest, but key and `notBefore`, is as it was there. */
export type AgainJob = Pick<NewJob, 'id' | 'createdAt'> &
  Partial<Omit<NewJob, 'request' | 'owner' | 'fingerprint' | 'idempotencyKey'>>

/** How an attempt ended. A failed one that may run again does so after `retryAfterMs`, else by `backoffMs`. */
export type Outcome =
  | { readonly kind: 'completed'; readonly response: StoredResponse }
  | {
      readonly kind: 'failed'
      readonly response: StoredResponse
      readonly mayRetry: boolean
      readonly retryAfterMs?: number
    }
  | { readonly kind: 'canceled' }

/** What the attempts at a job of rows have kept, for those behind them and for its result. */
export interface KeptRows {
  /** Names of blobs, whose bytes come first. */
  readonly blobs: readonly string[]
  readonly chunks: readonly Uint8Array[]
}

/** Where an attempt keeps what it has of the result. */
export interface AttemptRows {
  /** Undefined for a store without a place for them. */
  readonly blobs: BlobStore | undefined
  kept(): Promise<KeptRows>
  /**
   * Keeps a chunk behind the others; with a further `blob`, in place of them. `isFurther`: earlier deaths of workers
   * count no more.
   *
   * @throws Overloaded if the lease is lost.
   */
  keep(chunk: Uint8Array, isFurther: boolean, blob?: string): Promise<void>
}

/** One attempt at a job, given to {@link JobStore.work}'s function. */
export interface Attempt {
  readonly job: Job
  readonly request: UnreadRequest
  readonly state: string | undefined
  /** Counts starts, from 1, without those that were handed back. */
  readonly number: number
  /** Counts all starts. */
  readonly starts: number
  /** Starts that ended with the death of their worker, since the last one that came further. */
  readonly deaths: number
  /**
   * Aborted with a ClientClosed when somebody cancels the job, with an Overloaded when the lease is lost or the worker
   * stops: what the attempt returns afterwards counts for nothing in the last two cases.
   */
  readonly signal: AbortSignal
  /**
   * Of a row: calls a listener when `signal` is aborted, until it is told not to. The signal itself would look at those
   * of all rows for each.
   */
  readonly onAbort?: (listener: () => void) => () => void
  /** Resolves when the outcome is kept, or counts for nothing: until then its bytes are held. */
  readonly over: Promise<void>
  /**
   * Resolves when the event is kept, and never rejects: the store drops events of a lost attempt, and progress that the
   * next one replaces within a moment.
   */
  report(kind: 'progress' | 'partial', data: string): Promise<void>
  readonly rows: AttemptRows
}

/** The jobs of one API that a process runs at the same time. */
export interface WorkQueue {
  readonly api: string
  readonly concurrency: number
}

/** Runs jobs until it is told to stop. */
export interface JobWorker {
  /** Takes no more jobs, waits for those that run, and hands back the rest without counting their attempt. */
  stop(graceMs: number): Promise<void>
}

/** Jobs of one API now. **Units**: of times, milliseconds. */
export interface QueueState {
  readonly api: string
  readonly counts: Readonly<Record<JobStatus, number>>
  /** Of those that are queued: for the time of their start, or of the next attempt. */
  readonly delayed: number
  /** Age of the oldest job that may start; 0 without one. */
  readonly oldestMs: number
  /** Whether no worker takes its jobs: see {@link JobStore.pause}. */
  readonly isPaused: boolean
}

/** The counts of an API without jobs. */
export const noJobs = {
  queued: 0,
  running: 0,
  completed: 0,
  failed: 0,
  canceled: 0,
  expired: 0,
} as const

/** Which jobs {@link JobStore.list} returns. **Units**: of times, milliseconds of the wall clock. */
export interface JobFilter {
  readonly api?: string
  readonly status?: JobStatus
  /** Jobs of this caller. Undefined: all jobs, and the deliveries of webhooks. */
  readonly owner?: string
  /** Submitted then or later. */
  readonly since?: number
  /** Submitted before. */
  readonly until?: number
  /** `next` of the page before. */
  readonly after?: string
  /** Most jobs of a page. */
  readonly limit: number
}

/** A part of a list, the latest job first. It may be short, even empty: the list ends where `next` is undefined. */
export interface JobPage {
  readonly jobs: readonly Job[]
  readonly next?: string
}

/** Jobs that a store looks at for one page, so that no list holds up the others. */
export const maxListed = 1_000

/** Whether a job of the owner whom a filter names is one of the rest, too. */
export function matches(
  job: Job,
  { owner, api, status, since = 0, until = Infinity }: JobFilter,
): boolean {
  const { createdAt } = job
  const isOf = (api ?? job.api) === job.api && (status ?? job.status) === job.status
  const isShown = owner === undefined || job.api !== deliveryApi
  return isOf && isShown && createdAt >= since && createdAt < until
}

/** @returns the jobs of all pages. */
export async function* listed(store: JobStore, filter: JobFilter): AsyncGenerator<Job> {
  let after = filter.after
  do {
    const page = await store.list({ ...filter, after })
    yield* page.jobs
    after = page.next
  } while (after !== undefined)
}

/**
 * Keeps jobs. A promise that resolves means that the change outlives the process. Jobs run at least once; the end of an
 * attempt counts only while it holds the lease.
 */
export interface JobStore {
  /** For logs, metrics and messages: `sqlite`, `redis`. */
  readonly kind: string
  /** Why it cannot keep jobs now, for `/readyz`; undefined if it can. */
  readonly unready?: string | undefined
  /** Where large bodies are; undefined if they are in the store. */
  readonly blobs: BlobStore | undefined
  /** @throws SetupError if the store cannot be reached or opened, with what to do. */
  open(): Promise<void>
  /** `maxQueued`: of jobs of this API that wait; `maxPerCaller`: of those of its caller that wait or run. */
  add(job: NewJob, maxQueued: number, maxPerCaller?: number): Promise<Added>
  /**
   * An expired one stays known for a while: 410 instead of 404.
   *
   * @returns undefined for an unknown job.
   */
  get(id: string): Promise<Job | undefined>
  /**
   * Adds a job that runs the input of another one, which it names: nothing is read or copied, and the input stays as
   * long as a job names it. Returns undefined if the other one is unknown or has expired.
   */
  again(
    id: string,
    job: AgainJob,
    maxQueued: number,
    maxPerCaller?: number,
  ): Promise<Added | undefined>
  result(id: string): Promise<StoredAnswer | undefined>
  /** @returns what attempts have kept of the rows of a job; nothing for other jobs, and once it has expired. */
  kept(id: string): Promise<KeptRows>
  /** @returns the input of a job; undefined for an unknown or expired one. */
  input(id: string): Promise<UnreadRequest | undefined>
  /**
   * @returns the events behind `after`: at least one, if there is one, and no more than make
   * `maxBytes` of data.
   */
  events(id: string, after: number, maxBytes: number): Promise<readonly JobEvent[]>
  /** Calls `listener` soon after the job may have changed, in whichever process; returns a function that ends it. */
  watch(id: string, listener: () => void): () => void
  /** Cancels a queued job at once, and asks for the end of a running one. Returns the job with its new state. */
  cancel(id: string): Promise<Job | undefined>
  /** Deletes what an ended job holds: it has expired now. Returns the job, unchanged if it has not ended. */
  expire(id: string): Promise<Job | undefined>
  list(filter: JobFilter): Promise<JobPage>
  /** Lets no worker take jobs of an API, or lets them again. Those that run end as usual. Holds until it is changed. */
  pause(api: string, isPaused: boolean): Promise<void>
  states(): Promise<readonly QueueState[]>
  /** Takes jobs of these APIs and runs them until the worker is stopped. */
  work(queues: readonly WorkQueue[], run: (attempt: Attempt) => Promise<Outcome>): JobWorker
  close(): Promise<void>
}
