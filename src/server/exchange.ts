/**
 * One request of an API and its response: everything between the socket's events and `call`, for every engine.
 * @module
 */
import type { Context } from '../context.ts'
import type { Api } from '../core/api.ts'
import { call, callReceived } from '../core/call.ts'
import { decodeFailureOf } from '../core/stages.ts'
import { BadOutput, ClientClosed, DeadlineExceeded, expected, InternalError, type ServingError } from '../errors.ts'
import type { MaybePromise } from '../io/descriptor.ts'
import { decodeContent, isIdentity } from '../wire/content-encoding.ts'
import { type Chunk, HttpRequest, type HttpResponse, isAsyncBody, type ResponseBody } from '../wire/message.ts'
import { BodyBuffer } from './body.ts'
import { type BodyAnnouncement, problemOf, type Site, tooLarge } from './engine.ts'
import { isBodyless, responseFault } from './head.ts'
import { logFailure } from './log.ts'
import { isReceived, Upload } from './upload.ts'

// Pieces of a stream are cut to this size. The sockets buffer what the kernel does not take, and the kernel tells of new
// room only when a third of its own buffer (tens of KiB) is free: with pieces below that, what is buffered shrinks each time.
const pieceBytes = 16 * 1024

/**
 * The state of one request, from its headers to the last byte of its response. An engine subclasses it with the writes of
 * its sockets and feeds it the events.
 *
 * Rule: `over` is set at the end, on close and on abort; afterwards nothing touches the native response.
 */
export abstract class Exchange {
  /** Whether the connection must close after the response. */
  protected readonly closes: boolean
  /** Nothing may be written any more. */
  protected over = false
  readonly #site: Site
  readonly #api: Api
  readonly #ctx: Context
  readonly #declared: number | undefined
  #body: BodyBuffer | undefined
  #upload: Upload | undefined
  #timer: NodeJS.Timeout | undefined
  // The body is complete or given up: what still comes is none of ours.
  #closedToInput = false
  #wake: (() => void) | undefined

