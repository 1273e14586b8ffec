/** One request of an endpoint, between the socket's events and the endpoint. @module */

import type { Endpoint, EndpointReceiver } from '../api/endpoint.ts'
import { ClientClosed, DeadlineExceeded, InternalError, type ServingError } from '../core/errors.ts'
import { isPromise, type MaybePromise } from '../core/promise.ts'
import type { HttpRequest, HttpResponse } from '../http/message.ts'
import { type IncomingRequest, mustClose } from './admission.ts'
import type { ExchangeSocket, ServerState } from './engine.ts'
import { Inbound, type InboundHost } from './inbound.ts'
import { Reply, type ReplyHost } from './reply.ts'
import { ServedVisit } from './served-visit.ts'
import { answerWhole } from './whole-answer.ts'

/**
 * One request, from its headers to the last byte of its response: a visit, its body and its reply. The socket calls
 * all three, and they do not know each other. No private methods: each request would pay for their mark.
 */
export class Exchange implements InboundHost, ReplyHost {
  readonly server: ServerState
  readonly endpoint: Endpoint
  readonly socket: ExchangeSocket
  readonly visit: ServedVisit
  readonly inbound: Inbound
  readonly reply: Reply
  readonly isHead: boolean

  constructor(server: ServerState, request: IncomingRequest, socket: ExchangeSocket) {
    this.server = server
    this.endpoint = request.endpoint
    this.socket = socket
    this.isHead = request.target.method === 'HEAD'
    this.visit = new ServedVisit(server, request, socket)
    this.inbound = new Inbound(this, request.declared)
    this.reply = new Reply(this)
    // At last: an exchange that could not be made will not leave.
    this.visit.count()
  }

  get isOver(): boolean {
    return this.reply.isOver
  }

  /**
   * Whether the connection closes after the response: after a chunked body a proxy and the server may disagree on the
   * start of the next request.
   */
  get closes(): boolean {
    return this.inbound.declared === undefined || this.server.health.state !== 'ready'
  }

  /** Runs the hooks, then calls `ready` to let the body come. */
  begin(ready?: () => void): void {
    const refusal = this.server.before?.(this.endpoint, this.visit)
    if (!isPromise(refusal)) {
      if (refusal === undefined) letIn(this, ready)
      else refuseUnread(this, refusal, true)
      return
    }
    this.inbound.hold()
    refusal
      .then((error) => this.guard(() => begun(this, error, ready)))
      .catch((error) => this.fault(error))
  }

  /** Called within the socket's callback; never throws. `isBorrowed`: the socket may reuse the bytes later. */
  receive(piece: Uint8Array, last: boolean, isBorrowed: boolean): void {
    try {
      this.inbound.take(piece, last, isBorrowed)
    } catch (error) {
      this.fault(error)
    }
  }

  /** Answers a whole request. */
  run(request: HttpRequest): void {
    this.inbound.complete()
    if (!this.socket.answersLater) {
      this.answer(answerWhole(this.visit, this.endpoint, request), true)
      return
    }
    request.retain()
    this.later(() => this.answer(answerWhole(this.visit, this.endpoint, request), false))
  }

  /** As {@link run}, for a receiver that has the whole body. */
  runReceived(receiver: EndpointReceiver, isCorked: boolean): void {
    this.inbound.complete()
    answerSoon(this, () => receiver.end(), isCorked)
  }

  /** The answer may come before the body is complete. */
  answer(response: MaybePromise<HttpResponse> | undefined, isCorked: boolean): void {
    if (isPromise(response))
      Promise.resolve(response)
        .then((later) => respond(this, later, false))
        .catch((error) => this.fault(error))
    else if (response !== undefined) respond(this, response, isCorked)
  }

  /** Refuses a body that is still coming, and closes the connection. */
  refuse(error: ServingError): void {
    const { visit, socket } = this
    visit.ctx.abort(error)
    this.inbound.close(error)
    if (this.reply.hasBegun) {
      this.breakOff(error)
      return
    }
    const response = visit.problem(error)
    visit.recorder?.sent(response.body as string)
    if (!this.isOver) socket.cork(() => socket.sendAndDrain(response))
  }

  /** Refuses a request whose time is over before it has come. */
  late(message: string): void {
    this.guard(() => this.refuse(new DeadlineExceeded(message)))
  }

  /** Called by the socket with an answer before the body's end. `waits`: `end` has to wait for the rest. */
  dropBody(waits: boolean, end: () => void): void {
    this.inbound.drop(waits ? () => this.later(end) : undefined)
    if (!waits) end()
  }

  /** Called by the socket when the client has left. */
  abort(): void {
    if (this.isOver) return
    this.visit.recorder?.left()
    const isDraining = this.server.health.state === 'draining'
    this.finished(
      new ClientClosed(isDraining ? 'the server closed the connection to stop' : undefined),
    )
  }

  /** Called when the response was sent, or never will be (`gone`). Only the first call counts. */
  finished(gone?: ClientClosed): void {
    if (this.isOver) return
    const { inbound, visit } = this
    this.reply.end()
    this.socket.detach?.()
    if (gone !== undefined) visit.ctx.abort(gone)
    inbound.close(visit.ctx.abortReason)
    visit.end(inbound.received)
  }

  /** Calls `work` in a turn of its own, unless the exchange is over by then. */
  later(work: () => void): void {
    setImmediate(() =>
      this.guard(() => {
        if (!this.isOver) work()
      }),
    )
  }

  /** Calls `work`, whose errors end the exchange. */
  guard(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.fault(error)
    }
  }

  fault(cause: unknown): void {
    this.breakOff(new InternalError('the server failed', { cause }))
  }

  /** Only a cut connection shows a failure after the status to the client. */
  breakOff(error: Error): void {
    this.visit.failed(error)
    if (this.isOver) return
    this.finished(new ClientClosed())
    try {
      this.socket.destroy()
    } catch {}
  }
}

/** Called when the hooks have ended later. */
function begun(exchange: Exchange, refusal: ServingError | undefined, ready?: () => void): void {
  if (exchange.isOver) return
  const held = exchange.inbound.unhold()
  if (refusal !== undefined) {
    refuseUnread(exchange, refusal, false)
    return
  }
  const { pieces = [], isComplete = false } = held ?? {}
  exchange.socket.cork(() => {
    for (const [i, piece] of pieces.entries())
      exchange.receive(piece, isComplete && i === pieces.length - 1, false)
  })
  letIn(exchange, ready)
}

function letIn(exchange: Exchange, ready?: () => void): void {
  ready?.()
  const { endpoint, inbound } = exchange
  if (endpoint.startsUnread && inbound.declared !== 0) exchange.later(() => inbound.open())
}

/** Refuses a request whose body nobody has read. */
function refuseUnread(exchange: Exchange, error: ServingError, isCorked: boolean): void {
  const { endpoint, inbound, server, visit } = exchange
  if (inbound.declared !== 0 && mustClose(server, inbound.declared)) exchange.refuse(error)
  else {
    inbound.close()
    answerSoon(exchange, () => endpoint.problem(error, visit.ctx.id), isCorked)
  }
}

function answerSoon(
  exchange: Exchange,
  answer: () => MaybePromise<HttpResponse> | undefined,
  isCorked: boolean,
): void {
  if (isCorked && exchange.socket.answersLater)
    exchange.later(() => exchange.answer(answer(), false))
  else exchange.answer(answer(), isCorked)
}

function respond({ inbound, reply }: Exchange, response: HttpResponse, isCorked: boolean): void {
  if (inbound.isOpen) inbound.answered()
  reply.send(response, isCorked)
}
