/** What an engine knows of a request once its headers have come, and the answer to one that is refused then. @module */

import type { Endpoint } from '../api/endpoint.ts'
import { noParams, type RequestTarget } from '../api/visit.ts'
import type { ServingError } from '../core/errors.ts'
import { Context } from '../http/context.ts'
import type { HttpResponse, RequestHeaders } from '../http/message.ts'
import { type HeaderNames, joinHeaderNames } from '../http/message.ts'
import { selectingHeaders } from '../http/selected.ts'
import { timeoutHeader } from '../http/timeout-header.ts'
import type { ServerState } from './engine.ts'
import { ServedVisit } from './served-visit.ts'

/** A request that was admitted. */
export interface IncomingRequest {
  readonly endpoint: Endpoint
  readonly target: RequestTarget
  readonly ctx: Context
  /** Content-Length; 0 without a body, undefined if chunked. **Units**: bytes. */
  readonly declared: number | undefined
}

/** Refused before its body is read. Its endpoint is undefined if it was not found. */
export interface RefusedRequest {
  readonly endpoint?: Endpoint | undefined
  readonly method: string
  readonly path: string
  readonly headers: RequestHeaders
  readonly peer: () => string | undefined
}

/** Without an endpoint: the headers that refusals need. */
export function headersToRead(
  { readsHeaders = [] }: ServerState,
  endpoint?: Endpoint,
): HeaderNames {
  const { isLimited, methods = [], readsHeaders: own = ['x-request-id'] } = endpoint ?? {}
  const reads = methods === 'any' || methods.includes('GET')
  return joinHeaderNames(
    own,
    isLimited ? [timeoutHeader] : [],
    readsHeaders,
    reads ? selectingHeaders : [],
  )
}

/** Logs and reports a refusal, and returns the response. */
export function refusalOf(
  server: ServerState,
  error: ServingError,
  request: RefusedRequest,
): HttpResponse {
  const { endpoint, method, path, headers, peer } = request
  const ctx = new Context({ headers })
  const refused = new ServedVisit(
    server,
    { endpoint, target: { method, path, query: '', params: noParams }, ctx },
    { remoteAddress: peer },
  )
  const response = refused.problem(error)
  if (method !== 'HEAD') refused.recorder?.sent(response.body as string)
  refused.end(0)
  return response
}
