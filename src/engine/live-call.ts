/** The upgrade of a request to a live stream, and what the server counts of that. @module */

import { decodeFailureOf } from '../api/stages.ts'
import type { RequestTarget } from '../api/visit.ts'
import { ClientClosed, DeadlineExceeded, InternalError, type ServingError } from '../core/errors.ts'
import { isPromise, type MaybePromise, within } from '../core/promise.ts'
import { Context } from '../http/context.ts'
import type { HeaderLine, HttpResponse, RequestHeaders } from '../http/message.ts'
import { moveCredentials } from '../live/credentials.ts'
import { subprotocol } from '../live/framing.ts'
import type { LivePlace } from '../live/live-place.ts'
import { type LiveHost, LiveSession } from '../live/live-session.ts'
import type { LiveEndpoint } from '../live/live-streams.ts'
import { notReady } from './admission.ts'
import type { ServerState } from './engine.ts'
import { ServedVisit } from './served-visit.ts'

/** A request to open a live stream. */
export interface LiveRequest {
  readonly endpoint: LiveEndpoint
  readonly target: RequestTarget
  readonly headers: RequestHeaders
  readonly peer: () => string | undefined
}

/** One live stream, from the request that opens it to its end. */
export class LiveCall extends ServedVisit implements LiveHost {
  /** The subprotocol for the answer. */
  readonly protocol: string | undefined
  readonly #endpoint: LiveEndpoint
  #bytesIn = 0
  #place: LivePlace | undefined
  #session: LiveSession | undefined
  #isOver = false

  constructor(server: ServerState, { endpoint, target, headers, peer }: LiveRequest) {
    const ctx = new Context({ headers: moveCredentials(headers), query: target.query })
    super(server, { endpoint, target, ctx }, { remoteAddress: peer })
    this.#endpoint = endpoint
    const offered = ctx.headers.get('sec-websocket-protocol')?.split(',') ?? []
    this.protocol = offered.some((each) => each.trim() === subprotocol) ? subprotocol : undefined
    server.limiter.enter()
  }

  /** For the engine's socket, once the request is admitted. */
  get session(): LiveSession {
    if (this.#session === undefined)
      throw new InternalError('expected a live stream that was admitted')
    return this.#session
  }

  /** Headers for the answer that accepts the request. */
  get headers(): readonly HeaderLine[] {
    return this.ctx.withHeaders({ headers: [['x-request-id', this.ctx.id] as const] }).headers
  }

  /** Runs hooks and auth. Returns the answer of a refusal, or undefined: the stream then waits for `open`. */
  admit(): MaybePromise<HttpResponse | undefined> {
    const refusal =
      notReady(this.server) ??
      this.server.lives.refusal ??
      this.server.before?.(this.#endpoint, this)
    if (isPromise(refusal)) return this.#inTime(refusal).then((error) => this.#admitted(error))
    return this.#admitted(refusal)
  }

  /** Hooks have the time of a request. */
  #inTime(refusal: PromiseLike<ServingError | undefined>): Promise<ServingError | undefined> {
    const { requestTimeoutMs } = this.server.limits
    if (requestTimeoutMs === 0) return Promise.resolve(refusal)
    const late = new DeadlineExceeded(
      'expected the hooks to end before the request deadline, they did not',
    )
    return within(Promise.resolve(refusal), Math.min(requestTimeoutMs, 0x7fffffff), late)
  }

  #admitted(refusal: ServingError | undefined): HttpResponse | undefined {
    if (this.#isOver) return undefined
    const error = refusal ?? this.#open()
    if (error === undefined) return undefined
    const response = this.problem(error)
    this.recorder?.sent(response.body as string)
    this.ended()
    return response
  }

  /** @returns why there is no room for the stream. */
  #open(): ServingError | undefined {
    try {
      this.#place = this.server.lives.admit(this.server.memory, this.#endpoint)
      this.#session = new LiveSession(
        this.#endpoint,
        this.#place,
        this,
        this,
        this.protocol !== undefined,
      )
      return undefined
    } catch (error) {
      return decodeFailureOf(error)
    }
  }

  /** Called when the answer that accepts the request is sent. */
  accepted(): void {
    this.recorder?.answered(101)
  }

  received(bytes: number): void {
    this.#bytesIn += bytes
    this.#endpoint.counts.received++
  }

  sent(content: string | Uint8Array): void {
    this.recorder?.sent(content)
    this.#endpoint.counts.sent++
  }

  /** Called by the engine if the client leaves before its stream is open. */
  left(): void {
    this.ctx.abort(new ClientClosed())
    this.ended()
  }

  ended(): void {
    if (this.#isOver) return
    this.#isOver = true
    if (this.ctx.abortReason instanceof ClientClosed) this.recorder?.left()
    this.#place?.leave()
    this.end(this.#bytesIn)
    this.server.limiter.leave()
  }
}
