/**
 * The HTTP engine on uWebSockets.js. The only file that imports it.
 *
 * Rules of the native values (a breach ends the process): HttpRequest lives only inside its handler; HttpResponse until it
 * ends, closes or aborts; no exception may unwind into native code; `onAborted` is set before anything else.
 * @module
 */
import type { HttpRequest as NativeRequest, HttpResponse as NativeResponse, us_listen_socket } from 'uWebSockets.js'
import { InternalError, type ServingError, SetupError } from '../errors.ts'
import { Context } from '../http/context.ts'
import { type Chunk, HeaderList, type HttpResponse, type RequestHeaders } from '../http/message.ts'
import { bufferPool } from '../memory/buffer-pool.ts'
import type { Endpoint, RequestTarget } from './endpoint.ts'
import {
  type Address,
  admit,
  announcedBody,
  type BodyAnnouncement,
  deadlineOf,
  type Engine,
  mustClose,
  refusalOf,
  type Site,
} from './engine.ts'
import { Exchange } from './exchange.ts'
import { isBodyless, isFraming, statusLine } from './head.ts'
import { logFailure } from './log.ts'
import { noParams } from './router.ts'
import { Linger } from './uws-drain.ts'

type Uws = typeof import('uWebSockets.js')

// Whole bodies up to this size are handed over in one call; larger ones only as fast as the client reads.
const wholeBytes = 64 * 1024

/** uWebSockets.js, or the reason why it does not load here: no binary for this platform or version of Node. */
export async function loadUws(load: () => Promise<Uws> = () => import('uWebSockets.js')): Promise<Uws | string> {
  // Read by the binary while it loads. Its own default of 4 KiB is below what cookies and proxies' headers come to.
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= '16384'
  try {
    return await load()
  } catch (error) {
    return error instanceof Error ? error.message.split('\n', 1)[0] : String(error)
  }
}

/** A site becomes a listening engine. **Errors**: SetupError when the address cannot be listened on. */
export async function listenUws(uws: Uws, site: Site, address: Address): Promise<Engine> {
  const app = uws.App()
  // Matched natively, which spares the hot path the strings of method and path.
  for (const [path, endpoint] of site.router.posts)
    app.post(path, (res, req) => guard(site, res, () => openPost(site, endpoint, res, req)))
  app.any('/*', (res, req) => guard(site, res, () => openOther(site, res, req)))
  const socket = await new Promise<us_listen_socket | false>((resolve) => {
    if (address.host === undefined) app.listen(address.port, resolve)
    else app.listen(address.host, address.port, resolve)
  })
  if (socket === false) {
    app.close()
    throw new SetupError(
      'invalid_argument',
      `cannot listen on port ${address.port}${address.host === undefined ? '' : ` of ${address.host}`}: it is in use, or not allowed`,
    )
  }
  return {
    name: 'uws',
    port: uws.us_socket_local_port(socket as never),
    stopAccepting() {
      uws.us_listen_socket_close(socket)
    },
    async close() {
      app.close()
    },
  }
}

function openPost(site: Site, endpoint: Endpoint, res: NativeResponse, req: NativeRequest): void {
  const target = { method: 'POST', path: endpoint.path, query: req.getQuery(), params: noParams }
  open(site, endpoint, target, announcementOf(req), res, req)
}

function openOther(site: Site, res: NativeResponse, req: NativeRequest): void {
  const method = req.getCaseSensitiveMethod()
  const path = req.getUrl()
  const body = announcementOf(req)
  const route = site.router.resolve(method, path)
  if ('error' in route) refuse(site, res, req, body, route.error)
  else open(site, route.endpoint, { method, path, query: req.getQuery(), params: route.params }, body, res, req)
}

function announcementOf(req: NativeRequest): BodyAnnouncement {
  const length = req.getHeader('content-length')
  return announcedBody(length, length === '' ? req.getHeader('transfer-encoding') : '')
}

function open(
  site: Site,
  endpoint: Endpoint,
  target: RequestTarget,
  body: BodyAnnouncement,
  res: NativeResponse,
  req: NativeRequest,
): void {
  const refusal = admit(site, endpoint, body)
  if (refusal !== undefined) {
    refuse(site, res, req, body, refusal, endpoint)
    return
  }
  const headers = copyHeaders(endpoint.readsHeaders, req)
  const { query } = target
  const ctx = new Context({ headers, query, deadlineMs: deadlineOf(site, endpoint, headers) })
  // As uWebSockets.js looks for it: five characters can only be `close`.
  const clientCloses = req.getHeader('connection').length === 5
  const exchange = new UwsExchange(site, endpoint, target, ctx, body, res, clientCloses)
  res.onAborted(() => exchange.onAborted())
  res.onData((chunk, last) => exchange.onData(chunk, last))
}

