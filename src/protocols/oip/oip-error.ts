/** Errors as `{"error": text}`, with the members of problem bodies. kserve's client needs application/json. @module */
import { type ServingError, tellsDetail } from '../../core/errors.ts'
import type { HttpResponse } from '../../http/message.ts'
import { problemHeaders, problemMembers } from '../../http/problem.ts'
import { statusTexts } from '../../http/status-texts.ts'

/** @returns the text of an error for a client. */
export function errorText(error: ServingError): string {
  if (tellsDetail(error)) return error.message
  return texts[error.code] ?? 'the server failed'
}

const texts: Partial<Record<string, string>> = {
  function_error: 'the function failed',
  bad_output: 'the model returned what cannot be sent',
}

/** Encodes an error as a response. */
export function errorResponse(error: ServingError, requestId: string): HttpResponse {
  const { status } = error
  const headers = problemHeaders(error, requestId, 'application/json')
  if (status === 415) headers.push(['accept-encoding', 'gzip, deflate'])
  const members = {
    error: errorText(error),
    title: statusTexts[status],
    status,
    ...problemMembers(error, requestId),
  }
  return { status, headers, body: JSON.stringify(members), error }
}
