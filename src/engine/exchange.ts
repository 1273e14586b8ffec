/** One request of an endpoint and its response, between the socket's events and the endpoint. @module */

import { decodeFailureOf } from '../api/stages.ts'
import { BadOutput, ClientClosed, InternalError, type ServingError } from '../core/errors.ts'
import { bufferPool } from '../core/memory/buffer-pool.ts'
import { isPromise, type MaybePromise } from '../core/promise.ts'
import type { Context, RequestPeer, Scheme } from '../http/context.ts'
import type { Endpoint, EndpointReceiver, RequestTarget } from '../http/endpoint.ts'
import { HttpRequest, type HttpResponse } from '../http/message.ts'
import { mustClose, Reservation, tooLarge, tooMany } from './admission.ts'
import { decompress, encodingOf } from './body.ts'
import { BodyIntake, type BodyOwner } from './body-intake.ts'
import type { ExchangeSocket, ServerState } from './engine.ts'
import { responseFault } from './head.ts'
import { clientAddress, clientScheme, type IncomingRequest } from './incoming-request.ts'
import { logFailure } from './log.ts'
import type { Limits } from './options.ts'
import { OutcomeRecorder } from './outcome-recorder.ts'
import { discard, type ResponseOwner, sendResponse } from './response-stream.ts'
import { ExchangeClocks } from './transfer-clock.ts'

/** One request, from its headers to the last byte of its response. Once it is `over` nothing writes to the socket. */
export class Exchange implements ResponseOwner, BodyOwner, RequestPeer {
  readonly socket: ExchangeSocket
  over = false
  readonly closes: boolean
  readonly #server: ServerState
  readonly endpoint: Endpoint
  readonly target: RequestTarget
  readonly ctx: Context
  readonly declared: number | undefined
  #intake: BodyIntake | undefined
  #clocks: ExchangeClocks | undefined
  #received = 0
  readonly reservation: Reservation | undefined
  #closedToInput = false
  #answersEarly = false
  pooled: HttpResponse | undefined
  #wake: (() => void) | undefined
  readonly recorder: OutcomeRecorder | undefined

  constructor(server: ServerState, { endpoint, target, ctx, body }: IncomingRequest, socket: ExchangeSocket) {
    this.#server = server
    this.endpoint = endpoint
    this.reservation = endpoint.isLimited ? new Reservation(server, endpoint.slots) : undefined
    this.target = target
    this.ctx = ctx
    this.declared = body.declared
    this.socket = socket
    // After a chunked body a proxy and the server may disagree on the start of the next request.
    this.closes = body.declared === undefined
    ctx.bind(target, endpoint.api, this)
    const { observer, cors } = server
    if (cors !== undefined) ctx.addHeaders(cors.linesFor(ctx.headers.get('origin')))
    if (observer !== undefined) this.recorder = new OutcomeRecorder(observer, ctx, endpoint)
    // At last: an exchange that could not be made will not leave.
    if (endpoint.isLimited) server.limiter.enter()
  }

  get remoteAddress(): string | undefined {
    return clientAddress(this.#server, this.ctx.headers, () => this.socket.remoteAddress())
  }

  get scheme(): Scheme {
    return clientScheme(this.#server, this.ctx.headers)
  }

  get isHead(): boolean {
    return this.target.method === 'HEAD'
  }

  get echoedId(): string | undefined {
    return this.ctx.clientId
  }

  get closing(): boolean {
    return this.closes || this.#server.health.state !== 'ready'
  }

  /** Runs the hooks, then calls `ready` to let the body come. */
  begin(ready?: () => void): void {
    const refusal = this.#server.before?.(this.endpoint, this.ctx)
    if (!isPromise(refusal)) {
      if (refusal === undefined) this.#letIn(ready)
      else this.#refuseUnread(refusal, true)
      return
    }
    this.#intake = new BodyIntake(this)
    this.#intake.hold()
    this.clocks.awaitHooks(this.ctx)
    refusal.then((error) => this.#guard(() => this.#begun(error, ready))).catch((error) => this.fault(error))
  }

  #begun(refusal: ServingError | undefined, ready?: () => void): void {
    if (this.over) return
    this.#received = 0
    this.#clocks?.bodyOver()
    const held = this.#intake?.release() ?? []
    this.#intake = undefined
    if (refusal !== undefined) {
      this.#refuseUnread(refusal, false)
      return
    }
    this.socket.cork(() => {
      for (const { bytes, last } of held) this.receive(bytes, last, false)
    })
    this.#letIn(ready)
  }

  #letIn(ready?: () => void): void {
    ready?.()
    if (!this.endpoint.startsUnread || this.declared === 0) return
    this.#later(() => {
      if (this.isReceiving && this.#intake === undefined) this.#openIntake().start()
    })
  }

