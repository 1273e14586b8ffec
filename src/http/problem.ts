/** Errors as `application/problem+json` (RFC 9457). @module */
import { type ServingError, tellsDetail } from '../core/errors.ts'
import { nosniff } from './constant-headers.ts'
import type { HeaderLine, HttpResponse } from './message.ts'
import { http } from './node-http.ts'

/** Media type of every error body. */
export const problemMediaType = 'application/problem+json'

/**
 * Encodes an error as a problem response. From status 500 on it has only the code and the request id, except for the
 * states that the client should know about (503, 504), whose messages are ours.
 * **Source**: RFC 9457; our choice: members `code`, `reason`, `path`, `offset`, `errors` (what a schema finds wrong),
 * `requestId`.
 */
export function problemResponse(error: ServingError, requestId: string): HttpResponse {
  const title = http.STATUS_CODES[error.status] ?? (error.status === 499 ? 'Client Closed Request' : 'Error')
  const detail = tellsDetail(error) ? error.message : undefined
  const body = { type: 'about:blank', title, status: error.status, detail, ...problemMembers(error, requestId) }
  const headers = problemHeaders(error, requestId, problemMediaType)
  return { status: error.status, headers, body: JSON.stringify(body), error }
}

/** Returns the headers of an error's response. */
export function problemHeaders(error: ServingError, requestId: string, mediaType: string): HeaderLine[] {
  const headers: HeaderLine[] = [['content-type', mediaType], nosniff, ['x-request-id', requestId]]
  if (error.allow !== undefined) headers.push(['allow', error.allow])
  if (error.retryAfterSeconds !== undefined) headers.push(['retry-after', String(error.retryAfterSeconds)])
  if (error.challenge !== undefined) headers.push(['www-authenticate', error.challenge])
  return headers
}

/** Returns what bodies say of an error beside its text: what is wrong, and where, if the client should know. */
export function problemMembers(error: ServingError, requestId: string): Readonly<Record<string, unknown>> {
  const { code, reason, path, offset, issues: errors } = error
  return tellsDetail(error) ? { code, reason, path, offset, errors, requestId } : { code, requestId }
}
