/** Decides which requests are admitted, and how the others are answered. @module */

import type { Endpoint } from '../api/endpoint.ts'
import { withDeadline } from '../api/stages.ts'
import { noParams, type RequestTarget } from '../api/visit.ts'
import { BadInput, expected, Overloaded, type ServingError } from '../core/errors.ts'
import { isPromise, type MaybePromise } from '../core/promise.ts'
import { Context } from '../http/context.ts'
import { tooLarge, tooMany } from '../http/limits.ts'
import type { HttpResponse, RequestHeaders } from '../http/message.ts'
import { readTimeout, timeoutHeader } from '../http/timeout-header.ts'
import type { ServerState } from './engine.ts'
import { ServedVisit } from './served-visit.ts'
import type { HookedEndpoint } from './service-hooks.ts'

/** What the header lines of a request say. */
export interface RequestHead {
  readonly headers: RequestHeaders
  /** Content-Length; 0 without a body, undefined if chunked. **Units**: bytes. */
  readonly declared: number | undefined
  /** Set if the end of the request is in doubt: this is the answer, and the connection closes. */
  readonly fault?: ServingError | undefined
}

/** A request that was admitted. */
export interface IncomingRequest {
  readonly endpoint: Endpoint
  readonly target: RequestTarget
  readonly ctx: Context
  /** As in {@link RequestHead}. */
  readonly declared: number | undefined
}

/**
 * Admits a request whose headers have come, or not. A request that runs takes its slot later.
 *
 * @returns the request, or why it is refused.
 */
export function admit(
  server: ServerState,
  endpoint: Endpoint,
  target: RequestTarget,
  { headers, declared, fault }: RequestHead,
): IncomingRequest | ServingError {
  const { isLimited } = endpoint
  const { limits, limiter } = server
  const refusal = (isLimited ? notReady(server) : undefined) ?? fault
  if (refusal !== undefined) return refusal
  if (declared !== undefined && !(declared <= limits.maxBodyBytes))
    return tooLarge(limits, declared)
  const timeout = headers.get(timeoutHeader)
  const clientMs = readTimeout(timeout)
  if (Number.isNaN(clientMs))
    return new BadInput(
      expected('at most 8 digits and a unit, as 2500m or 2S,', timeoutHeader, timeout),
    )
  if (isLimited) {
    if (limiter.isFull) return tooMany(limiter)
    const slots = endpoint.slots?.(headers)
    if (slots?.isFull) return tooMany(slots)
  }
  const timeoutMs = timeoutWithin(server, endpoint.timeoutMs?.(headers) ?? clientMs)
  const ctx = new Context({ headers, query: target.query, timeoutMs })
  return { endpoint, target, ctx, declared }
}

/** Refused before its body is read. Its endpoint is undefined if it was not found. */
export interface RefusedRequest {
  readonly endpoint?: Endpoint | undefined
  readonly method: string
  readonly path: string
  readonly headers: RequestHeaders
  readonly peer: () => string | undefined
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

/**
 * Runs the hooks within the deadline, for a visit without a socket that waits.
 *
 * @returns why they refuse it, or undefined.
 */
export function refusalByHooks(
  visit: ServedVisit,
  endpoint: HookedEndpoint,
): MaybePromise<ServingError | undefined> {
  const refusal = visit.server.before?.(endpoint, visit)
  if (!isPromise(refusal)) return refusal
  return withDeadline(visit.ctx, refusal, { fail: (error) => error })
}

/**
 * @returns why a request would be refused now, before it has come; undefined if nothing is known
 * yet.
 */
export function refusalNow(server: ServerState): ServingError | undefined {
  return notReady(server) ?? (server.limiter.isFull ? tooMany(server.limiter) : undefined)
}

/** @returns the refusal of everything but health while the server starts or stops, or undefined. */
export function notReady({ health: { state } }: ServerState): Overloaded | undefined {
  return state === 'starting' || state === 'draining'
    ? new Overloaded(`the server is ${state}`, { limit: state })
    : undefined
}

/** Whether the unread body has no known length or is too large, or the server stops. */
export function mustClose(server: ServerState, declared: number | undefined): boolean {
  return (
    declared === undefined ||
    !(declared <= server.limits.maxBodyBytes) ||
    server.health.state !== 'ready'
  )
}

/**
 * **Units**: milliseconds.
 *
 * @param clientMs - What the client waits for; Infinity without a bound.
 * @returns the time that a request has; undefined without a limit.
 */
export function timeoutWithin({ limits }: ServerState, clientMs: number): number | undefined {
  const least = Math.min(clientMs, limits.requestTimeoutMs || Number.POSITIVE_INFINITY)
  return least === Number.POSITIVE_INFINITY ? undefined : least
}

/** Detects turns that begin too many requests: a parser hands over all pipelined requests at once. */
export class TurnCounter {
  readonly #max: number
  readonly #resetAt: number
  #count = 0
  readonly #reset = () => {
    this.#count = 0
  }

  constructor(max: number) {
    this.#max = max
    this.#resetAt = Math.ceil(max / 4)
  }

  add(): boolean {
    if (++this.#count === this.#resetAt) setImmediate(this.#reset)
    return this.#count <= this.#max
  }
}