  #openIntake(): BodyIntake {
    this.clocks.awaitBody(this.ctx)
    this.#intake = new BodyIntake(this)
    return this.#intake
  }

  #refuseUnread(error: ServingError, isCorked: boolean): void {
    if (this.declared !== 0 && mustClose(this.#server, this.declared)) this.refuse(error)
    else {
      this.#closedToInput = true
      const response = this.endpoint.problem(error, this.ctx.id)
      this.#whenAnswerable(isCorked, (corked) => this.#respond(response, corked))
    }
  }

  /** Called within the socket's callback. `borrowed`: the socket may reuse the bytes later. */
  receive(piece: Uint8Array, last: boolean, borrowed: boolean): void {
    if (this.#closedToInput || this.over) return
    this.#received += piece.length
    if (this.#intake !== undefined || !last) (this.#intake ?? this.#openIntake()).take(piece, last)
    else if (piece.length > this.limits.maxBodyBytes) this.refuse(tooLarge(this.limits))
    else this.#run(HttpRequest.lend(this.ctx.headers, piece, borrowed))
  }

  get isReceiving(): boolean {
    return !this.#closedToInput
  }

  get limits(): Limits {
    return this.#server.limits
  }

  pause(): void {
    this.#clocks?.pauseBody()
    if (!this.over) this.socket.pause()
  }

  resume(): void {
    if (this.over) return
    this.#clocks?.resumeBody()
    this.socket.resume()
  }

  run(body: Uint8Array): void {
    this.#run(HttpRequest.lend(this.ctx.headers, body, bufferPool))
  }

  runReceived(receiver: EndpointReceiver, isCorked: boolean): void {
    this.#bodyComplete()
    this.#whenAnswerable(isCorked, (corked) => this.answer(receiver.end(), corked))
  }

  /** `closes`: whether `end` has to wait for the rest of the body. */
  dropBody(closes: boolean, end: () => void): void {
    this.#clocks?.bodyOver()
    this.#intake?.drop(closes ? () => this.#later(end) : undefined)
    if (!closes) end()
  }

  drained(): void {
    this.#clocks?.readerReady()
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }

  caughtUp(): Promise<void> {
    if (this.over) return Promise.resolve()
    this.clocks.awaitReader()
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  abort(): void {
    if (this.over) return
    this.recorder?.left()
    const draining = this.#server.health.state === 'draining'
    this.finished(new ClientClosed(draining ? 'the server closed the connection to stop' : undefined))
    this.drained()
  }

  /** Called when the response was sent, or never will be (`gone`). Only the first call counts. */
  finished(gone?: ClientClosed): void {
    if (this.over) return
    this.over = true
    this.#closedToInput = true
    this.socket.detach()
    if (this.pooled !== undefined) this.pooled.pooled?.give(this.pooled.body as Uint8Array)
    this.pooled = undefined
    this.#clocks?.stop()
    if (gone !== undefined) this.ctx.abort(gone)
    this.#intake?.abort(() => this.ctx.abortReason ?? new ClientClosed())
    this.ctx.end((cause) => this.#log(new InternalError('the clean-up of a request failed', { cause })))
    this.reservation?.end()
    this.recorder?.end(this.#received)
  }

  fault(error: unknown): void {
    this.#breakOff(new InternalError('the server failed', { cause: error }))
  }

  /** The status was sent already: only a cut connection shows the failure to the client. */
  streamFailed(cause: unknown): void {
    if (!this.over) this.#failed(new InternalError('the stream failed', { cause }))
    this.#cut()
  }

  get clocks(): ExchangeClocks {
    this.#clocks ??= new ExchangeClocks(this.limits, {
      received: () => this.#received,
      taken: () => this.socket.taken(),
      bodyLate: (error) => this.#guard(() => this.refuse(error)),
      readerLate: (error) => this.#breakOff(error),
    })
    return this.#clocks
  }

  refuse(error: ServingError): void {
    this.#closedToInput = true
    this.#clocks?.bodyOver()
    this.ctx.abort(error)
    this.#intake?.abort(() => error)
    if (this.#answersEarly) {
      this.#breakOff(error)
      return
    }
    const response = this.problem(error)
    this.recorder?.answered(response.status ?? 200)
    this.recorder?.sent(response.body as string)
    if (!this.over) this.socket.cork(() => this.socket.sendAndDrain(response))
  }

  #bodyComplete(): void {
    this.#closedToInput = true
    this.recorder?.bodyComplete()
    this.#clocks?.bodyOver()
  }

  #run(request: HttpRequest): void {
    this.#bodyComplete()
    const full = this.reservation?.takeSlot()
    if (full !== undefined) {
      const response = this.endpoint.problem(tooMany(full), this.ctx.id)
      this.#whenAnswerable(true, (corked) => this.#respond(response, corked))
      return
    }
    const encoding = encodingOf(this.endpoint, this.ctx)
    if (encoding !== undefined) {
      const body = decompress(request, encoding, this.limits, this.reservation)
      const failed = (error: unknown) => this.endpoint.problem(decodeFailureOf(error), this.ctx.id)
      this.answer(body.then((plain) => this.#call(plain)).catch(failed), false)
      return
    }
    if (!this.socket.answersLater) {
      this.answer(this.#call(request), true)
      return
    }
    request.retain()
    this.#later(() => this.answer(this.#call(request), false))
  }

  #later(work: () => void): void {
    setImmediate(() =>
      this.#guard(() => {
        if (!this.over) work()
      }),
    )
  }

  #whenAnswerable(isCorked: boolean, work: (isCorked: boolean) => void): void {
    if (isCorked && this.socket.answersLater) this.#later(() => work(false))
    else work(isCorked)
  }

  #guard(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.fault(error)
    }
  }

  #call(request: HttpRequest): MaybePromise<HttpResponse> {
    return this.endpoint.answer(request, this.ctx, this.target)
  }

  answer(response: MaybePromise<HttpResponse> | undefined, isCorked: boolean): void {
    if (isPromise(response))
      Promise.resolve(response)
        .then((later) => this.#respond(later, false))
        .catch((error) => this.fault(error))
    else if (response !== undefined) this.#respond(response, isCorked)
  }

  #respond(response: HttpResponse, isCorked: boolean): void {
    if (this.over) {
      discard(response)
      return
    }
    const fault = responseFault(response)
    if (fault !== undefined) {
      discard(response)
      response = this.endpoint.problem(new BadOutput(fault), this.ctx.id)
    }
    if (response.error !== undefined) this.#failed(response.error)
    if (this.isReceiving) {
      this.#answersEarly = true
      this.#clocks?.answered()
    }
    sendResponse(this, this.ctx.withHeaders(response), isCorked)
  }

  problem(error: ServingError): HttpResponse {
    this.#failed(error)
    return this.ctx.withHeaders(this.endpoint.problem(error, this.ctx.id))
  }

  #breakOff(error: Error): void {
    this.#failed(error)
    this.#cut()
  }

  #failed(error: Error): void {
    this.#log(error)
    this.recorder?.failed(error)
  }

  #cut(): void {
    if (this.over) return
    this.finished(new ClientClosed())
    try {
      this.socket.destroy()
    } catch {}
  }

  #log(error: Error): void {
    logFailure(this.#server.log, error, this.ctx.id, this.endpoint.name)
  }
}
