/** The answer of one request, sent as fast as the client reads, and the request's end. @module */

import type { Endpoint } from '../api/endpoint.ts'
import { BadOutput, ClientClosed, expected, InternalError } from '../core/errors.ts'
import { countedBytes } from '../core/memory/memory-budget.ts'
import { isPromise, type MaybePromise } from '../core/promise.ts'
import { EncodedPieces, exactly } from '../http/encoded-pieces.ts'
import { type EndpointSlots, noMemory } from '../http/limits.ts'
import {
  type Chunk,
  discardBody,
  type HttpResponse,
  isAsyncBody,
  joinedResponse,
  lengthOf,
} from '../http/message.ts'
import { isBodyless, responseFault } from '../http/response-head.ts'
import { TransferClock, withinText } from '../http/transfer-clock.ts'
import type { ExchangeSocket, ServerState } from './engine.ts'
import type { IncomingRequest } from './incoming-request.ts'
import { ServedRequest } from './served-request.ts'

// The kernel tells of new room only when a third of its buffer is free.
const pieceBytes = 16 * 1024

/** The answer's side of an exchange. Once it is `over` nothing writes to the socket. */
export abstract class Reply extends ServedRequest<ExchangeSocket> {
  readonly endpoint: Endpoint
  over = false
  /** Whether pieces of the body are still taken. */
  isReceiving = true
  /** **Units**: bytes of the body. */
  received = 0
  /** The response whose pooled memory is given back at the end. */
  pooled: HttpResponse | undefined
  #holdsSlot = false
  #slots: EndpointSlots | undefined
  #clock: TransferClock | undefined
  #wake: (() => void) | undefined

  constructor(server: ServerState, request: IncomingRequest, socket: ExchangeSocket) {
    super(server, request, socket)
    this.endpoint = request.endpoint
    // At last: an exchange that could not be made will not leave.
    if (this.endpoint.isLimited) server.limiter.enter()
  }

  /** Ends what receives the body. Called once, when the request is over. */
  protected abstract endBody(): void

  /** Takes a slot, and one of the endpoint, once; returns those that are all taken, or undefined. */
  takeSlot(): EndpointSlots | undefined {
    const { limiter } = this.server
    if (this.#holdsSlot || !this.endpoint.isLimited) return undefined
    if (!limiter.acquire()) return limiter
    const slots = this.endpoint.slots?.(this.ctx.headers)
    if (slots?.acquire() === false) {
      limiter.release()
      return slots
    }
    this.#holdsSlot = true
    this.#slots = slots
    return undefined
  }

  get isHead(): boolean {
    return this.target.method === 'HEAD'
  }

  /** `isCorked`: whether the writes of this tick leave in one packet anyway. */
  send(given: HttpResponse, isCorked: boolean): void {
    if (this.over) {
      discardBody(given)
      return
    }
    const fault = responseFault(given)
    if (fault !== undefined) discardBody(given)
    const checked =
      fault === undefined ? given : this.endpoint.problem(new BadOutput(fault), this.ctx.id)
    if (checked.error !== undefined) this.failed(checked.error)
    const full = this.ctx.withHeaders(checked)
    const response =
      full.before === undefined || this.socket.sendsBefore ? full : joinedResponse(full)
    const { body, status = 200 } = response
    this.recorder?.answered(status)
    const isWhole = typeof body === 'string' || body instanceof Uint8Array
    if (isBodyless(status) || (this.isHead && !isWhole)) {
      discardBody(response)
      this.#sendWhole(response, '', isCorked)
    } else if (isWhole) this.#sendCounted(response, body, isCorked)
    else this.#sendStream(response, body, isCorked)
  }

  #sendCounted(response: HttpResponse, body: Chunk, isCorked: boolean): void {
    const isLarge = body.length >= countedBytes
    if (isLarge && !this.reserve(body.length)) {
      response.pooled?.give(body as Uint8Array)
      const problem = this.problem(noMemory())
      this.#sendWhole(problem, problem.body as string, isCorked)
      return
    }
    if (response.pooled !== undefined) this.pooled = response
    this.#sendWhole(response, body, isCorked)
    if (isLarge && !this.over) this.#awaitReader()
  }

