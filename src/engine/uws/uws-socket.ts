/** The socket of one request on uWebSockets.js. @module */

import { InternalError } from '../../core/errors.ts'
import { joinInPool } from '../../core/memory/buffer-pool.ts'
import { plainAddress } from '../../http/client-address.ts'
import {
  bodyLength,
  bytesOfChunk,
  type Chunk,
  type HttpResponse,
  isFramingHeader,
} from '../../http/message.ts'
import { headerBlockOf, isBodyless, statusLine } from '../../http/response-head.ts'
import { BodyRest } from '../../http/transfer-clock.ts'
import type { IncomingRequest } from '../admission.ts'
import type { ExchangeSocket, ServerState } from '../engine.ts'
import { Exchange } from '../exchange.ts'
import { logFailure } from '../log.ts'
import type { NativeResponse } from './uws-package.ts'

// Larger bodies are sent only as fast as the client reads. **Units**: bytes.
const wholeBytes = 64 * 1024

/** The socket of one request on a native response. No private methods of JavaScript: each would pay for their mark. */
export class UwsSocket implements ExchangeSocket {
  readonly copies = true
  readonly sendsBefore = true
  readonly #exchange: Exchange
  readonly #res: NativeResponse
  /** Whether the answer has to wait for the next turn. */
  readonly #isLate: boolean
  #drain: UploadDrain | undefined
  #listens = false
  // What the kernel has not taken yet of a body of known length, and its offset there.
  #rest: { readonly bytes: Uint8Array; readonly start: number } | undefined
  #sendsEvents = false
  readonly #clientCloses: boolean
  #gone = false

  constructor(
    server: ServerState,
    request: IncomingRequest,
    res: NativeResponse,
    clientCloses: boolean,
    isLate: boolean,
  ) {
    this.#res = res
    this.#isLate = isLate || clientCloses
    this.#clientCloses = clientCloses
    this.#exchange = new Exchange(server, request, this)
  }

