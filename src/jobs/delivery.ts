import { createHash } from 'node:crypto'
import type { Job, NewJob } from './job.ts'

/** The queue of deliveries. No API can have this name. */
export const deliveryApi = '$webhooks'

/** Media type of what the job of a delivery answers: a line about its receiver. */
export const deliveryNote = 'text/plain; charset=utf-8'

/** Waits between tries: about a day in all. **Units**: seconds. */
export const deliveryWaits = [5, 60, 300, 1_800, 7_200, 21_600, 57_600] as const

/** What a delivery tells of a job that has ended. Times are in milliseconds of the wall clock. */
const toldOf = [
  'id',
  'api',
  'status',
  'attempt',
  'createdAt',
  'startedAt',
  'finishedAt',
  'responseStatus',
] as const satisfies readonly (keyof Job)[]

/** The body of a delivery, in JSON. */
export type EndedJob = Pick<Job, (typeof toldOf)[number]>

/**
 * @returns the delivery for a job with a webhook, without its body: its store adds it in the step
 * that ends the job.
 */
export function deliveryOf(
  { id, owner, webhook }: Pick<Job, 'id' | 'owner' | 'webhook'>,
  now: number,
): NewJob {
  return {
    id: deliveryId(id),
    api: deliveryApi,
    owner,
    state: undefined,
    request: {
      headers: [['content-type', 'application/json']],
      query: '',
      body: new Uint8Array(0),
    },
    createdAt: now,
    priority: 0,
    retries: deliveryWaits.length,
    timeoutMs: 20_000,
    queueTtlMs: 604_800_000,
    resultTtlMs: 86_400_000,
    fingerprint: '',
    webhook,
  }
}

/** @returns the body of a delivery. */
export function deliveryBody(job: EndedJob): Uint8Array {
  return Buffer.from(JSON.stringify(job, [...toldOf]))
}

/** @returns the id of the delivery of a job's end: one for each job, whoever ends it. */
export function deliveryId(id: string): string {
  return idOf(`${deliveryApi} ${id}`)
}

/** @returns the id of a job that each process makes of the same text. */
export function idOf(text: string): string {
  const hash = createHash('sha256').update(text).digest('base64url')
  return hash.slice(0, 22).replace(/^-/, '_')
}
