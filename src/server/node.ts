/**
 * The HTTP engine on node:http, for platforms and versions of Node that uWebSockets.js has no binary for.
 * @module
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { InternalError, type ServingError, SetupError } from '../errors.ts'
import { Context } from '../http/context.ts'
import type { Chunk, HttpResponse, RequestHeaders } from '../http/message.ts'
import type { Endpoint, RequestTarget } from './endpoint.ts'
import {
  type Address,
  admit,
  announcedBody,
  type BodyAnnouncement,
  deadlineOf,
  type Engine,
  linger,
  mustClose,
  refusalOf,
  type Site,
} from './engine.ts'
import { Exchange } from './exchange.ts'
import { isBodyless, isFraming } from './head.ts'
import { logFailure } from './log.ts'
import { type Connection, connectionOf } from './node-connection.ts'

// A connection that takes none of a response for this long is closed, as uWebSockets.js does after 10 s. The server destroys
// a socket whose timeout fires, and sets its own (keepAliveTimeout) when a response has finished.
const stallMs = 30_000

/** A site becomes a listening engine. **Errors**: SetupError when the address cannot be listened on. */
export async function listenNode(site: Site, address: Address): Promise<Engine> {
  const { requestTimeoutMs } = site.limits
  const server = createServer({
    // Longer than the idle time of common load balancers (60 s): whoever closes first must not be the server, or the
    // balancer's next request meets a closed connection and becomes a 502.
    keepAliveTimeout: 65_000,
    // Headers come in one packet from honest clients; slow ones hold a socket and nothing else.
    headersTimeout: 30_000,
    // Uploads to an API are bounded by the request deadline, with a proper answer; this is for refused ones, which are read over.
    requestTimeout: requestTimeoutMs === 0 ? 0 : Math.max(300_000, requestTimeoutMs + 30_000),
    noDelay: true,
  })
  server.on('request', (req, res) => guard(site, req, res, false))
  // With this listener, `100 Continue` is sent only once the request was let in: a refused upload never starts.
  server.on('checkContinue', (req, res) => guard(site, req, res, true))
  await listen(server, address)
  return {
    name: 'node',
    port: (server.address() as AddressInfo).port,
    stopAccepting() {
      server.close()
    },
    close() {
      return new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
    },
  }
}

function listen(server: Server, { host, port }: Address): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const place = `port ${port}${host === undefined ? '' : ` of ${host}`}`
      const why = cause.code === 'EADDRINUSE' ? 'it is in use' : cause.message
      reject(new SetupError('invalid_argument', `cannot listen on ${place}: ${why}`, { cause }))
    })
    server.listen({ host, port }, () => {
      server.removeAllListeners('error')
      // A failing accept (too many open files) must not end the process; Node tries again.
      server.on('error', () => {})
      resolve()
    })
  })
}

function guard(site: Site, req: IncomingMessage, res: ServerResponse, expectsContinue: boolean): void {
  try {
    // Without a listener an error of a dying connection would be thrown.
    req.on('error', () => {})
    res.on('error', () => {})
    if (connectionOf(req.socket).closing) return
    open(site, req, res, expectsContinue)
  } catch (cause) {
    logFailure(site.log, new InternalError('the server failed', { cause }), '')
    res.destroy()
  }
}

function open(site: Site, req: IncomingMessage, res: ServerResponse, expectsContinue: boolean): void {
  const url = req.url ?? '/'
  const mark = url.indexOf('?')
  const path = mark === -1 ? url : url.slice(0, mark)
  const body = announcedBody(req.headers['content-length'] ?? '', req.headers['transfer-encoding'] ?? '')
  const method = req.method ?? ''
  const route = site.router.resolve(method, path)
  if ('error' in route) {
    refuse(site, req, res, body, route.error)
    return
  }
  const { endpoint, params } = route
  const refusal = admit(site, endpoint, body)
  if (refusal !== undefined) {
    refuse(site, req, res, body, refusal, endpoint)
    return
  }
  const headers = new NodeHeaders(req)
  const query = mark === -1 ? '' : url.slice(mark + 1)
  const ctx = new Context({ headers, query, deadlineMs: deadlineOf(site, endpoint, headers) })
  new NodeExchange(site, endpoint, { method, path, query, params }, ctx, body, req, res).start()
  if (expectsContinue) res.writeContinue()
}

/** Answers before the body was read. */
function refuse(
  site: Site,
  req: IncomingMessage,
  res: ServerResponse,
  body: BodyAnnouncement,
  error: ServingError,
  endpoint?: Endpoint,
): void {
  const response = refusalOf(site, error, String(req.headers['x-request-id'] ?? ''), endpoint)
  answer(req, res, response, mustClose(site, body), body)
}

function answer(
  req: IncomingMessage,
  res: ServerResponse,
  response: HttpResponse,
  close: boolean,
  body: BodyAnnouncement,
): void {
  if (close && body.declared !== 0) {
    lingerOn(req, res, response)
    return
  }
  const text = response.body as string
  if (close) connectionOf(req.socket).closing = true
  const lines = headLines(response, undefined, close)
  lines.push('content-length', String(Buffer.byteLength(text)))
  res.writeHead(response.status ?? 200, lines)
  // Node reads over what is left of the body, and leaves the text out for HEAD.
  res.end(text)
}

