import type { Visit } from '../api/visit.ts'
import { Conflict, Gone } from '../core/errors.ts'
import { parseText } from '../core/text/parse-text.ts'
import type { HeaderLine, HttpResponse } from '../http/message.ts'
import { nosniff } from '../http/response-head.ts'
import { isFinal, type Job } from './job.ts'
import type { StoredAnswer } from './stored-body.ts'

const noStore: HeaderLine = ['cache-control', 'no-store']

const jsonHeaders: readonly HeaderLine[] = [['content-type', 'application/json'], nosniff, noStore]

/** Time after which a client may ask again. **Units**: seconds. */
const retryAfter: HeaderLine = ['retry-after', '1']

/** @returns JSON that nobody caches. */
export function jsonAnswer(
  value: unknown,
  status = 200,
  headers: readonly HeaderLine[] = [],
): HttpResponse {
  return { status, headers: [...jsonHeaders, ...headers], body: JSON.stringify(value) }
}

/** A job as clients see it: neither its owner nor its input. Times are in ISO 8601. */
export function jobDocument(job: Job) {
  const { id, api, status, attempt, priority, queuePosition, responseStatus, retryOf } = job
  return {
    id,
    api,
    status,
    attempt,
    priority,
    queuePosition,
    progress: job.progress === undefined ? undefined : parseText(job.progress),
    responseStatus,
    cancelRequested: job.isCancelRequested || undefined,
    retryOf,
    createdAt: timeOf(job.createdAt),
    notBefore: timeOf(job.notBefore),
    startedAt: timeOf(job.startedAt),
    finishedAt: timeOf(job.finishedAt),
  }
}

/** @returns ISO 8601. */
export function timeOf(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString()
}

/** 202 with the place of a job that was accepted. */
export function acceptedAnswer(
  job: Job,
  prefix: string,
  headers: readonly HeaderLine[] = [],
): HttpResponse {
  return jsonAnswer(jobDocument(job), 202, [
    ['location', `${prefix}/jobs/${job.id}`],
    retryAfter,
    ...headers,
  ])
}

/**
 * The answer of a job: `stored` if it has one.
 *
 * @throws Conflict for a canceled job, 410 for an expired one, Overloaded without memory.
 */
export async function resultAnswer(
  job: Job,
  stored: StoredAnswer | undefined,
  visit: Visit,
): Promise<HttpResponse> {
  if (!isFinal(job.status)) return jsonAnswer(jobDocument(job), 202, [retryAfter])
  if (stored === undefined && job.status === 'canceled')
    throw new Conflict('the job was canceled, it has no result')
  if (stored === undefined) throw gone()
  const { headers, body } = await stored.body.answer(visit)
  const revision = { etag: `"${job.id}-${job.attempt}"` }
  return { status: stored.status, headers: [...stored.headers, ...headers], body, revision }
}

/** @returns an answer that nobody may keep: it is for the owner of the job alone. */
export function unkept({ headers, ...answer }: HttpResponse): HttpResponse {
  return { ...answer, headers: [...headers.filter(([name]) => name !== 'cache-control'), noStore] }
}

/** The error of an expired job, whose input and result are deleted. */
export function gone(): Gone {
  return new Gone('the input and the result of the job have expired')
}
