/**
 * Errors in the protocol's JSON: `{"error": text}`, with the members of problem bodies behind it.
 *
 * The media type is plain application/json: kserve's client reads no error of another.
 * @module
 */
import { STATUS_CODES } from 'node:http'
import { type ServingError, tellsDetail } from '../errors.ts'
import type { HeaderLine, HttpResponse } from '../http/message.ts'

/** Returns the text of an error that a client is told. */
export function errorText(error: ServingError): string {
  if (tellsDetail(error)) return error.message
  if (error.code === 'function_error') return 'the function failed'
  return error.code === 'bad_output' ? 'the model returned what cannot be sent' : 'the server failed'
}

/** Encodes an error as a response. */
export function errorResponse(error: ServingError, requestId: string): HttpResponse {
  const { status } = error
  const isOpen = tellsDetail(error)
  const headers: HeaderLine[] = [
    ['content-type', 'application/json'],
    ['x-request-id', requestId],
  ]
  if (error.allow !== undefined) headers.push(['allow', error.allow])
  if (error.retryAfterSeconds !== undefined) headers.push(['retry-after', String(error.retryAfterSeconds)])
  // RFC 9110 section 12.5.3: what a request may be encoded as.
  if (status === 415) headers.push(['accept-encoding', 'gzip, deflate'])
  const body = JSON.stringify({
    error: errorText(error),
    title: STATUS_CODES[status],
    status,
    code: error.code,
    reason: isOpen ? error.reason : undefined,
    path: isOpen ? error.path : undefined,
    offset: isOpen ? error.offset : undefined,
    errors: isOpen ? error.issues : undefined,
    requestId,
  })
  return { status, headers, body, error }
}
