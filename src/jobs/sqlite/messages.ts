import type { Job } from '../job.ts'
import type { JobTimes, WorkQueue } from '../job-store.ts'
import type { JobRecords } from './job-records.ts'
import type { KeptOutcome, Lease, Leases, Taken } from './leases.ts'

/** Data of the thread. */
export interface ThreadData {
  readonly path: string
  readonly times: JobTimes
}

/** The operations that the thread answers: those of the records, and its own. */
export type Operations = Omit<JobRecords, 'version'> & ThreadOperations

/** What the thread does itself. */
export interface ThreadOperations {
  /** Tells of changes of a job from now on, or no longer. */
  watch(id: string, isWatched: boolean): void
  /** Takes jobs for a worker, which its number names; without queues, no more. */
  work(worker: number, queues: readonly WorkQueue[]): void
  report(lease: Lease, kind: 'progress' | 'partial', data: string): void
  keep(...of: Parameters<Leases['keep']>): boolean
  finish(lease: Lease, outcome: KeptOutcome): ReturnType<Leases['finish']>
  release(leases: readonly Lease[]): void
  /** `blobs`: those that no job names any more. */
  expire(id: string): { readonly job: Job | undefined; readonly blobs: readonly string[] }
  close(): void
}

/** A call of the store; the answer has its number. */
export interface Call {
  readonly id: number
  readonly name: keyof Operations
  readonly args: readonly unknown[]
}

/** An error of the thread. `errcode` is SQLite's. */
export interface Fault {
  readonly message: string
  readonly errcode?: number
}

/** What became of a call. */
export type Answer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly fault: Fault }

/** From the thread. */
export type News =
  | { readonly kind: 'opened'; readonly fault?: Fault }
  | { readonly kind: 'answers'; readonly answers: readonly Answer[] }
  | { readonly kind: 'taken'; readonly worker: number; readonly taken: Taken }
  | { readonly kind: 'end'; readonly lease: Lease; readonly why: 'canceled' | 'lost' }
  | { readonly kind: 'changed'; readonly id: string }
  | { readonly kind: 'blobs'; readonly names: readonly string[] }
  /** Why the file cannot keep jobs; undefined if it can again. */
  | { readonly kind: 'state'; readonly unready: string | undefined }
  /** For the log: jobs have waited for too long, or work of the thread's timers has failed, which it tries again. */
  | { readonly kind: 'warning'; readonly message: string }
