/** What each request of a server has, over any protocol: its context, its record, its memory and its end. @module */

import type { Endpoint } from '../api/endpoint.ts'
import { type Access, type RequestTarget, Visit } from '../api/visit.ts'
import { InternalError, type ServingError } from '../core/errors.ts'
import type { SharedMemory } from '../core/memory/held-memory.ts'
import { forwardedAddress, forwardedScheme } from '../http/client-address.ts'
import type { Context, RequestPeer, Scheme } from '../http/context.ts'
import type { HttpResponse } from '../http/message.ts'
import { OutcomeRecorder, type RecordedEndpoint } from '../http/outcome.ts'
import { problemResponse } from '../http/problem.ts'
import { RunnerNotStarted } from '../runner/not-started.ts'
import type { ServerState } from './engine.ts'
import { logFailure } from './log.ts'

/** The other end of a request. */
export interface RequestSocket {
  remoteAddress(): string | undefined
}

/** A request line with its endpoint, which is undefined for a path without one. */
export interface AskedRequest {
  readonly endpoint?:
    | (RecordedEndpoint &
        Pick<Endpoint, 'access' | 'isLimited'> &
        Partial<Pick<Endpoint, 'problem'>>)
    | undefined
  readonly target: RequestTarget
  readonly ctx: Context
}

/** Of a request whose path is of no endpoint: it gets no further. */
const nowhere: Access = { kind: 'open', because: 'there is no such path' }

/** One request or call or live stream, from its headers to its end. */
export class ServedRequest<S extends RequestSocket = RequestSocket>
  extends Visit
  implements RequestPeer
{
  readonly server: ServerState
  readonly socket: S
  readonly recorder: OutcomeRecorder | undefined
  readonly #asked: AskedRequest
  /** Of the memory budget. **Units**: bytes. */
  #reserved = 0

  constructor(server: ServerState, asked: AskedRequest, socket: S) {
    const { endpoint, target, ctx } = asked
    const { observer, cors } = server
    super(ctx, endpoint?.access ?? nowhere)
    this.server = server
    this.socket = socket
    this.#asked = asked
    ctx.bind(target, apiOf(this.access), this)
    if (cors !== undefined && endpoint?.protocol !== 'grpc')
      ctx.addHeaders(cors.linesFor(ctx.headers.get('origin')))
    if (observer !== undefined) this.recorder = new OutcomeRecorder(observer, ctx, endpoint)
  }

  /** From the headers of trusted proxies, else from the socket. */
  get remoteAddress(): string | undefined {
    const { proxies } = this.server
    const forwarded =
      proxies === undefined ? undefined : forwardedAddress(this.ctx.headers, proxies)
    return forwarded ?? this.socket.remoteAddress()
  }

  /** From the headers of trusted proxies, else from the socket. */
  get scheme(): Scheme {
    const { proxies, isTls } = this.server
    const forwarded = proxies === undefined ? undefined : forwardedScheme(this.ctx.headers, proxies)
    return forwarded ?? (isTls ? 'https' : 'http')
  }

  get target(): RequestTarget {
    return this.#asked.target
  }

  protected get memory(): SharedMemory {
    return this.server.memory
  }

  get reservation(): this {
    return this
  }

  /** Reserves more memory, until the end; returns false if it does not fit. `isSpare`: see MemoryBudget. */
  reserve(bytes: number, isSpare = false): boolean {
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
    const { id } = this.ctx
    const response = this.ctx.withHeaders(
      this.#asked.endpoint?.problem?.(error, id) ?? problemResponse(error, id),
    )
    this.recorder?.answered(response.status ?? 200)
    return response
  }

  /** Runs the clean-ups, and gives back the memory. Called once, by the end of the request. */
  close(bytesIn: number): void {
    this.ctx.end((cause) =>
      this.log(new InternalError('the clean-up of a request failed', { cause })),
    )
    if (this.#reserved > 0) this.server.memory.release(this.#reserved)
    this.recorder?.end(bytesIn)
  }

  protected log(error: Error): void {
    if (error instanceof RunnerNotStarted) this.server.health.missing = error.runner
    logFailure(this.server.log, error, this.ctx.id, this.#asked.endpoint?.name, this.ctx.job?.id)
  }
}

/** @returns the API that a path names. */
function apiOf(access: Access): string | undefined {
  return access.kind === 'api' ? access.api : undefined
}