  constructor(site: Site, api: Api, ctx: Context, body: BodyAnnouncement) {
    this.#site = site
    this.#api = api
    this.#ctx = ctx
    this.#declared = body.declared
    // After a chunked body the parsers of a proxy and of the server may disagree where the next request starts.
    this.closes = body.declared === undefined
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
  /** Runs `writes` so that they leave in one packet. Must run them at once. */
  protected abstract corked(writes: () => void): void
  /** Sends a response with a content-length and ends; without length and body for 204 and 304. */
  protected abstract sendWhole(response: HttpResponse, body: Chunk): void
  /** Writes status and headers of a streamed response. */
  protected abstract sendHead(response: HttpResponse): void
  /** Writes a piece of a streamed response, never an empty one; false when the client should catch up first. */
  protected abstract sendPiece(piece: Chunk): boolean
  /** Writes the end of a streamed response. */
  protected abstract sendEnd(): void
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
      if (isReceived(this.#api, this.#declared) && isIdentity(this.#encoding)) {
        this.#receive(piece, last)
        return
      }
      this.#body = new BodyBuffer(this.#declared, this.#site.limits.maxBodyBytes)
    }
    if (!this.#body.append(piece)) {
      this.refuse(tooLarge(this.#site))
      return
    }
    if (last) this.#run(new HttpRequest(this.#ctx.headers, this.#body.take()))
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
    this.#body = undefined
    clearTimeout(this.#timer)
    this.#upload?.abort(this.#ctx.aborted ?? new ClientClosed())
    this.#ctx.end((cause) => this.#log(new InternalError('the clean-up of a request failed', { cause })))
    this.#site.gate.leave()
  }

  /** The client has caught up. */
  protected drained(): void {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
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
    this.#body = undefined
    clearTimeout(this.#timer)
    this.#ctx.abort(error)
    this.#upload?.abort(error)
    const response = problemOf(this.#api, error, this.#ctx.id)
    this.#log(error)
    this.corked(() => this.sendAndLinger(response))
  }

  /** Hands a body that is too long to be held to the descriptor as it comes. */
  #receive(piece: Uint8Array, last: boolean): void {
    try {
      this.#upload = new Upload(this.#api, this.#ctx, this.#site.limits.maxBodyBytes, {
        pause: () => this.pauseInput(),
        resume: () => this.resumeInput(),
        refuse: (error) => this.refuse(error),
        run: (receiver, isCorked) => {
          this.#closedToInput = true
          clearTimeout(this.#timer)
          const answer = (within: boolean) => this.#answer(callReceived(this.#api, receiver, this.#ctx), within)
          if (isCorked && this.answersLater) this.#later(() => answer(false))
          else answer(isCorked)
        },
        fault: (error) => this.fault(error),
      })
    } catch (error) {
      this.refuse(decodeFailureOf(error))
      return
    }
    this.#upload.take(piece, last)
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

  /** Another protocol answers for its own encodings. */
  get #encoding(): string | undefined {
    return this.#api.protocol === undefined ? this.#ctx.headers.get('content-encoding') : undefined
  }

  async #callUnpacked(unpacking: Promise<Uint8Array>): Promise<HttpResponse> {
    try {
      return await this.#call(new HttpRequest(this.#ctx.headers, await unpacking))
    } catch (error) {
      return problemOf(this.#api, decodeFailureOf(error), this.#ctx.id)
    }
  }

  #call(request: HttpRequest): MaybePromise<HttpResponse> {
    const api = this.#api
    return api.protocol === undefined ? call(api, request, this.#ctx) : api.protocol.answer(request, this.#ctx)
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
      discard(response.body)
      return
    }
    const fault = faultOf(response)
    if (fault !== undefined) {
      discard(response.body)
      response = problemOf(this.#api, new BadOutput(fault), this.#ctx.id)
    }
    if (response.error !== undefined) this.#log(response.error)
    const { body } = response
    if (isBodyless(response.status ?? 200)) {
      discard(body)
      this.#whole(response, '', isCorked)
      return
    }
    if (typeof body === 'string' || body instanceof Uint8Array) {
      this.#whole(response, body, isCorked)
      return
    }
    if (isAsyncBody(body)) void this.#pump(response, body[Symbol.asyncIterator](), false)
    else if (isCorked) this.#sendPieces(response, body)
    else this.corked(() => this.#sendPieces(response, body))
  }

  #whole(response: HttpResponse, body: Chunk, isCorked: boolean): void {
    if (isCorked) this.sendWhole(response, body)
    else this.corked(() => this.sendWhole(response, body))
  }

  /** Sends chunks that are all there; waits only for a client that does not keep up. */
  #sendPieces(response: HttpResponse, chunks: readonly Chunk[]): void {
    this.sendHead(response)
    for (let i = 0; i < chunks.length; i++) {
      const chunk = chunks[i]
      if (!isChunk(chunk) || chunk.length > pieceBytes) {
        void this.#pump(response, chunks.slice(i).values(), true)
        return
      }
      if (chunk.length > 0 && !this.sendPiece(chunk)) {
        void this.#pump(response, chunks.slice(i + 1).values(), true, this.#catchUp())
        return
      }
    }
    this.sendEnd()
  }

  /** Sends chunks as they come, no faster than the client reads. */
  async #pump(
    response: HttpResponse,
    chunks: AsyncIterator<Chunk> | Iterator<Chunk>,
    headSent: boolean,
    ready?: Promise<void>,
  ): Promise<void> {
    try {
      await ready
      while (!this.over) {
        const next = await chunks.next()
        if (this.over) break
        if (next.done) {
          this.corked(() => {
            if (!headSent) this.sendHead(response)
            this.sendEnd()
          })
          return
        }
        if (!isChunk(next.value))
          throw new BadOutput(expected('a string or bytes', 'a chunk of the response', next.value))
        const bytes = next.value.length > pieceBytes ? bytesOf(next.value) : next.value
        for (let at = 0; at < bytes.length && !this.over; at += pieceBytes) {
          const piece = bytes.length <= pieceBytes ? bytes : (bytes as Uint8Array).subarray(at, at + pieceBytes)
          let room = true
          this.corked(() => {
            if (!headSent) this.sendHead(response)
            headSent = true
            room = this.sendPiece(piece)
          })
          if (!room) await this.#catchUp()
        }
      }
      await chunks.return?.()
    } catch (error) {
      // The status is out: only a cut connection tells the client that the response is not complete.
      if (!this.over) this.#log(new InternalError('the stream failed', { cause: error }))
      this.#cut()
      await Promise.resolve(chunks.return?.()).catch(() => {})
    }
  }

  #catchUp(): Promise<void> {
    if (this.over) return Promise.resolve()
    return new Promise((resolve) => {
      this.#wake = resolve
    })
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
    logFailure(this.#site.log, error, this.#ctx.id, this.#api.name)
  }
}

function faultOf(response: HttpResponse): string | undefined {
  try {
    return responseFault(response)
  } catch {
    return expected('{ status?, headers, body }', 'the response', response)
  }
}

function isChunk(value: unknown): value is Chunk {
  return typeof value === 'string' || value instanceof Uint8Array
}

function bytesOf(chunk: Chunk): Uint8Array {
  return typeof chunk === 'string' ? Buffer.from(chunk) : chunk
}

/** Ends the source of a body that nobody will read. */
function discard(body: ResponseBody): void {
  if (typeof body !== 'object' || body === null || !isAsyncBody(body)) return
  try {
    Promise.resolve(body[Symbol.asyncIterator]().return?.()).catch(() => {})
  } catch {
    // Custom iterables may throw; the body is dropped either way.
  }
}
