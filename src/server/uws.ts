/**
 * The HTTP engine on uWebSockets.js. The only file that imports it.
 *
 * Rules of the native values (breaking one ends the process): HttpRequest lives only inside its handler; HttpResponse
 * until it ends, closes or aborts; no exception may unwind into native code; `onAborted` is set before anything else.
 * @module
 */
import type { HttpRequest as NativeRequest, HttpResponse as NativeResponse, us_listen_socket } from 'uWebSockets.js'
import { InternalError, type ServingError, SetupError } from '../errors.ts'
import { Context } from '../http/context.ts'
import type { Chunk, HttpResponse } from '../http/message.ts'
import { admit, type BodyAnnouncement, deadlineOf, mustClose, refusalOf, uploadDrain } from './admission.ts'
import type { Endpoint, RequestTarget } from './endpoint.ts'
import type { Address, Engine, ServerState } from './engine.ts'
import { Exchange, type IncomingRequest } from './exchange.ts'
import type { ExchangeSocket } from './exchange-socket.ts'
import { isBodyless, isFraming, statusLine } from './head.ts'
import { logFailure } from './log.ts'
import { noParams } from './router.ts'
import { TurnCounter } from './turn-counter.ts'
import { UploadDrain } from './upload-drain.ts'
import { checkUwsBinary } from './uws-binary.ts'
import { HeaderReader } from './uws-headers.ts'

type Uws = typeof import('uWebSockets.js')

// Whole bodies up to this size are handed over in one call; larger ones only as fast as the client reads.
const wholeBytes = 64 * 1024

/**
 * Returns uWebSockets.js, or the reason why it does not load here: no binary for this platform or version of Node, or
 * one that is not known.
 */
export async function loadUws(load: () => Promise<Uws> = importUws): Promise<Uws | string> {
  // Read by the binary while it loads. Its own default of 4 KiB is below what cookies and proxies' headers come to.
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= '16384'
  try {
    return await load()
  } catch (error) {
    return error instanceof Error ? error.message.split('\n', 1)[0] : String(error)
  }
}

async function importUws(): Promise<Uws> {
  checkUwsBinary()
  return import('uWebSockets.js')
}

