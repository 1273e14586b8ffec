/** A visit of a server, over any protocol: its record, its slots, its memory and its end. @module */

import type { Endpoint } from '../api/endpoint.ts'
import { type Access, type RequestTarget, Visit } from '../api/visit.ts'
import { InternalError, ServingError } from '../core/errors.ts'
import type { SharedMemory } from '../core/memory/held-memory.ts'
import { forwardedAddress, forwardedScheme } from '../http/client-address.ts'
import type { Context, RequestPeer, Scheme } from '../http/context.ts'
import type { EndpointSlots } from '../http/limits.ts'
import type { HttpResponse } from '../http/message.ts'
import { OutcomeRecorder, type ProtocolName, type RecordedEndpoint } from '../http/outcome.ts'
import { problemResponse } from '../http/problem.ts'
import { sendable } from '../http/selected.ts'
import { RunnerNotStarted } from '../runner/not-started.ts'
import type { ServerState } from './engine.ts'
import { logFailure } from './log.ts'

/** The other end of a visit. */
export interface VisitPeer {
  remoteAddress(): string | undefined
}

/** A peer without a socket. */
export const noPeer: VisitPeer = { remoteAddress: () => undefined }

/** The part of an endpoint that a visit has. */
export type VisitedEndpoint = RecordedEndpoint &
  Pick<Endpoint, 'access' | 'isLimited'> &
  Partial<Pick<Endpoint, 'problem' | 'slots'>>

/** A request line with its endpoint, which is undefined for a path without one. */
export interface AskedRequest {
  readonly endpoint?: VisitedEndpoint | undefined
  readonly target: RequestTarget
  readonly ctx: Context
}

/** Of a request whose path is of no endpoint: it gets no further. */
const nowhere: Access = { kind: 'open', because: 'there is no such path' }

/** Whether the server waits for the visit, and whether it has a slot. */
type VisitState = 'arriving' | 'counted' | 'running' | 'over'

/** One request or call or live stream, from its headers to its end. */
export class ServedVisit extends Visit implements RequestPeer {
  readonly server: ServerState
  readonly endpoint: VisitedEndpoint | undefined
  readonly target: RequestTarget
  readonly recorder: OutcomeRecorder | undefined
  readonly #peer: VisitPeer
  #state: VisitState = 'arriving'
  /** Those of the endpoint, beside a slot of the server. */
  #slots: EndpointSlots | undefined
  /** Of the memory budget. **Units**: bytes. */
  #reserved = 0

  constructor(server: ServerState, { endpoint, target, ctx }: AskedRequest, peer: VisitPeer) {
    const { observer, cors } = server
    super(ctx, endpoint?.access ?? nowhere)
    this.server = server
    this.endpoint = endpoint
    this.target = target
    this.#peer = peer
    const { access } = this
    ctx.bind(target, access.kind === 'api' ? access.api : undefined, this)
    if (cors !== undefined && endpoint?.protocol !== 'grpc')
      ctx.addHeaders(cors.linesFor(ctx.headers.get('origin')))
    this.recorder =
      observer === undefined ? undefined : new OutcomeRecorder(observer, ctx, endpoint)
  }

  /** From the headers of trusted proxies, else from the socket. */
  get remoteAddress(): string | undefined {
    const { proxies } = this.server
    const forwarded =
      proxies === undefined ? undefined : forwardedAddress(this.ctx.headers, proxies)
    return forwarded ?? this.#peer.remoteAddress()
  }

  /** From the headers of trusted proxies, else from the socket. */
  get scheme(): Scheme {
    const { proxies, isTls } = this.server
    const forwarded = proxies === undefined ? undefined : forwardedScheme(this.ctx.headers, proxies)
    return forwarded ?? (isTls ? 'https' : 'http')
  }

  get transport(): ProtocolName {
    return this.endpoint?.protocol ?? 'http'
  }

  protected get memory(): SharedMemory {
    return this.server.memory
  }

  get reservation(): this {
    return this
  }

  /** Lets the server wait for the end of the visit when it stops. */
  count(): void {
    if (this.endpoint?.isLimited !== true) return
    this.server.limiter.enter()
    this.#state = 'counted'
  }

  /** Takes a slot of the server, and one of the endpoint, once; returns those that are all taken, or undefined. */
  takeSlot(): EndpointSlots | undefined {
    const { endpoint } = this
    if (this.#state === 'running' || endpoint?.isLimited !== true) return undefined
    const { limiter } = this.server
    if (!limiter.acquire()) return limiter
    const slots = endpoint.slots?.(this.ctx.headers)
    if (slots?.acquire() === false) {
      limiter.release()
      return slots
    }
    if (this.#state === 'arriving') this.count()
    this.#state = 'running'
    this.#slots = slots
    return undefined
  }

  /** Reserves more memory, until the end; returns false if it does not fit. `isSpare`: see MemoryBudget. */
  reserve(bytes: number, isSpare = false): boolean {
    if (this.#state === 'over') return true
    if (!this.server.memory.reserve(bytes, isSpare)) return false
    this.#reserved += bytes
    return true
  }

  /** Raises the reservation to `bytes` in all; returns false if it does not fit. */
  reserveUpTo(bytes: number): boolean {
    return bytes <= this.#reserved || this.reserve(bytes - this.#reserved)
  }

  /** Logs and records the error, before it is answered. */
  failed(error: Error): void {
    this.log(error)
    this.recorder?.failed(error)
  }

  /** @returns the response of an error, which is logged and recorded. */
  problem(error: ServingError): HttpResponse {
    this.failed(error)
    const response = this.ctx.withHeaders(problemOf(this, error))
    this.recorder?.answered(response.status ?? 200)
    return response
  }

  /** @returns the response if it can be sent, else a problem, with the lines of every answer. */
  checked(given: HttpResponse): HttpResponse {
    const sent = sendable(given, this.ctx)
    const response = sent instanceof ServingError ? problemOf(this, sent) : sent
    if (response.error !== undefined) this.failed(response.error)
    return this.ctx.withHeaders(response)
  }

  log(error: Error): void {
    if (error instanceof RunnerNotStarted) this.server.health.missing = error.runner
    logFailure(this.server.log, error, this.ctx.id, this.endpoint?.name, this.ctx.job?.id)
  }

  /** Runs the clean-ups, and gives back memory and slots. Only the first call counts. */
  end(bytesIn: number): void {
    const state = this.#state
    if (state === 'over') return
    this.#state = 'over'
    this.ctx.end((cause) =>
      this.log(new InternalError('the clean-up of a request failed', { cause })),
    )
    const { limiter, memory } = this.server
    if (this.#reserved > 0) memory.release(this.#reserved)
    this.recorder?.end(bytesIn)
    if (state === 'running') {
      limiter.release()
      this.#slots?.release()
    }
    if (state !== 'arriving') limiter.leave()
  }
}

function problemOf({ endpoint, ctx }: ServedVisit, error: ServingError): HttpResponse {
  return endpoint?.problem?.(error, ctx.id) ?? problemResponse(error, ctx.id)
}
