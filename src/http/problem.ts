/**
 * Errors as `application/problem+json` (RFC 9457).
 * @module
 */
import { STATUS_CODES } from 'node:http'
import { type ServingError, tellsDetail } from '../errors.ts'
import { nosniff } from './constant-headers.ts'
import type { HeaderLine, HttpResponse } from './message.ts'

/** Media type of every error body. */
export const problemMediaType = 'application/problem+json'

/**
 * Encodes an error as a problem response. From status 500 on it has only the code and the request id, except for the
 * states that the client should know about (503, 504), whose messages are ours.
 * **Source**: RFC 9457; our choice: members `code`, `reason`, `path`, `offset`, `errors` (what a schema finds wrong),
 * `requestId`.
 */
export function problemResponse(error: ServingError, requestId: string): HttpResponse {
  const status = error.status
  const open = tellsDetail(error)
  const headers: HeaderLine[] = [['content-type', problemMediaType], nosniff, ['x-request-id', requestId]]
  if (error.allow !== undefined) headers.push(['allow', error.allow])
  if (error.retryAfterSeconds !== undefined) headers.push(['retry-after', String(error.retryAfterSeconds)])
  if (error.challenge !== undefined) headers.push(['www-authenticate', error.challenge])
  const body = JSON.stringify({
    type: 'about:blank',
    title: STATUS_CODES[status] ?? (status === 499 ? 'Client Closed Request' : 'Error'),
    status,
    detail: open ? error.message : undefined,
    code: error.code,
    reason: open ? error.reason : undefined,
    path: open ? error.path : undefined,
    offset: open ? error.offset : undefined,
    errors: open ? error.issues : undefined,
    requestId,
  })
  return { status, headers, body, error }
}