/** Serves HTTP at an address. **Errors**: SetupError when the address cannot be listened on. */
export async function listenUws(uws: Uws, server: ServerState, address: Address): Promise<Engine> {
  const app = uws.App()
  // Matched natively, which spares the hot path the strings of method and path.
  for (const [path, endpoint] of server.router.posts) {
    const reader = new HeaderReader(endpoint.readsHeaders)
    app.post(path, (res, req) => guard(server, res, () => openPost(server, endpoint, reader, res, req)))
  }
  app.any('/*', (res, req) => guard(server, res, () => openOther(server, res, req)))
  const socket = await new Promise<us_listen_socket | false>((resolve) => {
    if (address.host === undefined) app.listen(address.port, resolve)
    else app.listen(address.host, address.port, resolve)
  })
  if (socket === false) {
    app.close()
    const place = `port ${address.port}${address.host === undefined ? '' : ` of ${address.host}`}`
    throw new SetupError('invalid_argument', `cannot listen on ${place}: it is in use, or not allowed`)
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

function openPost(
  server: ServerState,
  endpoint: Endpoint,
  reader: HeaderReader,
  res: NativeResponse,
  req: NativeRequest,
): void {
  reader.read(req)
  open(
    server,
    endpoint,
    { method: 'POST', path: endpoint.path, query: req.getQuery(), params: noParams },
    reader,
    res,
    req,
  )
}

// Of endpoints that are not matched natively.
const readers = new WeakMap<Endpoint, HeaderReader>()
const framingReader = new HeaderReader([])

function openOther(server: ServerState, res: NativeResponse, req: NativeRequest): void {
  const method = req.getCaseSensitiveMethod()
  const path = req.getUrl()
  const route = server.router.resolve(method, path)
  if ('error' in route) {
    framingReader.read(req)
    const { body } = framingReader
    refuse(server, res, req, body, body.fault ?? route.error)
    return
  }
  const { endpoint, params } = route
  let reader = readers.get(endpoint)
  if (reader === undefined) {
    reader = new HeaderReader(endpoint.readsHeaders)
    readers.set(endpoint, reader)
  }
  reader.read(req)
  open(server, endpoint, { method, path, query: req.getQuery(), params }, reader, res, req)
}

function open(
  server: ServerState,
  endpoint: Endpoint,
  target: RequestTarget,
  reader: HeaderReader,
  res: NativeResponse,
  req: NativeRequest,
): void {
  const { body } = reader
  const refusal = admit(server, endpoint, body)
  if (refusal !== undefined) {
    refuse(server, res, req, body, refusal, endpoint)
    return
  }
  const { headers } = reader
  const { query } = target
  const ctx = new Context({ headers, query, deadlineMs: deadlineOf(server, endpoint, headers) })
  const socket = new UwsSocket(server, { endpoint, target, ctx, body }, res, reader.clientCloses || !turn.add())
  res.onAborted(() => socket.onAborted())
  res.onData((chunk, last) => socket.onData(chunk, last))
}

/**
 * Requests of all connections in a turn; this version of uWebSockets.js does not tell which connection one belongs to.
 * Those above are answered in the next turn. A connection that pipelines meets its own unanswered request then, and
 * uWebSockets.js closes it; all others do not notice.
 */
const turn = new TurnCounter(1024)

/** Answers before the body was read. */
function refuse(
  server: ServerState,
  res: NativeResponse,
  req: NativeRequest,
  body: BodyAnnouncement,
  error: ServingError,
  endpoint?: Endpoint,
): void {
  const head = req.getCaseSensitiveMethod() === 'HEAD'
  const response = refusalOf(server, error, req.getHeader('x-request-id'), endpoint)
  const close = mustClose(server, body)
  if (close && body.declared !== 0) {
    new UploadDrain(res, response, body.fault === undefined ? undefined : uploadDrain.faultTimeMs).start(head)
    return
  }
  if (turn.add()) {
    // The parser reads and drops a body that is still to come, at most for its idle timeout of 10 s.
    sendText(res, response, head, close)
    return
  }
  let isGone = false
  res.onAborted(() => {
    isGone = true
  })
  setImmediate(() => {
    if (!isGone) guard(server, res, () => res.cork(() => sendText(res, response, head, close)))
  })
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

function guard(server: ServerState, res: NativeResponse, run: () => void): void {
  try {
    run()
  } catch (cause) {
    logFailure(server.log, new InternalError('the server failed', { cause }), '')
    try {
      res.close()
    } catch {
      // It has ended already.
    }
  }
}

/** The socket of one request on a native response. */
class UwsSocket implements ExchangeSocket {
  readonly copies = true
  readonly #exchange: Exchange
  readonly #res: NativeResponse
  readonly #answersLater: boolean
  #drain: UploadDrain | undefined
  #listens = false
  // What the kernel has not taken yet of a body of known length, and where in that it starts.
  #rest: { readonly bytes: Uint8Array; readonly start: number } | undefined
  // The native response is invalid, also for what the exchange leaves to do when it is over.
  #gone = false

  constructor(server: ServerState, request: IncomingRequest, res: NativeResponse, answersLater: boolean) {
    this.#res = res
    this.#answersLater = answersLater
    this.#exchange = new Exchange(server, request, this)
  }

  onAborted(): void {
    this.#gone = true
    try {
      this.#drain?.aborted()
      this.#exchange.abort()
    } catch (error) {
      this.#exchange.fault(error)
    }
  }

  onData(chunk: ArrayBuffer, last: boolean): void {
    try {
      // The chunk is detached when this callback returns.
      if (this.#drain !== undefined) this.#drain.data(chunk.byteLength, last)
      else this.#exchange.receive(new Uint8Array(chunk), last, true)
    } catch (error) {
      this.#exchange.fault(error)
    }
  }

  /**
   * A response that closes its connection closes the socket at once when the cork was lost to earlier pipelined
   * responses. Within the data callback the parser does not notice: it hands the next pipelined request to its handler
   * on a closed socket, which never aborts, so that the limiter would count it for good. Outside of it the next request
   * finds this one pending, and uWebSockets.js closes the connection itself.
   */
  get answersLater(): boolean {
    return this.#answersLater || this.#exchange.closing
  }

  cork(writes: () => void): void {
    this.#res.cork(writes)
  }

  sendWhole(response: HttpResponse, body: Chunk): void {
    const res = this.#res
    const exchange = this.#exchange
    const close = exchange.closing
    // A string takes at most three bytes a character.
    const large = body.length > (typeof body === 'string' ? wholeBytes / 3 : wholeBytes)
    const bodyless = isBodyless(response.status ?? 200)
    if (exchange.isHead) {
      sendHeadOnly(res, response, close, exchange.echoedId)
      exchange.finished()
      return
    }
    writeHead(res, response, exchange.echoedId)
    if (close && (large || bodyless)) res.writeHeader('connection', 'close')
    if (large) {
      const bytes = typeof body === 'string' ? Buffer.from(body) : body
      this.sendSized(bytes, bytes.length)
      return
    }
    // Both copy what the kernel does not take, so that clean-ups may free the body when they return.
    if (bodyless) res.endWithoutBody()
    else res.end(body, close)
    exchange.finished()
  }

  /** Writes what the kernel takes, and the rest when it has room: nothing is buffered in between. */
  sendSized(bytes: Uint8Array, length: number): boolean {
    const start = this.#res.getWriteOffset()
    if (this.#writeSized(bytes, length)) return true
    this.#rest = { bytes, start }
    // Once: a handler that is set while another one runs is lost.
    if (!this.#listens) this.#listenSized(length)
    return false
  }

  #writeSized(bytes: Uint8Array, length: number): boolean {
    const [ok, done] = this.#res.tryEnd(bytes, length)
    if (done) this.#exchange.finished()
    return ok || done
  }

  #listenSized(length: number): void {
    this.#listens = true
    this.#res.onWritable((offset) => {
      try {
        if (this.#exchange.over || this.#rest === undefined) return true
        const { bytes, start } = this.#rest
        if (!this.#writeSized(bytes.subarray(offset - start), length)) return false
        this.#rest = undefined
        this.#exchange.drained()
      } catch (error) {
        this.#exchange.fault(error)
      }
      return true
    })
  }

  sendHead(response: HttpResponse): void {
    writeHead(this.#res, response, this.#exchange.echoedId)
    // The client closes on this, or the idle timeout of 10 s does. Natively closing at the end is no choice:
    // uWebSockets.js (of uws-pack 20.0.8) writes its `Connection: close` into the body when it is asked to close after
    // a `write`.
    if (this.#exchange.closing) this.#res.writeHeader('connection', 'close')
  }

  sendPiece(piece: Chunk): boolean {
    if (this.#res.write(piece)) return true
    if (!this.#listens) this.#listen()
    return false
  }

  #listen(): void {
    this.#listens = true
    this.#res.onWritable(() => {
      try {
        // With a handler set, uWebSockets.js leaves what it has buffered to the next write, and a source that is silent
        // for a minute would hold it back for a minute. Uncorking flushes it.
        if (!this.#exchange.over) this.#res.cork(nothing)
        this.#exchange.drained()
      } catch (error) {
        this.#exchange.fault(error)
      }
      return true
    })
  }

  sendEnd(): void {
    this.#res.end()
    this.#exchange.finished()
  }

  taken(): number {
    return this.#gone || this.#exchange.over ? 0 : this.#res.getWriteOffset()
  }

  pause(): void {
    this.#res.pause()
  }

  resume(): void {
    this.#res.resume()
  }

  sendAndDrain(response: HttpResponse): void {
    this.#drain = new UploadDrain(this.#res, response)
    this.#exchange.finished()
    this.#drain.write(false)
  }

  destroy(): void {
    // Never within the data callback, see `answersLater`.
    setImmediate(() => {
      try {
        if (!this.#gone) this.#res.close()
      } catch {
        // It has ended already.
      }
    })
  }

  detach(): void {}
}

function nothing(): void {}
