/** Decides which requests are admitted, and how the others are answered. @module */

import type { Endpoint } from '../api/endpoint.ts'
import { withDeadline } from '../api/stages.ts'
import { BadInput, expected, Overloaded, type ServingError } from '../core/errors.ts'
import { isPromise, type MaybePromise } from '../core/promise.ts'
import { tooLarge, tooMany } from '../http/limits.ts'
import type { RequestHeaders } from '../http/message.ts'
import { readTimeout, timeoutHeader } from '../http/timeout-header.ts'
import type { ServerState } from './engine.ts'
import type { ServedVisit } from './served-visit.ts'
import type { HookedEndpoint } from './service-hooks.ts'

/** How the body of a request is announced. */
export interface BodyAnnouncement {
  /** Content-Length; 0 without a body, undefined if chunked. **Units**: bytes. */
  readonly declared: number | undefined
  readonly encoding: string
  /** Set if the end of the request is in doubt: this is the answer, and the connection closes. */
  readonly fault?: ServingError
}

/**
 * A request that runs takes its slot later.
 *
 * @returns why a request is refused, or undefined.
 */
export function admit(
  server: ServerState,
  endpoint: Endpoint,
  body: BodyAnnouncement,
  headers: RequestHeaders,
): ServingError | undefined {
  const stopped = endpoint.isLimited ? notReady(server) : undefined
  if (stopped !== undefined) return stopped
  const { declared, encoding, fault } = body
  if (fault !== undefined) return fault
  if (encoding !== '' && encoding.toLowerCase() !== 'chunked') {
    return new BadInput(expected('chunked', 'transfer-encoding', encoding), { reason: 'encoding' })
  }
  if (declared !== undefined && !(declared <= server.limits.maxBodyBytes))
    return tooLarge(server.limits, declared)
  const timeout = headers.get(timeoutHeader)
  if (Number.isNaN(readTimeout(timeout)))
    return new BadInput(
      expected('at most 8 digits and a unit, as 2500m or 2S,', timeoutHeader, timeout),
    )
  if (!endpoint.isLimited) return undefined
  if (server.limiter.isFull) return tooMany(server.limiter)
  const slots = endpoint.slots?.(headers)
  return slots?.isFull ? tooMany(slots) : undefined
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

/** Undefined without a limit. **Units**: milliseconds. */
export function timeoutOf(
  server: ServerState,
  endpoint?: Endpoint,
  headers?: RequestHeaders,
): number | undefined {
  const { requestTimeoutMs } = server.limits
  const ours = requestTimeoutMs === 0 ? Number.POSITIVE_INFINITY : requestTimeoutMs
  const least = headers === undefined ? ours : Math.min(ours, clientTimeout(headers, endpoint))
  return least === Number.POSITIVE_INFINITY ? undefined : least
}

/** What the protocol of the endpoint reads, or any client may send; invalid texts were refused. */
function clientTimeout(headers: RequestHeaders, endpoint: Endpoint | undefined): number {
  if (endpoint?.timeoutMs === undefined) return readTimeout(headers.get(timeoutHeader))
  return endpoint.timeoutMs(headers) ?? Number.POSITIVE_INFINITY
}

/** As {@link timeoutOf}, for a request with its client's deadline; Infinity without a deadline. */
export function timeoutWithin(server: ServerState, deadline: Date | number): number | undefined {
  const own = Number(deadline) - Date.now()
  const ours = timeoutOf(server)
  if (!Number.isFinite(own)) return ours
  return ours === undefined ? own : Math.min(own, ours)
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
