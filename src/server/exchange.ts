/**
 * One request of an endpoint and its response: everything between the socket's events and the endpoint, for every
 * engine.
 * @module
 */

import { BadOutput, ClientClosed, InternalError, type ServingError } from '../errors.ts'
import { type Context, lifecycle, type RequestPeer } from '../http/context.ts'
import type { Endpoint, EndpointReceiver, RequestTarget } from '../http/endpoint.ts'
import { bodyLoan, type Chunk, type HttpRequest, type HttpResponse } from '../http/message.ts'
import { bufferPool } from '../memory/buffer-pool.ts'
import type { MaybePromise } from '../promise.ts'
import { decodeFailureOf } from '../service/stages.ts'
import { mustClose, noMemory, tooLarge, tooMany } from './admission.ts'
import { BodyIntake, type BodyOwner } from './body-intake.ts'
import { decompress, encodingOf } from './decompress.ts'
import type { ServerState } from './engine.ts'
import { ExchangeClocks } from './exchange-clocks.ts'
import type { ExchangeSocket } from './exchange-socket.ts'
import { clientAddress, type IncomingRequest } from './incoming-request.ts'
import { logFailure } from './log.ts'
import { countedBytes } from './memory-budget.ts'
import type { Limits } from './options.ts'
import { OutcomeRecorder } from './outcome-recorder.ts'
import { Reservation } from './reservation.ts'
import { faultOf } from './response-fault.ts'
import { discard, type ResponseOwner, sendResponse } from './response-stream.ts'

/**
 * The state of one request, from its headers to the last byte of its response. Its socket calls `begin`, `receive`,
 * `drained`, `abort` and `finished`, and does what {@link ExchangeSocket} says.
 *
 * Rule: `over` is set at the end, on close and on abort; afterwards nothing writes to the socket.
 */
export class Exchange implements ResponseOwner, BodyOwner, RequestPeer {
  readonly socket: ExchangeSocket
  /** Whether nothing may be written any more. */
  over = false
  /** Whether the connection must close after the response. */
  readonly closes: boolean
  readonly #server: ServerState
  readonly #endpoint: Endpoint
  readonly #target: RequestTarget
  readonly #ctx: Context
  /** The Content-Length; undefined for a chunked body. **Units**: bytes. */
  readonly declared: number | undefined
  // Both created only when something has to be waited for: most requests come and leave at once.
  #intake: BodyIntake | undefined
  #clocks: ExchangeClocks | undefined
  // Of the body. **Units**: bytes.
  #received = 0
  // Undefined for endpoints that answer under any load.
  readonly #reservation: Reservation | undefined
  // Whether the body is complete or given up: what still comes is dropped.
  #closedToInput = false
  /** The response whose pooled body is being sent in one piece. */
  pooled: HttpResponse | undefined
  #wake: (() => void) | undefined
  readonly #recorder: OutcomeRecorder | undefined

  constructor(server: ServerState, { endpoint, target, ctx, body }: IncomingRequest, socket: ExchangeSocket) {
    this.#server = server
    this.#endpoint = endpoint
    this.#reservation = endpoint.isLimited ? new Reservation(server, endpoint.slots) : undefined
    this.#target = target
    this.#ctx = ctx
    this.declared = body.declared
    this.socket = socket
    // After a chunked body the parsers of a proxy and of the server may disagree where the next request starts.
    this.closes = body.declared === undefined
    lifecycle.bind(ctx, target, endpoint.api, this)
    const { observer, cors } = server
    if (cors !== undefined) lifecycle.addHeaders(ctx, cors.linesFor(ctx.headers.get('origin')))
    if (observer !== undefined) this.#recorder = new OutcomeRecorder(observer, ctx, endpoint)
  }