  #sendWhole(response: HttpResponse, body: Chunk, isCorked: boolean): void {
    const { socket } = this
    const { before } = response
    if (!this.isHead) {
      if (before !== undefined) this.recorder?.sent(before)
      this.recorder?.sent(body)
    }
    if (isCorked) socket.sendWhole(response, body, before)
    else socket.cork(() => socket.sendWhole(response, body, before))
  }

  #sendStream(
    response: HttpResponse,
    body: AsyncIterable<Chunk> | readonly Chunk[],
    isCorked: boolean,
  ): void {
    const { socket } = this
    if (!isAsyncBody(body)) {
      const stream = new ResponseStream(this, response)
      if (isCorked) stream.sendChunks(body)
      else socket.cork(() => stream.sendChunks(body))
      return
    }
    const length = lengthOf(response.headers)
    if (length === 0) {
      discardBody(response)
      this.#sendWhole(response, '', isCorked)
      return
    }
    const stream = new ResponseStream(this, response, length)
    if (length !== undefined) void stream.pump(exactly(body, length))
    else if (body instanceof EncodedPieces)
      void stream.pump(body.source, body.encode, undefined, body.takeFirst())
    else void stream.pump(body[Symbol.asyncIterator]())
  }

  #awaitReader(): void {
    const { sendTimeoutMs } = this.server.limits
    if (sendTimeoutMs === 0) return
    if (this.#clock === undefined) {
      const before = this.socket.taken()
      const message = `expected the client to read the response ${withinText(sendTimeoutMs)}, it was slower`
      this.#clock = new TransferClock(
        sendTimeoutMs,
        () => this.socket.taken() - before,
        () => this.breakOff(new ClientClosed(message)),
      )
    }
    this.#clock.start()
  }

  /** Resolves when the client has read all sent bytes, or the request is over. */
  caughtUp(): Promise<void> {
    if (this.over) return Promise.resolve()
    this.#awaitReader()
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  /** Called by the socket when there is room again. */
  drained(): void {
    this.#clock?.pause()
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }

  /** Called by the socket when the client has left. */
  abort(): void {
    if (this.over) return
    this.recorder?.left()
    const draining = this.server.health.state === 'draining'
    this.finished(
      new ClientClosed(draining ? 'the server closed the connection to stop' : undefined),
    )
    this.drained()
  }

  /** Called when the response was sent, or never will be (`gone`). Only the first call counts. */
  finished(gone?: ClientClosed): void {
    if (this.over) return
    this.over = true
    this.isReceiving = false
    this.socket.detach()
    if (this.pooled !== undefined) this.pooled.pooled?.give(this.pooled.body as Uint8Array)
    this.pooled = undefined
    this.#clock?.pause()
    if (gone !== undefined) this.ctx.abort(gone)
    this.endBody()
    this.close(this.received)
    if (!this.endpoint.isLimited) return
    const { limiter } = this.server
    if (this.#holdsSlot) {
      limiter.release()
      this.#slots?.release()
    }
    limiter.leave()
  }

  /** Calls `work` in a turn of its own, unless the exchange is over by then. */
  later(work: () => void): void {
    setImmediate(() =>
      this.guard(() => {
        if (!this.over) work()
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
    this.failed(error)
    if (this.over) return
    this.finished(new ClientClosed())
    try {
      this.socket.destroy()
    } catch {}
  }
}

class ResponseStream {
  readonly #reply: Reply
  readonly #response: HttpResponse
  readonly #length: number | undefined
  #headSent = false
  #sentBytes = 0
  #piece: Chunk = ''
  #hasRoom = true
  /** Made once, not for each piece. */
  readonly #writePiece = () => {
    const { socket } = this.#reply
    this.#sendHead()
    this.#hasRoom =
      this.#length === undefined
        ? socket.sendPiece(this.#piece)
        : socket.sendSized(
            this.#piece as Uint8Array,
            this.#length,
            this.#sentBytes === this.#length,
          )
  }

  constructor(reply: Reply, response: HttpResponse, length?: number) {
    this.#reply = reply
    this.#response = response
    this.#length = length
  }

  /** Waits only for a slow client. Must be corked. */
  sendChunks(chunks: readonly Chunk[]): void {
    const { socket, recorder } = this.#reply
    this.#sendHead()
    for (let i = 0; i < chunks.length; i++) {
      const chunk = chunks[i]
      if (!isChunk(chunk) || chunk.length > pieceBytes) {
        void this.pump(chunks.slice(i).values())
        return
      }
      recorder?.sent(chunk)
      if (chunk.length > 0 && !socket.sendPiece(chunk)) {
        void this.pump(chunks.slice(i + 1).values(), undefined, this.#reply.caughtUp())
        return
      }
    }
    socket.sendEnd()
  }

  /** `encode` makes a chunk of each piece of the source; `first` was read from it before, and is a chunk. */
  async pump<T>(
    source: AsyncIterator<T> | Iterator<T>,
    encode?: (piece: T) => MaybePromise<Chunk>,
    ready?: Promise<void>,
    first?: IteratorResult<Chunk>,
  ): Promise<void> {
    const reply = this.#reply
    try {
      await ready
      if (first !== undefined && !reply.over) {
        if (first.done) {
          this.#end()
          return
        }
        await this.#send(first.value)
      }
      while (!reply.over) {
        const next = await source.next()
        if (reply.over) break
        if (next.done) {
          this.#end()
          return
        }
        const chunk = encode === undefined ? next.value : encode(next.value)
        const sent = this.#send(isPromise(chunk) ? await chunk : chunk)
        if (sent !== undefined) await sent
      }
      await source.return?.()
    } catch (cause) {
      if (!reply.over) reply.breakOff(new InternalError('the stream failed', { cause }))
      await Promise.resolve(source.return?.()).catch(() => {})
    }
  }

  #end(): void {
    const { socket } = this.#reply
    if (this.#length !== undefined) return
    socket.cork(() => {
      this.#sendHead()
      socket.sendEnd()
    })
  }

  #send(chunk: unknown): Promise<void> | undefined {
    if (!isChunk(chunk))
      throw new BadOutput(expected('a string or bytes', 'a chunk of the response', chunk))
    if (this.#length !== undefined || chunk.length > pieceBytes) return this.#sendLong(chunk)
    if (chunk.length === 0) return undefined
    const hasRoom = this.#sendPiece(chunk)
    this.#release(chunk)
    return hasRoom ? undefined : this.#reply.caughtUp()
  }

  async #sendLong(chunk: Chunk): Promise<void> {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    const step = this.#length === undefined ? pieceBytes : bytes.length
    for (let at = 0; at < bytes.length && !this.#reply.over; at += step) {
      if (!this.#sendPiece(bytes.subarray(at, at + step))) await this.#reply.caughtUp()
    }
    this.#release(chunk)
  }

  #sendPiece(piece: Chunk): boolean {
    const { socket, recorder } = this.#reply
    recorder?.sent(piece)
    this.#sentBytes += piece.length
    this.#piece = piece
    socket.cork(this.#writePiece)
    return this.#hasRoom
  }

  #release(chunk: Chunk): void {
    if (this.#reply.socket.copies && chunk instanceof Uint8Array) this.#response.pooled?.give(chunk)
  }

  #sendHead(): void {
    if (this.#headSent) return
    this.#headSent = true
    this.#reply.socket.sendHead(this.#response, this.#length)
  }
}

function isChunk(value: unknown): value is Chunk {
  return typeof value === 'string' || value instanceof Uint8Array
}
