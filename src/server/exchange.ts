/**
 * One request of an endpoint and its response: everything between the socket's events and the endpoint, for every
 * engine.
 * @module
 */

import { BadOutput, ClientClosed, InternalError, type ServingError } from '../errors.ts'
import { decodeContent, isIdentity } from '../http/content-encoding.ts'
import { type Context, lifecycle } from '../http/context.ts'
import type { Endpoint, RequestTarget } from '../http/endpoint.ts'
import { bodyLoan, type Chunk, HttpRequest, type HttpResponse } from '../http/message.ts'
import { bufferPool } from '../memory/buffer-pool.ts'
import type { MaybePromise } from '../promise.ts'
import { decodeFailureOf } from '../service/stages.ts'
import { type BodyAnnouncement, noMemory, tooLarge, tooMany } from './admission.ts'
import { BodyBuffer } from './body.ts'
import type { ServerState } from './engine.ts'
import { ExchangeClocks } from './exchange-clocks.ts'
import type { ExchangeSocket } from './exchange-socket.ts'
import { isBodyless } from './head.ts'
import { logFailure } from './log.ts'
import { countedBytes } from './memory-budget.ts'
import { Reservation } from './reservation.ts'
import { faultOf } from './response-fault.ts'
import { discard, type StreamOwner, sendStream } from './response-stream.ts'
import { Upload } from './upload.ts'

/** What an engine knows of a request once its headers have come. */
export interface IncomingRequest {
  readonly endpoint: Endpoint
  readonly target: RequestTarget
  readonly ctx: Context
  readonly body: BodyAnnouncement
}

/**
 * The state of one request, from its headers to the last byte of its response. Its socket calls `receive`, `drained`,
 * `abort` and `finished`, and does what {@link ExchangeSocket} says.
 *
 * Rule: `over` is set at the end, on close and on abort; afterwards nothing writes to the socket.
 */
export class Exchange implements StreamOwner {
  readonly socket: ExchangeSocket
  /** Whether nothing may be written any more. */
  over = false
  /** Whether the connection must close after the response. */
  readonly closes: boolean
  readonly #server: ServerState
  readonly #endpoint: Endpoint
  readonly #target: RequestTarget
  readonly #ctx: Context
  readonly #declared: number | undefined
  #body: BodyBuffer | undefined
  #upload: Upload | undefined
  // Created only when something has to be waited for: most requests come and leave at once.
  #clocks: ExchangeClocks | undefined
  // Of the body. **Units**: bytes.
  #received = 0
  // Undefined for endpoints that answer under any load.
  readonly #reservation: Reservation | undefined
  // Whether the body is complete or given up: what still comes is dropped.
  #closedToInput = false
  // The response whose pooled body is being sent in one piece.
  #pooled: HttpResponse | undefined
  #wake: (() => void) | undefined