/** Copies the headers that somebody may read; names are shared between the requests of an endpoint. */
function copyHeaders(names: readonly string[] | 'all', req: NativeRequest): RequestHeaders {
  if (names === 'all') {
    const allNames: string[] = []
    const allValues: string[] = []
    req.forEach((name, value) => {
      allNames.push(name)
      allValues.push(value)
    })
    return new HeaderList(allNames, allValues)
  }
  const values = new Array<string>(names.length)
  for (let i = 0; i < names.length; i++) values[i] = req.getHeader(names[i])
  return new HeaderList(names, values)
}

/** Answers before the body was read. */
function refuse(
  site: Site,
  res: NativeResponse,
  req: NativeRequest,
  body: BodyAnnouncement,
  error: ServingError,
  endpoint?: Endpoint,
): void {
  const head = req.getCaseSensitiveMethod() === 'HEAD'
  const response = refusalOf(site, error, req.getHeader('x-request-id'), endpoint)
  const close = mustClose(site, body)
  if (close && body.declared !== 0) {
    new Linger(res, response).start(head)
    return
  }
  // The parser reads over a body that is still to come, at most for its idle timeout of 10 s.
  sendText(res, response, head, close)
}

function sendText(res: NativeResponse, response: HttpResponse, head: boolean, close: boolean): void {
  if (head) {
    sendHeadOnly(res, response, close)
    return
  }
  writeHead(res, response)
  res.end(response.body as string, close)
}

/** Answers HEAD: with the content-length that the body would have, where it is known. */
function sendHeadOnly(res: NativeResponse, response: HttpResponse, close: boolean, echoedId?: string): void {
  const { body } = response
  writeHead(res, response, echoedId)
  if ((typeof body === 'string' || body instanceof Uint8Array) && !isBodyless(response.status ?? 200))
    res.writeHeader('content-length', String(Buffer.byteLength(body)))
  if (close) res.writeHeader('connection', 'close')
  // Not with its arguments: given a length it waits for the body, and given undefined it takes that for a length.
  res.endWithoutBody()
}

function writeHead(res: NativeResponse, response: HttpResponse, echoedId?: string): void {
  const { status, headers } = response
  if (status !== undefined && status !== 200) res.writeStatus(statusLine(status))
  for (let i = 0; i < headers.length; i++) {
    const [name, value] = headers[i]
    if (isFraming(name)) continue
    if (name === 'x-request-id') echoedId = undefined
    // Header values are Latin-1 on the wire; uWebSockets.js would write a string as UTF-8.
    res.writeHeader(name, isAscii(value) ? value : Buffer.from(value, 'latin1'))
  }
  if (echoedId !== undefined) res.writeHeader('x-request-id', echoedId)
}

function isAscii(value: string): boolean {
  return !/[\u0080-\u00ff]/.test(value)
}

function guard(site: Site, res: NativeResponse, run: () => void): void {
  try {
    run()
  } catch (cause) {
    logFailure(site.log, new InternalError('the server failed', { cause }), '')
    try {
      res.close()
    } catch {
      // It has ended already.
    }
  }
}

/** A request of an endpoint on a native response. */
class UwsExchange extends Exchange {
  readonly #res: NativeResponse
  readonly #clientCloses: boolean
  #linger: Linger | undefined
  #listens = false
  // What the kernel has not taken yet of a body of known length, and where in that it starts.
  #rest: { readonly bytes: Uint8Array; readonly start: number } | undefined
  // The native response is invalid, also for what `over` leaves to do.
  #gone = false

  constructor(
    site: Site,
    endpoint: Endpoint,
    target: RequestTarget,
    ctx: Context,
    body: BodyAnnouncement,
    res: NativeResponse,
    clientCloses: boolean,
  ) {
    super(site, endpoint, target, ctx, body)
    this.#res = res
    this.#clientCloses = clientCloses
  }

  onAborted(): void {
    this.#gone = true
    try {
      this.#linger?.aborted()
      this.abort()
    } catch (error) {
      this.fault(error)
    }
  }

