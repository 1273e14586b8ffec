import { type ServingError, tellsDetail } from '../../core/errors.ts'
import type { HttpResponse } from '../../http/message.ts'
import { problemHeaders } from '../../http/problem.ts'

const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
}

/** @returns an error as clients see it. */
export function errorOf(error: ServingError) {
  const { status, path: param = null, code } = error
  // Why the model's text does not fit is no secret of the server.
  const isTold = tellsDetail(error) || param === 'response_format'
  const message = isTold ? error.message : 'the server or its model failed'
  const type = types[status] ?? (status < 500 ? 'invalid_request_error' : 'server_error')
  return { message, type, param, code }
}

/** @returns the body of an error. */
export function errorBody(error: ServingError): string {
  return JSON.stringify({ error: errorOf(error) })
}

/** Encodes an error as a response. */
export function errorResponse(error: ServingError, requestId: string): HttpResponse {
  const headers = problemHeaders(error, requestId, 'application/json')
  return { status: error.status, headers, body: errorBody(error), error }
}