  constructor(server: ServerState, { endpoint, target, ctx, body }: IncomingRequest, socket: ExchangeSocket) {
    this.#server = server
    this.#endpoint = endpoint
    this.#reservation = endpoint.isLimited ? new Reservation(server) : undefined
    this.#target = target
    this.#ctx = ctx
    this.#declared = body.declared
    this.socket = socket
    // After a chunked body the parsers of a proxy and of the server may disagree where the next request starts.
    this.closes = body.declared === undefined
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
   * Takes a piece of the request's body. `borrowed`: the socket may reuse the bytes once this returns.
   * Runs within the socket's own callback, where writes are corked already.
   */
  receive(piece: Uint8Array, last: boolean, borrowed: boolean): void {
    if (this.#closedToInput || this.over) return
    this.#received += piece.length
    if (this.#upload !== undefined) {
      this.#upload.take(piece, last)
      return
    }
    if (last && this.#body === undefined) {
      if (piece.length > this.#server.limits.maxBodyBytes) {
        this.refuse(tooLarge(this.#server))
        return
      }
      // The whole body in one piece: no copy, no timer.
      this.#run(bodyLoan.lend(this.#ctx.headers, piece, borrowed))
      return
    }
    if (this.#body === undefined) {
      this.awaitBody()
      if (this.#receiveInPieces(piece, last)) return
      if (!this.#reserve(this.#declared ?? 0)) return
      this.#body = new BodyBuffer(this.#declared, this.#server.limits.maxBodyBytes)
    }
    if (!this.#body.append(piece)) {
      this.refuse(tooLarge(this.#server))
      return
    }
    // For an announced length, all memory was reserved at once.
    if (this.#declared === undefined && !this.#reserve(this.#body.capacity)) return
    if (last) this.#run(bodyLoan.lend(this.#ctx.headers, this.#body.take(), bufferPool))
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
    this.#dropBody()
    if (this.#pooled !== undefined) this.#pooled.pooled?.give(this.#pooled.body as Uint8Array)
    this.#pooled = undefined
    this.#clocks?.stop()
    this.#upload?.abort(lifecycle.abortReason(this.#ctx) ?? new ClientClosed())
    lifecycle.end(this.#ctx, (cause) => this.#log(new InternalError('the clean-up of a request failed', { cause })))
    this.#reservation?.end()
  }

  /** Called for an exception that no code above expected: logs it and cuts the connection. */
  fault(error: unknown): void {
    this.#log(new InternalError('the server failed', { cause: error }))
    this.#cut()
  }

  /**
   * Called when a stream fails: the status was sent, so only a cut connection tells the client that the body is
   * incomplete.
   */
  streamFailed(cause: unknown): void {
    if (!this.over) this.#log(new InternalError('the stream failed', { cause }))
    this.#cut()
  }

  /** Starts the time limits of a body that did not come at once. */
  awaitBody(): void {
    this.#timed.awaitBody(this.#ctx)
  }

  get #timed(): ExchangeClocks {
    this.#clocks ??= new ExchangeClocks(this.#server.limits, {
      received: () => this.#received,
      taken: () => this.socket.taken(),
      bodyLate: (error) => this.#guard(() => this.refuse(error)),
      readerLate: (error) => {
        this.#log(error)
        this.#cut()
      },
    })
    return this.#clocks
  }

  /** Answers before the whole body has come. */
  refuse(error: ServingError): void {
    this.#closedToInput = true
    this.#dropBody()
    this.#clocks?.bodyOver()
    lifecycle.abort(this.#ctx, error)
    this.#upload?.abort(error)
    const response = this.#endpoint.problem(error, this.#ctx.id)
    this.#log(error)
    if (!this.over) this.socket.cork(() => this.socket.sendAndDrain(response))
  }

  /** Passes the body to the endpoint's receiver as it comes; returns false when the endpoint wants it whole. */
  #receiveInPieces(piece: Uint8Array, last: boolean): boolean {
    const endpoint = this.#endpoint
    if (endpoint.receive === undefined || !isIdentity(this.#encoding)) return false
    try {
      const receiver = endpoint.receive(this.#declared, this.#ctx, this.#target)
      if (receiver === undefined) return false
      if (this.#reservation?.takeSlot() === false) {
        receiver.abort(tooMany())
        this.refuse(tooMany())
        return true
      }
      this.#upload = new Upload(receiver, this.#server.limits.maxBodyBytes, {
        pause: () => {
          this.#clocks?.pause()
          if (!this.over) this.socket.pause()
        },
        resume: () => {
          if (this.over) return
          this.#clocks?.resume()
          this.socket.resume()
        },
        refuse: (error) => this.refuse(error),
        run: (isCorked) => {
          this.#closedToInput = true
          this.#clocks?.bodyOver()
          if (isCorked && this.socket.answersLater) this.#later(() => this.#answer(receiver.end(), false))
          else this.#answer(receiver.end(), isCorked)
        },
        fault: (error) => this.fault(error),
      })
    } catch (error) {
      this.refuse(decodeFailureOf(error))
      return true
    }
    this.#upload.take(piece, last)
    return true
  }

  /** Drops what has come of the body. */
  #dropBody(): void {
    this.#body?.drop()
    this.#body = undefined
  }

  #run(request: HttpRequest): void {
    this.#closedToInput = true
    this.#body = undefined
    this.#clocks?.bodyOver()
    if (this.#reservation?.takeSlot() === false) {
      const error = tooMany()
      this.#log(error)
      const response = this.#endpoint.problem(error, this.#ctx.id)
      if (this.socket.answersLater) this.#later(() => this.#answer(response, false))
      else this.#answer(response, true)
      return
    }
    const encoding = this.#encoding
    if (encoding !== undefined && !isIdentity(encoding)) {
      const { maxBodyBytes, maxUnpackRatio } = this.#server.limits
      const body = decodeContent(request.body, encoding, maxBodyBytes, maxUnpackRatio)
      this.#answer(this.#callDecompressed(body), false)
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

  /** The encoding to decode, if the endpoint wants decoded bodies. */
  get #encoding(): string | undefined {
    return this.#endpoint.decompresses ? this.#ctx.headers.get('content-encoding') : undefined
  }

  async #callDecompressed(body: Promise<Uint8Array>): Promise<HttpResponse> {
    try {
      const bytes = await body
      if (this.#reservation?.reserve(bytes.length) === false) throw noMemory()
      return await this.#call(new HttpRequest(this.#ctx.headers, bytes))
    } catch (error) {
      return this.#endpoint.problem(decodeFailureOf(error), this.#ctx.id)
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
    if (response.error !== undefined) this.#log(response.error)
    this.#send(response, isCorked)
  }

  #send(response: HttpResponse, isCorked: boolean): void {
    const { body } = response
    const isWhole = typeof body === 'string' || body instanceof Uint8Array
    if (isBodyless(response.status ?? 200) || (this.isHead && !isWhole)) {
      discard(response)
      this.#sendWhole(response, '', isCorked)
    } else if (isWhole) {
      this.#sendCounted(response, body, isCorked)
    } else sendStream(this, response, isCorked)
  }

  /** Sends a complete body, within the memory budget and the time that a client has for reading it. */
  #sendCounted(response: HttpResponse, body: Chunk, isCorked: boolean): void {
    if (body.length >= countedBytes && this.#reservation?.reserve(body.length) === false) {
      response.pooled?.give(body as Uint8Array)
      response = this.#endpoint.problem(noMemory(), this.#ctx.id)
      this.#log(noMemory())
      this.#sendWhole(response, response.body as string, isCorked)
      return
    }
    if (response.pooled !== undefined) this.#pooled = response
    this.#sendWhole(response, body, isCorked)
    if (!this.over && body.length >= countedBytes) this.#timed.awaitReader()
  }

  /** Reserves memory for a body, up to `bytes` in all; refuses the request when there is too little. */
  #reserve(bytes: number): boolean {
    if (bytes < countedBytes || (this.#reservation?.reserveUpTo(bytes) ?? true)) return true
    this.refuse(noMemory())
    return false
  }

  #sendWhole(response: HttpResponse, body: Chunk, isCorked: boolean): void {
    if (isCorked) this.socket.sendWhole(response, body)
    else this.socket.cork(() => this.socket.sendWhole(response, body))
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
