/**
 * One request of an endpoint and its response: everything between the socket's events and the endpoint, for every engine.
 * @module
 */

import { BadOutput, ClientClosed, DeadlineExceeded, expected, InternalError, type ServingError } from '../errors.ts'
import { decodeContent, isIdentity } from '../http/content-encoding.ts'
import type { Context } from '../http/context.ts'
import { HttpRequest, type HttpResponse } from '../http/message.ts'
import { bufferPool } from '../memory/buffer-pool.ts'
import type { MaybePromise } from '../promise.ts'
import { decodeFailureOf } from '../service/stages.ts'
import { BodyBuffer } from './body.ts'
import type { Endpoint, RequestTarget } from './endpoint.ts'
import { type BodyAnnouncement, type Site, tooLarge } from './engine.ts'
import { responseFault } from './head.ts'
import { logFailure } from './log.ts'
import { discard, ResponseSender } from './response-sender.ts'
import { Upload } from './upload.ts'

/**
 * The state of one request, from its headers to the last byte of its response. An engine subclasses it with the writes of
 * its sockets and feeds it the events.
 */
export abstract class Exchange extends ResponseSender {
  /** Whether the connection must close after the response. */
  protected readonly closes: boolean
  readonly #site: Site
  readonly #endpoint: Endpoint
  readonly #target: RequestTarget
  readonly #ctx: Context
  readonly #declared: number | undefined
  #body: BodyBuffer | undefined
  #upload: Upload | undefined
  #timer: NodeJS.Timeout | undefined
  // The body is complete or given up: what still comes is none of ours.
  #closedToInput = false

  constructor(site: Site, endpoint: Endpoint, target: RequestTarget, ctx: Context, body: BodyAnnouncement) {
    super()
    this.#site = site
    this.#endpoint = endpoint
    this.#target = target
    this.#ctx = ctx
    this.#declared = body.declared
    // After a chunked body the parsers of a proxy and of the server may disagree where the next request starts.
    this.closes = body.declared === undefined
  }

  /** Whether the body of the response must not be sent. */
  protected get isHead(): boolean {
    return this.#target.method === 'HEAD'
  }

  /** The request's id to send back: the client's own, where it sent one. */
  protected get echoedId(): string | undefined {
    return this.#ctx.clientId
  }

  /** Whether the response should say `connection: close`. */
  protected get closing(): boolean {
    return this.closes || this.#site.health.state === 'draining'
  }

  /** Whether the response must not be written from within the callback that delivers the body. */
  protected abstract get answersLater(): boolean
  /** Asks the socket for no more of the request's body, until `resumeInput`. Pieces that were read already may still come. */
  protected abstract pauseInput(): void
  protected abstract resumeInput(): void
  /** Sends a response while the request's body still comes, reads on for a while, closes. */
  protected abstract sendAndLinger(response: HttpResponse): void
  /** Closes the connection so that the client sees a broken response, not a complete one. */
  protected abstract destroy(): void