/** Answers while the request's body still comes, reads on within bounds, closes. */
function lingerOn(req: IncomingMessage, res: ServerResponse, response: HttpResponse): void {
  const text = response.body as string
  connectionOf(req.socket).closing = true
  const lines = headLines(response, undefined, true)
  lines.push('content-length', String(Buffer.byteLength(text)))
  res.writeHead(response.status ?? 200, lines)
  // Not `end`: Node would close the socket over unread bytes, and the reset would overtake the answer.
  res.write(text)
  let read = 0
  const close = () => {
    clearTimeout(timer)
    res.destroy()
  }
  const timer = setTimeout(close, linger.timeMs)
  req.on('data', (piece: Buffer) => {
    read += piece.length
    if (read > linger.bytes) close()
  })
  req.once('end', () => {
    clearTimeout(timer)
    res.end()
  })
  res.once('close', () => clearTimeout(timer))
}

/** Header lines for `writeHead`, which takes names and values in one flat list and keeps repeated names. */
function headLines(response: HttpResponse, echoedId: string | undefined, close: boolean): string[] {
  const lines: string[] = []
  for (const [name, value] of response.headers) {
    if (isFraming(name)) continue
    if (name === 'x-request-id') echoedId = undefined
    lines.push(name, value)
  }
  if (echoedId !== undefined) lines.push('x-request-id', echoedId)
  if (close) lines.push('connection', 'close')
  return lines
}

/** Node's own header object as RequestHeaders; nothing is copied. */
class NodeHeaders implements RequestHeaders {
  readonly #req: IncomingMessage

  constructor(req: IncomingMessage) {
    this.#req = req
  }

  get(name: string): string | undefined {
    const value = Object.hasOwn(this.#req.headers, name) ? this.#req.headers[name] : undefined
    return value === undefined || value === '' ? undefined : String(value)
  }

  *[Symbol.iterator](): IterableIterator<readonly [string, string]> {
    const { rawHeaders } = this.#req
    for (let i = 0; i < rawHeaders.length; i += 2) yield [rawHeaders[i].toLowerCase(), rawHeaders[i + 1]]
  }
}

/** A request of an endpoint on node:http. */
class NodeExchange extends Exchange {
  readonly #body: BodyAnnouncement
  readonly #req: IncomingMessage
  readonly #res: ServerResponse
  readonly #connection: Connection
  // Bytes of a body of known length.
  #sent = 0
  readonly #abort = () => this.abort()

  constructor(
    site: Site,
    endpoint: Endpoint,
    target: RequestTarget,
    ctx: Context,
    body: BodyAnnouncement,
    req: IncomingMessage,
    res: ServerResponse,
  ) {
    super(site, endpoint, target, ctx, body)
    this.#body = body
    this.#req = req
    this.#res = res
    this.#connection = connectionOf(req.socket)
  }

  start(): void {
    const req = this.#req
    const { declared } = this.#body
    let received = 0
    this.#connection.add(this.#abort)
    if (this.closes) this.#connection.closing = true
    this.#res.on('drain', () => this.drained())
    if (declared !== 0) this.timeUpload()
    req.on('data', (piece: Buffer) => {
      received += piece.length
      this.#take(piece, received === declared)
    })
    req.once('end', () => this.#take(new Uint8Array(0), true))
  }

  #take(piece: Uint8Array, last: boolean): void {
    try {
      // Node does not use a piece's memory again, so the bytes are ours.
      this.receive(piece, last, false)
    } catch (error) {
      this.fault(error)
    }
  }

  protected override finished(): void {
    this.#connection.delete(this.#abort)
    super.finished()
  }

  protected get answersLater(): boolean {
    return false
  }

  protected corked(writes: () => void): void {
    if (!this.over) writes()
  }

  protected sendWhole(response: HttpResponse, body: Chunk): void {
    const res = this.#res
    const status = response.status ?? 200
    const lines = this.#lines(response)
    const isKnown = !this.isHead || typeof response.body === 'string' || response.body instanceof Uint8Array
    if (isKnown && !isBodyless(status)) lines.push('content-length', String(Buffer.byteLength(body)))
    res.writeHead(status, lines)
    // The bytes are referenced, not copied, until the kernel has taken them.
    this.#timeStall()
    res.once('finish', () => this.finished())
    res.end(body)
  }

  protected sendHead(response: HttpResponse, length?: number): void {
    const lines = this.#lines(response)
    if (length !== undefined) lines.push('content-length', String(length))
    this.#res.writeHead(response.status ?? 200, lines)
  }

  protected sendSized(piece: Uint8Array, length: number): boolean {
    this.#sent += piece.length
    const room = this.sendPiece(piece)
    if (this.#sent < length) return room
    this.sendEnd()
    return true
  }

  #lines(response: HttpResponse): string[] {
    if (this.closing) this.#connection.closing = true
    return headLines(response, this.echoedId, this.closing)
  }

  /** Times the client that does not read; not while a pipelined response waits for its turn. */
  #timeStall(): void {
    const { socket } = this.#res
    if (socket === null) this.#res.once('socket', (later: Socket) => later.setTimeout(stallMs))
    else socket.setTimeout(stallMs)
  }

  protected sendPiece(piece: Chunk): boolean {
    const room = this.#res.write(piece)
    // Only a client that does not read is timed; a source may be silent as long as it likes.
    if (room) this.#res.socket?.setTimeout(0)
    else this.#timeStall()
    return room
  }

  protected override drained(): void {
    this.#res.socket?.setTimeout(0)
    super.drained()
  }

  protected sendEnd(): void {
    const res = this.#res
    this.#timeStall()
    res.once('finish', () => this.finished())
    res.end()
  }

  protected pauseInput(): void {
    this.#req.pause()
  }

  protected resumeInput(): void {
    this.#req.resume()
  }

  protected sendAndLinger(response: HttpResponse): void {
    this.finished()
    lingerOn(this.#req, this.#res, response)
  }

  protected destroy(): void {
    this.#res.destroy()
  }
}