  get remoteAddress(): string | undefined {
    return clientAddress(this.#server, this.#ctx.headers, () => this.socket.remoteAddress())
  }

  /** Whether the body of the response must not be sent. */
  get isHead(): boolean {
    return this.#target.method === 'HEAD'
  }

  /** The request id to send back: the client's own, if it sent one. */
  get echoedId(): string | undefined {
    return lifecycle.clientId(this.#ctx)
  }

  /** Whether the response should say `connection: close`. */
  get closing(): boolean {
    return this.closes || this.#server.health.state !== 'ready'
  }

  /**
   * Called once, when the socket can be written: runs the hooks. `ready` is called when they let the body come; pieces
   * that come before are held.
   */
  begin(ready?: () => void): void {
    const refusal = this.#server.before?.(this.#endpoint, this.#ctx)
    if (!(refusal instanceof Promise)) {
      if (refusal === undefined) ready?.()
      else this.#refuseUnread(refusal, true)
      return
    }
    this.#intake = new BodyIntake(this)
    this.#intake.hold()
    this.#timed.awaitHooks(this.#ctx)
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
    ready?.()
  }

  /** Answers before the body was read; the engine drops what still comes, and the connection stays if it can. */
  #refuseUnread(error: ServingError, isCorked: boolean): void {
    if (this.declared !== 0 && mustClose(this.#server, this.declared)) this.refuse(error)
    else {
      this.#closedToInput = true
      const response = this.#endpoint.problem(error, this.#ctx.id)
      if (isCorked && this.socket.answersLater) this.#later(() => this.#respond(response, false))
      else this.#respond(response, isCorked)
    }
  }

  /**
   * Takes a piece of the request's body. `borrowed`: the socket may reuse the bytes once this returns.
   * Runs within the socket's own callback, where writes are corked already.
   */
  receive(piece: Uint8Array, last: boolean, borrowed: boolean): void {
    if (this.#closedToInput || this.over) return
    this.#received += piece.length
    if (this.#intake === undefined) {
      if (last) {
        // The whole body in one piece: no copy, no timer.
        if (piece.length > this.limits.maxBodyBytes) this.refuse(tooLarge(this.limits))
        else this.#run(bodyLoan.lend(this.#ctx.headers, piece, borrowed))
        return
      }
      this.awaitBody()
      this.#intake = new BodyIntake(this)
    }
    this.#intake.take(piece, last)
  }

  get limits(): Limits {
    return this.#server.limits
  }

  receiver(): EndpointReceiver | undefined {
    if (encodingOf(this.#endpoint, this.#ctx) !== undefined) return undefined
    const receiver = this.#endpoint.receive?.(this.declared, this.#ctx, this.#target)
    const full = receiver && this.#reservation?.takeSlot()
    if (full === undefined) return receiver
    const error = tooMany(full)
    receiver?.abort(error)
    throw error
  }

  pause(): void {
    this.#clocks?.pause()
    if (!this.over) this.socket.pause()
  }

  resume(): void {
    if (this.over) return
    this.#clocks?.resume()
    this.socket.resume()
  }

  run(body: Uint8Array): void {
    this.#run(bodyLoan.lend(this.#ctx.headers, body, bufferPool))
  }

  runReceived(receiver: EndpointReceiver, isCorked: boolean): void {
    this.#bodyComplete()
    if (isCorked && this.socket.answersLater) this.#later(() => this.#answer(receiver.end(), false))
    else this.#answer(receiver.end(), isCorked)
  }

  /** Called when the client has read what was written. */
  drained(): void {
    this.#clocks?.pause()
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }

  /** Resolves with the next `drained`, or when the exchange is over. */
  caughtUp(): Promise<void> {
    if (this.over) return Promise.resolve()
    this.#timed.awaitReader()
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  /** Gives the request up because its connection is gone. */
  abort(): void {
    if (this.over) return
    this.#recorder?.left()
    this.finished()
    const draining = this.#server.health.state === 'draining'
    lifecycle.abort(this.#ctx, new ClientClosed(draining ? 'the server closed the connection to stop' : undefined))
    this.drained()
  }

  /** Called when the response was sent or never will be. Only the first call counts. */
  finished(): void {
    if (this.over) return
    this.over = true
    this.#closedToInput = true
    this.socket.detach()
    if (this.pooled !== undefined) this.pooled.pooled?.give(this.pooled.body as Uint8Array)
    this.pooled = undefined
    this.#clocks?.stop()
    this.#intake?.abort(lifecycle.abortReason(this.#ctx) ?? new ClientClosed())
    lifecycle.end(this.#ctx, (cause) => this.#log(new InternalError('the clean-up of a request failed', { cause })))
    this.#reservation?.end()
    this.#recorder?.end(this.#received)
  }

  /** Called for an exception that no code above expected: logs it and cuts the connection. */
  fault(error: unknown): void {
    this.#failed(new InternalError('the server failed', { cause: error }))
    this.#cut()
  }

  /** Called when a stream fails: the status was sent, so that only a cut connection tells the client. */
  streamFailed(cause: unknown): void {
    if (!this.over) this.#failed(new InternalError('the stream failed', { cause }))
    this.#cut()
  }

  /** Called for each piece of the response's body that is sent. */
  sent(piece: Chunk): void {
    this.#recorder?.sent(piece)
  }

  /** Starts the time limits of a body that did not come at once. */
  awaitBody(): void {
    this.#timed.awaitBody(this.#ctx)
  }

  get #timed(): ExchangeClocks {
    this.#clocks ??= new ExchangeClocks(this.limits, {
      received: () => this.#received,
      taken: () => this.socket.taken(),
      bodyLate: (error) => this.#guard(() => this.refuse(error)),
      readerLate: (error) => {
        this.#failed(error)
        this.#cut()
      },
    })
    return this.#clocks
  }

  /** Answers before the whole body has come. */
  refuse(error: ServingError): void {
    this.#closedToInput = true
    this.#clocks?.bodyOver()
    lifecycle.abort(this.#ctx, error)
    this.#intake?.abort(error)
    const response = this.problem(error)
    this.answered(response.status)
    this.sent(response.body as string)
    if (!this.over) this.socket.cork(() => this.socket.sendAndDrain(response))
  }

  #bodyComplete(): void {
    this.#closedToInput = true
    this.#recorder?.bodyComplete()
    this.#clocks?.bodyOver()
  }

  #run(request: HttpRequest): void {
    this.#bodyComplete()
    const full = this.#reservation?.takeSlot()
    if (full !== undefined) {
      const response = this.#endpoint.problem(tooMany(full), this.#ctx.id)
      if (this.socket.answersLater) this.#later(() => this.#answer(response, false))
      else this.#answer(response, true)
      return
    }
    const encoding = encodingOf(this.#endpoint, this.#ctx)
    if (encoding !== undefined) {
      const body = decompress(request, encoding, this.limits, this.#reservation)
      const failed = (error: unknown) => this.#endpoint.problem(decodeFailureOf(error), this.#ctx.id)
      const answer = body.then((plain) => this.#call(plain))
      this.#answer(answer.catch(failed), false)
      return
    }
    if (!this.socket.answersLater) {
      this.#answer(this.#call(request), true)
      return
    }
    bodyLoan.keep(request)
    this.#later(() => this.#answer(this.#call(request), false))
  }

  /** Continues outside of the socket's callback. */
  #later(work: () => void): void {
    setImmediate(() =>
      this.#guard(() => {
        if (!this.over) work()
      }),
    )
  }

  #guard(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.fault(error)
    }
  }

  #call(request: HttpRequest): MaybePromise<HttpResponse> {
    return this.#endpoint.answer(request, this.#ctx, this.#target)
  }

  #answer(response: MaybePromise<HttpResponse>, isCorked: boolean): void {
    if (!(response instanceof Promise)) {
      this.#respond(response, isCorked)
      return
    }
    response.then((later) => this.#respond(later, false)).catch((error) => this.fault(error))
  }

  #respond(response: HttpResponse, isCorked: boolean): void {
    if (this.over) {
      discard(response)
      return
    }
    const fault = faultOf(response)
    if (fault !== undefined) {
      discard(response)
      response = this.#endpoint.problem(new BadOutput(fault), this.#ctx.id)
    }
    if (response.error !== undefined) this.#failed(response.error)
    sendResponse(this, lifecycle.withHeaders(this.#ctx, response), isCorked)
  }

  problem(error: ServingError): HttpResponse {
    this.#failed(error)
    return lifecycle.withHeaders(this.#ctx, this.#endpoint.problem(error, this.#ctx.id))
  }

  #failed(error: Error): void {
    this.#log(error)
    this.#recorder?.failed(error)
  }

  reserve(bytes: number): boolean {
    if (bytes < countedBytes || (this.#reservation?.reserveUpTo(bytes) ?? true)) return true
    this.refuse(noMemory())
    return false
  }

  reserveAnswer(bytes: number): boolean {
    return this.#reservation?.reserve(bytes) ?? true
  }

  answered(status = 200): void {
    this.#recorder?.answered(status)
  }

  awaitReader(): void {
    this.#timed.awaitReader()
  }

  #cut(): void {
    if (this.over) return
    this.finished()
    lifecycle.abort(this.#ctx)
    try {
      this.socket.destroy()
    } catch {
      // The connection is gone already, which is what was wanted.
    }
  }

  #log(error: Error): void {
    logFailure(this.#server.log, error, this.#ctx.id, this.#endpoint.name)
  }
}
