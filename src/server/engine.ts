/**
 * What the listener and its HTTP engines know of each other.
 * @module
 */

import { BadInput, expected, Overloaded, PayloadTooLarge, type ServingError } from '../errors.ts'
import { Context } from '../http/context.ts'
import { HeaderList, type HttpResponse, type RequestHeaders } from '../http/message.ts'
import { problemResponse } from '../http/problem.ts'
import type { Endpoint } from './endpoint.ts'
import type { Health } from './health.ts'
import type { InFlightGate } from './limits.ts'
import type { Logger } from './log.ts'
import { logFailure } from './log.ts'
import type { EngineName, Limits } from './options.ts'
import type { Router } from './router.ts'

/** What an engine serves: everything about a server but its sockets. */
export interface Site {
  readonly router: Router
  readonly limits: Limits
  readonly gate: InFlightGate
  readonly health: Health
  readonly log: Logger
}

/** Where an engine listens. */
export interface Address {
  /** Undefined for all addresses, IPv4 and IPv6. */
  readonly host: string | undefined
  /** 0 for a free one. */
  readonly port: number
}

/** A listening HTTP engine. */
export interface Engine {
  readonly name: EngineName
  readonly port: number
  /** Takes no new connections; those that there are go on. */
  stopAccepting(): void
  /** Stops listening and closes every connection; requests that still run are aborted. */
  close(): Promise<void>
}

/**
 * How long a refused upload is still read after its answer. Closing a socket with unread bytes makes the kernel send a
 * reset, which can destroy the answer before the client has read it. **Source**: RFC 9112 section 9.6.
 */
export const linger = Object.freeze({
  /** **Units**: milliseconds. */
  timeMs: 5_000,
  /** **Units**: bytes. */
  bytes: 32 * 1024 * 1024,
})

/** How the body of a request is announced. */
export interface BodyAnnouncement {
  /** Content-Length; 0 without a body, undefined for a chunked one. **Units**: bytes. */
  readonly declared: number | undefined
  /** Transfer-Encoding, empty when absent. */
  readonly encoding: string
}

/** The headers that announce a body, as an engine reads them (empty when absent), become the announcement. */
export function announcedBody(contentLength: string, encoding: string): BodyAnnouncement {
  if (contentLength !== '') return { declared: Number(contentLength), encoding }
  return { declared: encoding === '' ? 0 : undefined, encoding }
}

/**
 * Whether a request for an endpoint is let in; otherwise why not. One of a limited endpoint that was let in must leave the
 * gate exactly once. **Errors**: returned, not thrown.
 */
export function admit(site: Site, endpoint: Endpoint, body: BodyAnnouncement): ServingError | undefined {
  if (endpoint.isLimited && site.health.state !== 'ready') return new Overloaded(`the server is ${site.health.state}`)
  const { declared, encoding } = body
  if (encoding !== '' && encoding.toLowerCase() !== 'chunked') {
    return new BadInput(expected('chunked', 'transfer-encoding', encoding), { reason: 'encoding' })
  }
  if (declared !== undefined && !(declared <= site.limits.maxBodyBytes)) return tooLarge(site, declared)
  if (endpoint.isLimited && !site.gate.enter()) return new Overloaded('too many requests in flight')
  return undefined
}

/** The refusal of a body above the limit. `declared` is its Content-Length, where it has one. */
export function tooLarge(site: Site, declared?: number): PayloadTooLarge {
  const limit = `at most ${site.limits.maxBodyBytes} bytes`
  return new PayloadTooLarge(
    declared === undefined ? `expected ${limit} for the body, received more` : expected(limit, 'the body', declared),
  )
}

/**
 * Whether the connection must close after a refusal: the unread body is of unknown length or above the limit, or the server
 * is draining. Otherwise the rest of the body is read over and the connection kept.
 */
export function mustClose(site: Site, body: BodyAnnouncement): boolean {
  const { declared } = body
  // After a chunked body the parsers of proxy and server may disagree where the next request starts.
  return declared === undefined || !(declared <= site.limits.maxBodyBytes) || site.health.state === 'draining'
}

/** When a request that comes now must be answered. **Units**: milliseconds since the epoch; undefined without a limit. */
export function deadlineOf(site: Site, endpoint?: Endpoint, headers?: RequestHeaders): number | undefined {
  const { requestTimeoutMs } = site.limits
  const own = headers === undefined ? undefined : endpoint?.timeoutMs?.(headers)
  if (own !== undefined) return Date.now() + (requestTimeoutMs === 0 ? own : Math.min(own, requestTimeoutMs))
  return requestTimeoutMs === 0 ? undefined : Date.now() + requestTimeoutMs
}

const idHeader = ['x-request-id']

/**
 * Logs why a request was refused before its body was read, and returns the response. `requestId` is the client's, empty
 * when absent; `endpoint` is undefined where none was found.
 */
export function refusalOf(site: Site, error: ServingError, requestId: string, endpoint?: Endpoint): HttpResponse {
  const id = new Context({ headers: new HeaderList(idHeader, [requestId]) }).id
  logFailure(site.log, error, id, endpoint?.name)
  return endpoint === undefined ? problemResponse(error, id) : endpoint.problem(error, id)
}
