import type { IncomingMessage, ServerResponse } from 'node:http'
import { endIterator } from '../api/stages.ts'
import { ClientClosed, InternalError } from '../core/errors.ts'
import type { AnyDescriptor } from '../descriptors/descriptor.ts'
import { plainAddress } from '../http/client-address.ts'
import type { ContextState } from '../http/context.ts'
import { exactly } from '../http/encoded-pieces.ts'
import {
  bytesOfChunk,
  type Chunk,
  chunksOf,
  discardBody,
  HeaderList,
  type HttpResponse,
  isAsyncBody,
  isFramingHeader,
  lastingChunk,
  lengthOf,
  parseLength,
  requireChunk,
} from '../http/message.ts'
import { isBodyless } from '../http/response-head.ts'
import { BodyRest, type TransferClock } from '../http/transfer-clock.ts'
import {
  type BodySource,
  HandledRequest,
  type HandlerFunction,
  type HandlerOptions,
  handlerOf,
} from './handler.ts'

/** Options of {@link nodeHandler}. */
export interface NodeHandlerOptions<I extends AnyDescriptor, O extends AnyDescriptor>
  extends HandlerOptions<I, O> {
  /** @returns what `ctx.state` begins with, such as the user that a middleware has found. */
  readonly state?: (request: IncomingMessage) => ContextState
}

/**
 * Makes a function with descriptors a handler of node:http, for Express, Fastify, Koa and bare servers. It reads the
 * body itself: no parser such as `express.json()` may stand before it.
 * @param options - The descriptors, the limits, and what belongs to `ctx.state`.
 * @param fn - Called with the value of the request's body; its result is the answer.
 * @returns A handler that answers each request: failures are answers of `application/problem+json`.
 * @throws InvalidArgument for wrong options.
 * @example
 * ```ts
 * express().post('/scale', scale)
 * ```
 */
export function nodeHandler<I extends AnyDescriptor, O extends AnyDescriptor>(
  options: NodeHandlerOptions<I, O>,
  fn: HandlerFunction<I, O>,
): (request: IncomingMessage, response: ServerResponse) => void {
  const handler = handlerOf('nodeHandler', options, fn)
  const { state } = options
  return (req, res) => {
    const [path, ...query] = pathOf(req).split('?')
    const handled = new HandledRequest(handler, {
      method: req.method ?? 'GET',
      path,
      query: query.join('?'),
      headers: headersOf(req),
      scheme: 'encrypted' in req.socket ? 'https' : 'http',
      remoteAddress: req.socket.remoteAddress && plainAddress(req.socket.remoteAddress),
    })
    const body = new NodeBody(req)
    const reply = new NodeReply(res, handled, req.method === 'HEAD')
    const answered = handled.answer(body, () => state?.(req))
    void answered.then((response) => reply.send(response, body))
  }
}

/** The path that the client asked for: Express cuts off that of a router. */
function pathOf(req: IncomingMessage): string {
  return (req as { readonly originalUrl?: string }).originalUrl ?? req.url ?? '/'
}

function headersOf({ rawHeaders }: IncomingMessage): HeaderList {
  const names = rawHeaders.filter((_, i) => i % 2 === 0)
  const values = rawHeaders.filter((_, i) => i % 2 === 1)
  return new HeaderList(
    names.map((name) => name.toLowerCase()),
    values,
  )
}

/** The body of a request, read piece by piece. */
class NodeBody implements BodySource {
  readonly declared: number | undefined
  readonly readBy: string | undefined
  readonly #req: IncomingMessage
  #pieces: AsyncIterator<Uint8Array> | undefined
  isComplete = false

  constructor(req: IncomingMessage) {
    const { 'content-length': length, 'transfer-encoding': encoding } = req.headers
    this.#req = req
    this.readBy = req.readableDidRead ? 'express.json()' : undefined
    this.declared = length === undefined && encoding === undefined ? 0 : parseLength(length)
  }

  async read(): Promise<Uint8Array | undefined> {
    // Its `return` must not destroy the connection, which has to carry the answer.
    this.#pieces ??= this.#req.iterator({ destroyOnReturn: false })
    try {
      const { done, value } = await this.#pieces.next()
      this.isComplete = done === true
      return done ? undefined : value
    } catch (cause) {
      throw new ClientClosed(undefined, { cause })
    }
  }

