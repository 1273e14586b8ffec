import { hostname } from 'node:os'
import type { OwnerKey } from '../api/caller-identity.ts'
import type { HeaderLine } from '../http/message.ts'

/** `queued` includes waiting for a retry. The last four are final: they never change. */
export const jobStatuses = [
  'queued',
  'running',
  'completed',
  'failed',
  'canceled',
  'expired',
] as const
/** One of them. */
export type JobStatus = (typeof jobStatuses)[number]

/** A request as the synchronous call would have received it, without the headers of its connection. */
export interface StoredRequest {
  readonly headers: readonly HeaderLine[]
  readonly query: string
  readonly body: Uint8Array
}

/** The answer of the synchronous call: a result, or the problem document of an error. */
export interface StoredResponse {
  readonly status: number
  readonly headers: readonly HeaderLine[]
  readonly body: Uint8Array
}

/** Where the end of a job is announced. */
export interface WebhookTarget {
  readonly url: string
}

/** A job that a store accepts. Times are in milliseconds of the wall clock. */
export interface NewJob {
  /** 128 random bits in base64url. */
  readonly id: string
  readonly api: string
  /** The caller whom `auth` named; only they may look. Undefined if it named nobody. Of version 0.1.0: a name. */
  readonly owner: OwnerKey | undefined
  /** Whether the auth of the service decides who may look, and not one of the API. */
  readonly isOfService?: boolean
  /** What hooks left in `ctx.state`, the caller too: they do not run again with the function. JSON. */
  readonly state: string | undefined
  readonly request: StoredRequest
  readonly createdAt: number
  /** It does not start before. */
  readonly notBefore?: number
  /** Higher first; jobs of one priority run in the order in which they came. */
  readonly priority: number
  /** Attempts after the first one, for answers of 5xx. */
  readonly retries: number
  /** Time for one attempt. **Units**: milliseconds. */
  readonly timeoutMs: number
  /** Of a job of rows: how many, and the time for one attempt at a row. **Units**: rows; milliseconds. */
  readonly rows?: { readonly total: number; readonly timeoutMs: number } | undefined
  /** How long it may wait each time. Undefined: without end, as jobs did of version 0.1.0. **Units**: milliseconds. */
  readonly queueTtlMs?: number
  /** How long the result stays after the end. **Units**: milliseconds. */
  readonly resultTtlMs: number
  /** `Idempotency-Key`, which counts for one owner and API. */
  readonly idempotencyKey?: string
  /** SHA-256 of content type, query and body, which tells whether a repeated key comes with the same request. */
  readonly fingerprint: string
  readonly retryOf?: string
  readonly webhook?: WebhookTarget
  /** `traceparent` of the request that submitted it. */
  readonly trace?: string
}

/** A job as it can be looked at. */
export interface Job extends Omit<NewJob, 'request' | 'state' | 'fingerprint' | 'idempotencyKey'> {
  readonly status: JobStatus
  readonly attempt: number
  /** The last value of `ctx.job.progress`. JSON. */
  readonly progress?: string
  /** How many jobs of the same API run before this one; only while it is queued, and not in lists. */
  readonly queuePosition?: number
  readonly startedAt?: number
  readonly finishedAt?: number
  /** Host and process that took it last. */
  readonly worker?: string
  /** Whether somebody has asked for its end while it runs. */
  readonly isCancelRequested: boolean
  /** HTTP status of the answer, when there is one. */
  readonly responseStatus?: number
}

/** Largest value of `ctx.job.progress`. **Units**: characters of JSON. */
export const maxProgress = 64 * 1024

/** Something that happened to a job. Its number counts from 1 without gaps, also over attempts. */
export interface JobEvent {
  readonly sequence: number
  readonly at: number
  /** `status`: data is the new status; `progress`: JSON of the function; `partial`: a piece of a generator, in text. */
  readonly kind: 'status' | 'progress' | 'partial'
  readonly data: string
}

/** @returns a name for a process that takes jobs. Nobody else has it. */
export function workerName(): string {
  return [hostname(), process.pid, crypto.randomUUID()].join(' ')
}

/** @returns host and process of such a name. */
export function shownWorker(name: string): string {
  return name.split(' ').slice(0, 2).join(' ')
}

/** The statuses that never change. */
export function isFinal(status: JobStatus): boolean {
  return status !== 'queued' && status !== 'running'
}
