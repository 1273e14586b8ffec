/**
 * What an engine knows of a request once its headers have come.
 * @module
 */
import { forwardedAddress, forwardedScheme } from '../http/client-address.ts'
import { Context, lifecycle, type Scheme } from '../http/context.ts'
import type { Endpoint, RequestTarget } from '../http/endpoint.ts'
import { type HeaderNames, joinHeaderNames } from '../http/header-names.ts'
import type { RequestHeaders } from '../http/message.ts'
import type { BodyAnnouncement } from './admission.ts'
import type { ServerState } from './engine.ts'

/** A request that was admitted. */
export interface IncomingRequest {
  readonly endpoint: Endpoint
  readonly target: RequestTarget
  readonly ctx: Context
  readonly body: BodyAnnouncement
}

/** A request that is refused before its body is read. Its endpoint is undefined when none was found. */
export interface RefusedRequest {
  readonly endpoint?: Endpoint | undefined
  readonly method: string
  readonly path: string
  readonly headers: RequestHeaders
  /** Returns the address at the other end of the socket. */
  readonly peer: () => string | undefined
}

/** Returns a context for a refused request. */
export function contextOfRefused(server: ServerState, request: RefusedRequest): Context {
  const { endpoint, method, path, headers, peer } = request
  const ctx = new Context({
    headers,
    method,
    path,
    api: endpoint?.api,
    get remoteAddress() {
      return clientAddress(server, headers, peer)
    },
    get scheme() {
      return clientScheme(server, headers)
    },
  })
  if (server.cors !== undefined) lifecycle.addHeaders(ctx, server.cors.linesFor(headers.get('origin')))
  return ctx
}

/** Returns the address of the client: that of the socket, or what trusted proxies tell. */
export function clientAddress(
  { trustProxy = 0 }: ServerState,
  headers: RequestHeaders,
  peer: () => string | undefined,
): string | undefined {
  return (trustProxy === 0 ? undefined : forwardedAddress(headers, trustProxy)) ?? peer()
}

/** Returns the scheme that the client used: that of the socket, or what trusted proxies tell. */
export function clientScheme({ trustProxy = 0, isTls }: ServerState, headers: RequestHeaders): Scheme {
  return (trustProxy === 0 ? undefined : forwardedScheme(headers, trustProxy)) ?? (isTls ? 'https' : 'http')
}

/** Returns the names of the headers to read for an endpoint; for no endpoint, those that refusals need. */
export function headersToRead({ readsHeaders = [] }: ServerState, endpoint?: Endpoint): HeaderNames {
  return joinHeaderNames(endpoint?.readsHeaders ?? ['x-request-id'], readsHeaders)
}