  /**
   * Takes a piece of the request's body. `borrowed`: the bytes are the socket's again once this returns.
   * Runs within the socket's own callback, where writes are corked already.
   */
  protected receive(piece: Uint8Array, last: boolean, borrowed: boolean): void {
    if (this.#closedToInput || this.over) return
    if (this.#upload !== undefined) {
      this.#upload.take(piece, last)
      return
    }
    if (last && this.#body === undefined) {
      if (piece.length > this.#site.limits.maxBodyBytes) {
        this.refuse(tooLarge(this.#site))
        return
      }
      // The whole body in one piece: no copy, no timer.
      this.#run(new HttpRequest(this.#ctx.headers, piece, borrowed))
      return
    }
    if (this.#body === undefined) {
      this.timeUpload()
      if (this.#receive(piece, last)) return
      this.#body = new BodyBuffer(this.#declared, this.#site.limits.maxBodyBytes)
    }
    if (!this.#body.append(piece)) {
      this.refuse(tooLarge(this.#site))
      return
    }
    if (last) this.#run(new HttpRequest(this.#ctx.headers, this.#body.take(), bufferPool))
  }

  /** Gives the request up because its connection is gone. */
  protected abort(): void {
    if (this.over) return
    this.finished()
    const draining = this.#site.health.state === 'draining'
    this.#ctx.abort(new ClientClosed(draining ? 'the server closed the connection to stop' : undefined))
    this.drained()
  }

  /** The response is out, or never will be: frees the request's place. Called exactly once, by whoever sets `over`. */
  protected finished(): void {
    if (this.over) return
    this.over = true
    this.#closedToInput = true
    this.#dropBody()
    this.releaseBody()
    clearTimeout(this.#timer)
    this.#upload?.abort(this.#ctx.aborted ?? new ClientClosed())
    this.#ctx.end((cause) => this.#log(new InternalError('the clean-up of a request failed', { cause })))
    if (this.#endpoint.isLimited) this.#site.gate.leave()
  }

  /** An exception that no code above expected: logs it and cuts the connection. */
  protected fault(error: unknown): void {
    this.#log(new InternalError('the server failed', { cause: error }))
    this.#cut()
  }

  /** Holds the deadline for a body that did not come at once. */
  protected timeUpload(): void {
    if (this.#timer !== undefined || this.#ctx.deadlineMs === undefined) return
    const late = () => {
      try {
        this.refuse(new DeadlineExceeded('expected the whole body before the request deadline, it did not come'))
      } catch (error) {
        this.fault(error)
      }
    }
    this.#timer = setTimeout(late, Math.min(this.#ctx.remainingMs, 0x7fffffff))
  }

  /** Answers before the whole body has come. */
  protected refuse(error: ServingError): void {
    this.#closedToInput = true
    this.#dropBody()
    clearTimeout(this.#timer)
    this.#ctx.abort(error)
    this.#upload?.abort(error)
    const response = this.#endpoint.problem(error, this.#ctx.id)
    this.#log(error)
    this.corked(() => this.sendAndLinger(response))
  }

  /** Hands the body to the endpoint's receiver as it comes; false when the endpoint wants it whole. */
  #receive(piece: Uint8Array, last: boolean): boolean {
    const endpoint = this.#endpoint
    if (endpoint.receive === undefined || !isIdentity(this.#encoding)) return false
    try {
      const receiver = endpoint.receive(this.#declared, this.#ctx, this.#target)
      if (receiver === undefined) return false
      this.#upload = new Upload(receiver, this.#site.limits.maxBodyBytes, {
        pause: () => this.pauseInput(),
        resume: () => this.resumeInput(),
        refuse: (error) => this.refuse(error),
        run: (isCorked) => {
          this.#closedToInput = true
          clearTimeout(this.#timer)
          if (isCorked && this.answersLater) this.#later(() => this.#answer(receiver.end(), false))
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

  /** Gives up what has come of the body. */
  #dropBody(): void {
    this.#body?.drop()
    this.#body = undefined
  }

  #run(request: HttpRequest): void {
    this.#closedToInput = true
    this.#body = undefined
    if (this.#timer !== undefined) clearTimeout(this.#timer)
    const encoding = this.#encoding
    if (encoding !== undefined && !isIdentity(encoding)) {
      const { maxBodyBytes } = this.#site.limits
      this.#answer(this.#callUnpacked(decodeContent(request.body, encoding, maxBodyBytes)), false)
      return
    }
    if (!this.answersLater) {
      this.#answer(this.#call(request), true)
      return
    }
    request.keep()
    this.#later(() => this.#answer(this.#call(request), false))
  }

  /** Goes on outside of the socket's callback. */
  #later(work: () => void): void {
    setImmediate(() => {
      try {
        if (!this.over) work()
      } catch (error) {
        this.fault(error)
      }
    })
  }

  /** The encoding to decode, if the endpoint wants that. */
  get #encoding(): string | undefined {
    return this.#endpoint.decompresses ? this.#ctx.headers.get('content-encoding') : undefined
  }

  async #callUnpacked(unpacking: Promise<Uint8Array>): Promise<HttpResponse> {
    try {
      return await this.#call(new HttpRequest(this.#ctx.headers, await unpacking))
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
    this.send(response, isCorked)
  }

  /** The status is out: only a cut connection tells the client that the response is not complete. */
  protected streamFailed(cause: unknown): void {
    if (!this.over) this.#log(new InternalError('the stream failed', { cause }))
    this.#cut()
  }

  #cut(): void {
    if (this.over) return
    this.finished()
    this.#ctx.abort()
    try {
      this.destroy()
    } catch {
      // The connection is gone already, which is what was wanted.
    }
  }

  #log(error: Error): void {
    logFailure(this.#site.log, error, this.#ctx.id, this.#endpoint.name)
  }
}

function faultOf(response: HttpResponse): string | undefined {
  try {
    return responseFault(response)
  } catch {
    return expected('{ status?, headers, body }', 'the response', response)
  }
}