  onData(chunk: ArrayBuffer, last: boolean): void {
    try {
      // The chunk is detached when this callback returns.
      if (this.#linger !== undefined) this.#linger.data(chunk.byteLength, last)
      else this.receive(new Uint8Array(chunk), last, true)
    } catch (error) {
      this.fault(error)
    }
  }

  /**
   * A response that closes its connection closes the socket at once when the cork was lost to earlier pipelined responses.
   * Within the data callback the parser does not notice: it hands the next pipelined request to its handler on a closed
   * socket, which never aborts, so that its place in the gate would be lost for good. Outside of it the next request finds
   * this one pending, and uWebSockets.js closes the connection itself.
   */
  protected get answersLater(): boolean {
    return this.#clientCloses || this.closing
  }

  protected corked(writes: () => void): void {
    if (!this.over) this.#res.cork(writes)
  }

  protected sendWhole(response: HttpResponse, body: Chunk): void {
    const res = this.#res
    const close = this.closing
    // A string takes at most three bytes a character.
    const large = body.length > (typeof body === 'string' ? wholeBytes / 3 : wholeBytes)
    const bodyless = isBodyless(response.status ?? 200)
    if (this.isHead) {
      this.finished()
      sendHeadOnly(res, response, close, this.echoedId)
      return
    }
    writeHead(res, response, this.echoedId)
    if (close && (large || bodyless)) res.writeHeader('connection', 'close')
    if (large) {
      const bytes = typeof body === 'string' ? Buffer.from(body) : body
      this.sendSized(bytes, bytes.length)
      return
    }
    this.finished()
    if (bodyless) res.endWithoutBody()
    else res.end(body, close)
  }

  /** Writes what the kernel takes, and the rest when it has room: nothing is buffered in between. */
  protected sendSized(bytes: Uint8Array, length: number): boolean {
    const start = this.#res.getWriteOffset()
    if (this.#writeSized(bytes, length)) return true
    this.#rest = { bytes, start }
    // Once: a handler that is set while another one runs is lost.
    if (!this.#listens) this.#listenSized(length)
    return false
  }

  protected override sent(chunk: Chunk): void {
    // uWebSockets.js has copied what the kernel did not take.
    if (chunk instanceof Uint8Array) bufferPool.takeBack(chunk)
  }

  #writeSized(bytes: Uint8Array, length: number): boolean {
    const [ok, done] = this.#res.tryEnd(bytes, length)
    if (done) this.finished()
    return ok || done
  }

  #listenSized(length: number): void {
    this.#listens = true
    this.#res.onWritable((offset) => {
      try {
        if (this.over || this.#rest === undefined) return true
        const { bytes, start } = this.#rest
        if (!this.#writeSized(bytes.subarray(offset - start), length)) return false
        this.#rest = undefined
        this.drained()
      } catch (error) {
        this.fault(error)
      }
      return true
    })
  }

  protected sendHead(response: HttpResponse): void {
    writeHead(this.#res, response, this.echoedId)
    // The client closes on this, or the idle timeout of 10 s does. Natively closing at the end is no choice: uWebSockets.js
    // (of uws-pack 20.0.8) writes its `Connection: close` into the body when told so behind a `write`.
    if (this.closing) this.#res.writeHeader('connection', 'close')
  }

  protected sendPiece(piece: Chunk): boolean {
    if (this.#res.write(piece)) return true
    if (!this.#listens) this.#listen()
    return false
  }

  #listen(): void {
    this.#listens = true
    this.#res.onWritable(() => {
      try {
        // With a handler set, uWebSockets.js leaves what it has buffered to the next write, and a source that is silent for
        // a minute would hold it back for a minute. Uncorking flushes it.
        if (!this.over) this.#res.cork(nothing)
        this.drained()
      } catch (error) {
        this.fault(error)
      }
      return true
    })
  }

  protected sendEnd(): void {
    this.finished()
    this.#res.end()
  }

  protected pauseInput(): void {
    if (!this.over) this.#res.pause()
  }

  protected resumeInput(): void {
    if (!this.over) this.#res.resume()
  }

  protected sendAndLinger(response: HttpResponse): void {
    this.#linger = new Linger(this.#res, response)
    this.finished()
    this.#linger.write(false)
  }

  protected destroy(): void {
    // Never within the data callback, see `answersLater`.
    setImmediate(() => {
      try {
        if (!this.#gone) this.#res.close()
      } catch {
        // It has ended already.
      }
    })
  }
}

function nothing(): void {}
