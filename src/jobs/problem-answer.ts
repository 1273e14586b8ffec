import { DeadlineExceeded, InternalError, ServingError } from '../core/errors.ts'
import { parseJson } from '../core/text/parse-json.ts'
import { headerOf } from '../http/message.ts'
import { problemResponse } from '../http/problem.ts'
import { deliveryNote } from './delivery.ts'
import type { StoredResponse } from './job.ts'
import type { Outcome } from './job-store.ts'

/**
 * Its request id is the job's.
 *
 * @returns the problem document of an error, as the answer of a job.
 */
export function problemAnswer(error: ServingError, id: string): StoredResponse {
  const { headers, body } = problemResponse(error, id)
  return { status: error.status, headers, body: new TextEncoder().encode(body as string) }
}

/** The answer of a job that a store gives up, since its workers died, and of a row that killed them. */
export function crashAnswer(id: string, what: 'job' | 'row' = 'job'): StoredResponse {
  return problemAnswer(
    new InternalError(`each process that ran the ${what} died`, {}, { code: 'worker_died' }),
    id,
  )
}

/** The answer of a job that a store gives up, of whose processes at least one lived longer than its lease. */
export function lostAnswer(id: string): StoredResponse {
  return problemAnswer(
    new InternalError('no process that ran the job kept its lease', {}, { code: 'lease_lost' }),
    id,
  )
}

/** The answer of a job that has waited for longer than its `queueTtl`. */
export function lateAnswer(id: string): StoredResponse {
  const text = 'the job waited for longer than queueTtl of its API'
  return problemAnswer(new DeadlineExceeded(text, {}, { code: 'waited_too_long' }), id)
}

/** @returns what the log tells of jobs that have waited for too long: one line for each API. */
export function lateWarnings(jobs: readonly { readonly api: string }[]): string[] {
  const counts = new Map<string, number>()
  for (const { api } of jobs) counts.set(api, (counts.get(api) ?? 0) + 1)
  return [...counts].map(
    ([api, jobs]) =>
      `jobs of ${api} that failed, since they waited for longer than queueTtl: ${jobs}`,
  )
}

/** The outcome of an attempt that could not be run at all. */
export function failedBy(
  cause: unknown,
  id: string,
): Extract<Outcome, { readonly kind: 'failed' }> {
  const error = ServingError.is(cause)
    ? cause
    : new InternalError('the job could not be run', { cause })
  return { kind: 'failed', response: problemAnswer(error, id), mayRetry: error.status >= 500 }
}

/** @returns the texts of a problem document; a function may have made it, of anything. */
export function problemOf({ headers, body }: Omit<StoredResponse, 'status'>): {
  readonly code?: string
  readonly detail?: string
} {
  const type = headerOf(headers, 'content-type')
  if (type !== 'application/problem+json') return {}
  try {
    const { code, detail } = Object(parseJson(body, 'the problem'))
    return {
      ...(typeof code === 'string' && { code }),
      ...(typeof detail === 'string' && { detail }),
    }
  } catch {
    return {}
  }
}

/**
 * @returns the code of a problem document, or what a delivery tells of its receiver: never what a
 * function answers.
 */
export function failureOf({ headers, body }: StoredResponse): {
  readonly code?: string
  readonly reason?: string
} {
  const type = headerOf(headers, 'content-type')
  if (type === deliveryNote) return { reason: Buffer.from(body).toString() }
  const { code } = problemOf({ headers, body })
  return code === undefined ? {} : { code }
}