  /** Reads and drops what the answer did not wait for, within bounds, then calls `end`. */
  drop(end: () => void): void {
    const req = this.#req
    if (this.isComplete || req.complete) {
      end()
      return
    }
    const rest = new BodyRest(end)
    void endIterator(this.#pieces ?? req.iterator({ destroyOnReturn: false }))
    req.on('data', (piece: Uint8Array) => rest.drop(piece.length, false))
    req.once('end', () => rest.drop(0, true))
    req.once('close', () => rest.stop())
    req.resume()
  }
}

/** The answer of a request, written as fast as its client reads. */
class NodeReply {
  readonly #res: ServerResponse
  readonly #handled: HandledRequest
  readonly #isHead: boolean
  #clock: TransferClock | undefined
  #wake: (() => void) | undefined
  #isOver = false
  #release: (() => void) | undefined

  constructor(res: ServerResponse, handled: HandledRequest, isHead: boolean) {
    this.#res = res
    this.#handled = handled
    this.#isHead = isHead
    res.once('close', () => this.#closed())
  }

  send(response: HttpResponse, body: NodeBody): void {
    const res = this.#res
    const { status = 200 } = response
    if (this.#isOver || res.headersSent) {
      discardBody(response)
      return
    }
    try {
      res.statusCode = status
      for (const [name, value] of response.headers)
        if (!isFramingHeader(name)) res.appendHeader(name, value)
      const isRefusal = !body.isComplete && body.declared !== 0
      // A client that still sends gets its answer first; an earlier close could destroy it.
      if (isRefusal && res.req.httpVersionMajor === 1) res.setHeader('connection', 'close')
      if (isRefusal) body.drop(() => res.req.destroy())
      this.#sendBody(response, status)
    } catch (cause) {
      this.#breakOff(new InternalError('the answer could not be sent', { cause }))
    }
  }

  #sendBody(response: HttpResponse, status: number): void {
    const res = this.#res
    const { body } = response
    const length = lengthOf(response.headers)
    const isSent = !this.#isHead && !isBodyless(status)
    if (isAsyncBody(body)) {
      if (length !== undefined) res.setHeader('content-length', length)
      if (isSent) void this.#pump(exactly(body, length), response)
      else {
        discardBody(response)
        res.end()
      }
      return
    }
    const chunks = chunksOf(body)
    this.#release = () => {
      for (const chunk of chunks) response.pooled?.give(chunk)
    }
    if (!isBodyless(status)) {
      res.setHeader(
        'content-length',
        chunks.reduce((sum, chunk) => sum + Buffer.byteLength(chunk), 0),
      )
    }
    // As bytes: Node would join a text to the head, and write both as UTF-8.
    if (isSent) for (const chunk of chunks) res.write(bytesOfChunk(chunk))
    this.#awaitReader()
    res.end()
  }

  async #pump(body: AsyncIterable<Chunk>, response: HttpResponse): Promise<void> {
    const res = this.#res
    const source = body[Symbol.asyncIterator]()
    try {
      while (!this.#isOver) {
        const { done, value } = await source.next()
        if (this.#isOver) break
        if (done) {
          this.#awaitReader()
          res.end()
          return
        }
        if (requireChunk(value).length === 0) continue
        if (!res.write(lastingChunk(response, value))) await this.#drained()
      }
    } catch (cause) {
      this.#breakOff(new InternalError('the stream failed', { cause }))
    }
    await endIterator(source)
  }

  #drained(): Promise<void> {
    this.#awaitReader()
    return new Promise((resolve) => {
      const wake = () => {
        this.#clock?.pause()
        resolve()
      }
      this.#wake = wake
      this.#res.once('drain', wake)
    })
  }

  /** Starts the time in which the client has to read the written bytes. */
  #awaitReader(): void {
    const { socket } = this.#res
    if (socket === null) return
    const before = socket.bytesWritten - socket.writableLength
    const taken = () => socket.bytesWritten - socket.writableLength - before
    this.#clock ??= this.#handled.sendClock(taken, (error) => {
      this.#handled.failed(error)
      this.#res.destroy()
    })
    this.#clock?.start()
  }

  /** Shows a failure after the status by a connection that ends early, behind the bytes before it. */
  #breakOff(error: Error): void {
    if (this.#isOver) return
    this.#handled.failed(error)
    this.#handled.ctx.abort(error)
    const { socket } = this.#res
    this.#awaitReader()
    if (socket === null || typeof socket.destroySoon !== 'function') this.#res.destroy()
    else socket.destroySoon()
  }

  /** The answer is sent, or its client has left. */
  #closed(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#clock?.pause()
    if (!this.#res.writableFinished) this.#handled.ctx.abort(new ClientClosed())
    this.#release?.()
    this.#handled.end()
    this.#wake?.()
  }
}