  /** Called once. */
  begin(): void {
    const res = this.#res
    res.onAborted(() => {
      this.#gone = true
      this.#drain?.aborted()
      this.#exchange.guard(() => this.#exchange.abort())
    })
    res.onData((chunk, last) => {
      if (this.#drain !== undefined) this.#drain.data(chunk.byteLength, last)
      else this.#exchange.receive(new Uint8Array(chunk), last, true)
    })
    this.#exchange.begin()
  }

  /** A closing answer in the data callback would let the parser read a closed socket, whose requests never abort. */
  get answersLater(): boolean {
    return this.#isLate || this.#exchange.closes
  }

  cork(writes: () => void): void {
    this.#res.cork(writes)
  }

  sendWhole(response: HttpResponse, body: Chunk, before?: string): void {
    if (this.#exchange.inbound.isOpen) this.dropRest(() => this.writeWhole(response, body, false))
    else this.writeWhole(response, body, true, before)
  }

  private dropRest(end: () => void): void {
    this.#exchange.dropBody(this.#clientCloses, () => this.#res.cork(end))
  }

  private writeWhole(response: HttpResponse, body: Chunk, closes: boolean, before?: string): void {
    const res = this.#res
    const exchange = this.#exchange
    const close = exchange.closes
    const large = body.length > (typeof body === 'string' ? wholeBytes / 3 : wholeBytes)
    const bodyless = isBodyless(response.status ?? 200)
    if (exchange.isHead) {
      sendHeadOnly(res, response, close, exchange.visit.ctx.clientId)
      exchange.finished()
      return
    }
    writeHead(res, response, exchange.visit.ctx.clientId)
    if (close && (large || bodyless || !closes)) res.writeHeader('connection', 'close')
    if (large) {
      const bytes = bytesOfChunk(body)
      if (before === undefined) this.startSized(bytes, bytes.length)
      else this.writeLent(before, bytes)
      return
    }
    // Both copy what the kernel does not take: the body may be freed afterwards.
    if (bodyless) res.endWithoutBody()
    else res.end(body, close && closes)
    exchange.finished()
  }

  sendSized(bytes: Uint8Array, length: number, isLast: boolean): boolean {
    if (!isLast || !this.#exchange.inbound.isOpen) return this.startSized(bytes, length)
    this.dropRest(() => this.startSized(bytes, length))
    return true
  }

  private startSized(bytes: Uint8Array, length: number): boolean {
    const start = this.#res.getWriteOffset()
    if (this.writeSized(bytes, length)) return true
    this.#rest = { bytes, start }
    if (!this.#listens) this.listenSized(length)
    return false
  }

  /** Copies what the kernel does not take at once. */
  private writeLent(before: string, bytes: Uint8Array): void {
    const res = this.#res
    const start = Buffer.byteLength(before)
    const length = start + bytes.length
    res.tryEnd(before, length)
    // Less if earlier answers of the connection have taken the cork, and the kernel is full.
    if (res.getWriteOffset() === start && this.writeSized(bytes, length)) return
    const at = res.getWriteOffset()
    const rest =
      at < start
        ? joinInPool([Buffer.from(before).subarray(at), bytes])
        : joinInPool([bytes.subarray(at - start)])
    this.#exchange.reply.lend(rest)
    this.#rest = { bytes: rest, start: at }
    this.listenSized(length)
  }

  private writeSized(bytes: Uint8Array, length: number): boolean {
    const [ok, done] = this.#res.tryEnd(bytes, length)
    if (done) this.#exchange.finished()
    return ok || done
  }

  private listenSized(length: number): void {
    this.#listens = true
    this.#res.onWritable((offset) => {
      try {
        if (this.#exchange.isOver || this.#rest === undefined) return true
        const { bytes, start } = this.#rest
        if (!this.writeSized(bytes.subarray(offset - start), length)) return false
        this.#rest = undefined
        this.#exchange.reply.drained()
      } catch (error) {
        this.#exchange.fault(error)
      }
      return true
    })
  }

  sendHead(response: HttpResponse): void {
    writeHead(this.#res, response, this.#exchange.visit.ctx.clientId)
    this.#sendsEvents = response.headers.some(
      ([name, value]) => name === 'content-type' && value.startsWith('text/event-stream'),
    )
    // The client or the idle timeout closes: after a `write`, uWebSockets.js writes its `Connection: close` into the
    // body.
    if (this.#exchange.closes) this.#res.writeHeader('connection', 'close')
  }

  sendPiece(piece: Chunk): boolean {
    // Python's requests yields a chunk when the next one starts: the empty line is a chunk of its own.
    const isEvent = this.#sendsEvents && typeof piece === 'string' && piece.endsWith('\n\n')
    let isTaken = this.#res.write(isEvent ? piece.slice(0, -1) : piece)
    if (isEvent) isTaken = this.#res.write('\n')
    if (isTaken) return true
    if (!this.#listens) this.listen()
    return false
  }

  private listen(): void {
    this.#listens = true
    this.#res.onWritable(() => {
      this.#exchange.guard(() => {
        // With a handler set, uWebSockets.js keeps what it has buffered until the next write; uncorking flushes it.
        if (!this.#exchange.isOver) this.#res.cork(nothing)
        this.#exchange.reply.drained()
      })
      return true
    })
  }

  sendEnd(): void {
    if (this.#exchange.inbound.isOpen) this.dropRest(() => this.writeEnd())
    else this.writeEnd()
  }

  private writeEnd(): void {
    this.#res.end()
    this.#exchange.finished()
  }

  taken(): number {
    return this.#gone || this.#exchange.isOver ? 0 : this.#res.getWriteOffset()
  }

  remoteAddress(): string | undefined {
    const exchange: Exchange | undefined = this.#exchange
    return this.#gone || exchange?.isOver ? undefined : addressOf(this.#res)
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
      if (!this.#gone) close(this.#res)
    })
  }
}

function nothing(): void {}

/** Logs a failure of the server outside of an exchange, and closes the connection. */
export function failed({ log }: ServerState, res: NativeResponse, cause: unknown): void {
  logFailure(log, new InternalError('the server failed', { cause }), '')
  close(res)
}

/** Closes a connection, unless it is closed. */
function close(res: NativeResponse): void {
  try {
    res.close()
  } catch {}
}

/** @returns the address at the other end. */
export function addressOf(res: NativeResponse): string {
  return plainAddress(Buffer.from(res.getRemoteAddressAsText()).toString())
}

/** Answers before the request was read. `close`: whether the connection closes then. */
export function sendText(
  res: NativeResponse,
  response: HttpResponse,
  isHead: boolean,
  close: boolean,
): void {
  if (isHead) {
    sendHeadOnly(res, response, close)
    return
  }
  writeHead(res, response)
  res.end(response.body as string, close)
}

function sendHeadOnly(
  res: NativeResponse,
  response: HttpResponse,
  close: boolean,
  echoedId?: string,
): void {
  const length = bodyLength(response)
  writeHead(res, response, echoedId)
  if (length !== undefined && !isBodyless(response.status ?? 200))
    res.writeHeader('content-length', String(length))
  if (close) res.writeHeader('connection', 'close')
  // Given a length, even undefined, it waits for the body.
  res.endWithoutBody()
}

function writeHead(res: NativeResponse, response: HttpResponse, echoedId?: string): void {
  const { status = 200, headers } = response
  const block = status === 200 ? headerBlockOf(headers) : undefined
  if (block !== undefined) res.writeStatus(block)
  else {
    if (status !== 200) res.writeStatus(statusLine(status))
    echoedId = writeLines(res, headers, echoedId)
  }
  if (echoedId !== undefined) res.writeHeader('x-request-id', echoedId)
}

/** @returns the request id that is still to be sent. */
function writeLines(
  res: NativeResponse,
  headers: HttpResponse['headers'],
  echoedId?: string,
): string | undefined {
  for (let i = 0; i < headers.length; i++) {
    const [name, value] = headers[i]
    if (isFramingHeader(name)) continue
    if (name === 'x-request-id') echoedId = undefined
    // Header values are Latin-1; uWebSockets.js would write a string as UTF-8.
    res.writeHeader(name, /[\u0080-\u00ff]/.test(value) ? Buffer.from(value, 'latin1') : value)
  }
  return echoedId
}

/** Sends the answer, drops the rest of the body within bounds, closes the connection. */
export class UploadDrain {
  readonly #res: NativeResponse
  readonly #response: HttpResponse
  readonly #timeMs: number | undefined
  #rest: BodyRest | undefined
  #over = false

  constructor(res: NativeResponse, response: HttpResponse, timeMs?: number) {
    this.#res = res
    this.#response = response
    this.#timeMs = timeMs
  }

  start(isHead: boolean): void {
    this.#res.onAborted(() => this.aborted())
    this.#res.onData((chunk, last) => this.data(chunk.byteLength, last))
    this.write(isHead)
  }

  /** `end` would close the socket over unread bytes. `writeStatus` adds one line break, counted as the body's end. */
  write(isHead: boolean): void {
    const { status = 200, headers, body } = this.#response
    let text = `${statusLine(status)}\r\ndate: ${new Date().toUTCString()}\r\nconnection: close\r\n`
    for (const [name, value] of headers) text += `${name}: ${value}\r\n`
    text += `content-length: ${Buffer.byteLength(body as string) + 2}\r\n\r\n`
    this.#res.writeStatus(isHead ? text.slice(0, -2) : text + body)
    // The answer may still be in the cork buffer, which closing discards.
    this.#rest = new BodyRest(() => setImmediate(() => this.#close()), this.#timeMs)
  }

  data(bytes: number, last: boolean): void {
    this.#rest?.drop(bytes, last)
  }

  aborted(): void {
    this.#over = true
    this.#rest?.stop()
  }

  #close(): void {
    if (this.#over) return
    this.aborted()
    close(this.#res)
  }
}
