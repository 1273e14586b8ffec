/** What an engine knows of a request once its headers have come, and the answer to one that is refused then. @module */

import type { ServingError } from '../core/errors.ts'
import { forwardedAddress, forwardedScheme } from '../http/client-address.ts'
import { Context, type Scheme } from '../http/context.ts'
import type { Endpoint, RequestTarget } from '../http/endpoint.ts'
import type { HttpResponse, RequestHeaders } from '../http/message.ts'
import { type HeaderNames, joinHeaderNames } from '../http/message.ts'
import { OutcomeRecorder } from '../http/outcome.ts'
import { problemResponse } from '../http/problem.ts'
import type { BodyAnnouncement } from './admission.ts'
import type { ServerState } from './engine.ts'
import { logFailure } from './log.ts'

/** A request that was admitted. */
export interface IncomingRequest {
  readonly endpoint: Endpoint
  readonly target: RequestTarget
  readonly ctx: Context
  readonly body: BodyAnnouncement
}

/** Refused before its body is read. Its endpoint is undefined if it was not found. */
export interface RefusedRequest {
  readonly endpoint?: Endpoint | undefined
  readonly method: string
  readonly path: string
  readonly headers: RequestHeaders
  readonly peer: () => string | undefined
}

/** From the headers of trusted proxies, else from the socket. */
export function clientAddress(
  { proxies }: ServerState,
  headers: RequestHeaders,
  peer: () => string | undefined,
): string | undefined {
  return (proxies === undefined ? undefined : forwardedAddress(headers, proxies)) ?? peer()
}

/** From the headers of trusted proxies, else from the socket. */
export function clientScheme({ proxies, isTls }: ServerState, headers: RequestHeaders): Scheme {
  return (proxies === undefined ? undefined : forwardedScheme(headers, proxies)) ?? (isTls ? 'https' : 'http')
}

/** Without an endpoint: the headers that refusals need. */
export function headersToRead({ readsHeaders = [] }: ServerState, endpoint?: Endpoint): HeaderNames {
  return joinHeaderNames(endpoint?.readsHeaders ?? ['x-request-id'], readsHeaders)
}

/** Logs and reports a refusal, and returns the response. */
export function refusalOf(server: ServerState, error: ServingError, request: RefusedRequest): HttpResponse {
  const { endpoint, method, headers, peer } = request
  const ctx = new Context({
    ...request,
    api: endpoint?.api,
    scheme: clientScheme(server, headers),
    get remoteAddress() {
      return clientAddress(server, headers, peer)
    },
  })
  if (server.cors !== undefined) ctx.addHeaders(server.cors.linesFor(headers.get('origin')))
  logFailure(server.log, error, ctx.id, endpoint?.name)
  const { observer } = server
  const recorder = observer === undefined ? undefined : new OutcomeRecorder(observer, ctx, endpoint)
  recorder?.failed(error)
  const problem = endpoint === undefined ? problemResponse(error, ctx.id) : endpoint.problem(error, ctx.id)
  const response = ctx.withHeaders(problem)
  recorder?.answered(response.status ?? 200)
  if (method !== 'HEAD') recorder?.sent(response.body as string)
  recorder?.end(0)
  return response
}
