import { type ServingError, tellsDetail } from '../core/errors.ts'
import type { HeaderLine, HttpResponse } from './message.ts'
import { nosniff } from './response-head.ts'
import { statusTexts } from './status-texts.ts'

/** Media type of every error body. */
export const problemMediaType = 'application/problem+json'

/**
 * Encodes an error (RFC 9457) with our members `code`, `reason`, `path`, `offset`, `errors` and `requestId`. Status 500
 * and above, except 503 and 504, tell only code and request id.
 */
export function problemResponse(error: ServingError, requestId: string): HttpResponse {
  const title =
    statusTexts[error.status] ?? (error.status === 499 ? 'Client Closed Request' : 'Error')
  const detail = tellsDetail(error) ? error.message : undefined
  const body = {
    type: 'about:blank',
    title,
    status: error.status,
    detail,
    ...problemMembers(error, requestId),
  }
  const headers = problemHeaders(error, requestId, problemMediaType)
  return { status: error.status, headers, body: JSON.stringify(body), error }
}

/**
 * @returns an answer by the statuses with which a protocol refuses, for an operation of OpenAPI.
 */
export function refusals<T>(answer: T): Readonly<Record<number, T>> {
  return Object.fromEntries(
    [400, 401, 403, 404, 413, 429, 500, 503, 504].map((status) => [status, answer]),
  )
}

/** @returns the headers of an error's response. */
export function problemHeaders(
  error: ServingError,
  requestId: string,
  mediaType: string,
): HeaderLine[] {
  const headers: HeaderLine[] = [['content-type', mediaType], nosniff, ['x-request-id', requestId]]
  if (error.allow !== undefined) headers.push(['allow', error.allow])
  if (error.retryAfterSeconds !== undefined)
    headers.push(['retry-after', String(error.retryAfterSeconds)])
  if (error.contentRange !== undefined) headers.push(['content-range', error.contentRange])
  if (error.challenge !== undefined) headers.push(['www-authenticate', error.challenge])
  return headers
}

/** @returns what bodies tell of an error beside its text. */
export function problemMembers(
  error: ServingError,
  requestId: string,
): Readonly<Record<string, unknown>> {
  const { code, reason, path, offset, issues: errors } = error
  return tellsDetail(error)
    ? { code, reason, path, offset, errors, requestId }
    : { code, requestId }
}
