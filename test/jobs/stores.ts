/** What tests of job stores share: stores by a description that other processes can open, and jobs for them. */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { OwnerKey } from '../../src/api/caller-identity.ts'
import type { NewJob, StoredResponse } from '../../src/jobs/job.ts'
import {
  type AttemptRows,
  type JobStore,
  type JobTimes,
  jobTimes,
} from '../../src/jobs/job-store.ts'
import { type StoredBody, unlimited } from '../../src/jobs/stored-body.ts'

/** Opens in any process. */
export type StoreSpec = (
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'redis'; readonly url: string }
) & {
  readonly times?: Partial<JobTimes>
}

/** Leases that a loaded machine can renew, and a test can wait for. */
export const shortTimes = { leaseMs: 3_000, renewMs: 1_000, sweepMs: 1_000 } as const

export async function openStore(spec: StoreSpec): Promise<JobStore> {
  const times = { ...jobTimes, ...spec.times }
  const warn = (message: string) => console.error(message)
  const store =
    spec.kind === 'sqlite'
      ? (await import('../../src/jobs/sqlite/sqlite-store.ts')).openSqliteStore(spec.path, {
          times,
          warn,
        })
      : (await import('../../src/jobs/bullmq/bullmq-store.ts')).openBullmqStore({
          url: spec.url,
          times,
          warn,
        })
  await store.open()
  return store
}

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
export const textOf = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes)

/** A job of API `a`; its body, in text, is the second argument. */
export function newJob(more: Partial<NewJob> = {}, body = 'ask'): NewJob {
  const request = {
    headers: [['content-type', 'text/plain']] as const,
    query: 'x=1',
    body: bytesOf(body),
  }
  return {
    id: randomBytes(16).toString('base64url'),
    api: 'a',
    owner: 'me' as OwnerKey,
    state: '{"caller":"me"}',
    request,
    createdAt: Date.now(),
    priority: 0,
    retries: 0,
    timeoutMs: 60_000,
    resultTtlMs: 3_600_000,
    fingerprint: 'f',
    ...more,
  }
}

export function answer(text: string, status = 200): StoredResponse {
  return { status, headers: [['content-type', 'text/plain']], body: bytesOf(text) }
}

/** For attempts at jobs that have no rows. */
export const noRows: AttemptRows = {
  blobs: undefined,
  kept: async () => ({ blobs: [], chunks: [] }),
  keep: async () => {},
}

/** The body of a request, in text. */
export const inputText = async ({ body }: { readonly body: StoredBody }) =>
  textOf(await body.bytes(unlimited))

/** The answer of a job, in text. */
export const resultText = async (store: JobStore, id: string) =>
  textOf(await (await store.result(id))?.body.bytes(unlimited))

export const completed = (text: string) => ({ kind: 'completed', response: answer(text) }) as const
export const failed = (status: number, mayRetry: boolean, retryAfterMs?: number) =>
  ({
    kind: 'failed',
    response: answer(`failed ${status}`, status),
    mayRetry,
    retryAfterMs,
  }) as const

/** Waits until `check` returns something else than undefined or false, and returns it. */
export async function until<T>(
  check: () => Promise<T | undefined | false> | T | undefined | false,
  limitMs = 30_000,
): Promise<T> {
  const end = Date.now() + limitMs
  for (;;) {
    const found = await check()
    if (found !== undefined && found !== false) return found
    if (Date.now() > end) throw new Error(`not so within ${limitMs} ms: ${check}`)
    await sleep(10)
  }
}

/** Waits for a job to get a status. */
export const untilStatus = (store: JobStore, id: string, status: string, limitMs?: number) =>
  until(async () => {
    const job = await store.get(id)
    return job?.status === status && job
  }, limitMs)
