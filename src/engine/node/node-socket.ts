/** The socket of one request on node:http. @module */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { plainAddress } from '../../http/client-address.ts'
import { bodyLength, type Chunk, type HttpResponse, isFramingHeader } from '../../http/message.ts'
import { headerBlockOf, isBodyless } from '../../http/response-head.ts'
import { BodyRest, TransferClock } from '../../http/transfer-clock.ts'
import type { IncomingRequest } from '../admission.ts'
import type { ExchangeSocket, ServerState } from '../engine.ts'
import { Exchange } from '../exchange.ts'
import type { Limits } from '../options.ts'
import { type Connection, connectionOf } from './node-connection.ts'

// Closes a connection whose client does not read a response, as uWebSockets.js does. **Units**: milliseconds.
const stallMs = 30_000
// A client that reads has left less than this of an answer that breaks off. **Units**: bytes.
const closeBytes = 256 * 1024
const closeMs = 2000
const nothing = new Uint8Array(0)
const beyondAscii = /[^\0-\x7f]/

/** The socket of one request on node:http. No private methods of JavaScript, as in UwsSocket. */
export class NodeSocket implements ExchangeSocket {
  // Node keeps references to written bytes, and has no event for a single write.
  readonly copies = false
  readonly answersLater = false
  readonly #exchange: Exchange
  readonly #declared: number | undefined
  readonly #req: IncomingMessage
  readonly #res: ServerResponse
  readonly #connection: Connection
  #listens = false

  constructor(
    server: ServerState,
    request: IncomingRequest,
    req: IncomingMessage,
    res: ServerResponse,
    connection: Connection,
  ) {
    this.#declared = request.declared
    this.#req = req
    this.#res = res
    this.#connection = connection
    this.#exchange = new Exchange(server, request, this)
  }

  /** Called once. Calls `ready` when the body may come. */
  start(ready: () => void): void {
    this.#connection.add(this)
    if (this.#declared === undefined) this.#connection.closing = true
    this.#exchange.begin(() => {
      ready()
      this.listen()
    })
  }

  /** Called when the connection has closed. */
  abort(): void {
    this.#exchange.abort()
  }

  private listen(): void {
    this.#listens = true
    const req = this.#req
    const exchange = this.#exchange
    const declared = this.#declared
    if (declared === 0) {
      exchange.receive(nothing, true, false)
      return
    }
    let received = 0
    req.on('data', (piece: Buffer) => {
      received += piece.length
      exchange.receive(piece, received === declared, false)
    })
    if (declared === undefined) req.once('end', () => exchange.receive(nothing, true, false))
    // What came together with the headers is here by then, and most bodies are complete.
    process.nextTick(() => {
      if (received === 0 && exchange.inbound.isOpen) exchange.inbound.awaitRest()
    })
  }

  cork(writes: () => void): void {
    writes()
  }

  sendWhole(response: HttpResponse, body: Chunk): void {
    const res = this.#res
    const status = response.status ?? 200
    const lines = this.lines(response)
    const length = this.#exchange.isHead ? bodyLength(response) : Buffer.byteLength(body)
    if (length !== undefined && !isBodyless(status)) lines.push('content-length', String(length))
    res.writeHead(status, lines)
    // Node joins a text to the head, and would write both as UTF-8.
    const isText = typeof body === 'string' && lines.some((line) => beyondAscii.test(line))
    this.endWith(isText ? Buffer.from(body) : body)
  }

  sendHead(response: HttpResponse, length?: number): void {
    const lines = this.lines(response)
    if (length !== undefined) lines.push('content-length', String(length))
    this.#res.writeHead(response.status ?? 200, lines)
  }

  sendSized(piece: Uint8Array, _: number, isLast: boolean): boolean {
    const room = this.sendPiece(piece)
    if (isLast) this.sendEnd()
    return room || isLast
  }

  sendPiece(piece: Chunk): boolean {
    const room = this.#res.write(piece)
    if (room) return true
    // Only a client that does not read is timed, not the source.
    this.timeStall()
    this.#res.once('drain', () => this.drained())
    return false
  }

  sendEnd(): void {
    this.endWith()
  }

  taken(): number {
    const { socket } = this.#res
    return socket === null ? 0 : socket.bytesWritten - socket.writableLength
  }

  remoteAddress(): string | undefined {
    return peerOf(this.#req)
  }

  pause(): void {
    this.#req.pause()
  }

  resume(): void {
    this.#req.resume()
  }

  sendAndDrain(response: HttpResponse): void {
    this.#exchange.finished()
    drainUpload(this.#req, this.#res, response)
  }

  destroy(): void {
    const { socket } = this.#res
    if (socket !== null) closeSoon(socket)
    // A pipelined answer, which its socket gets after this event.
    else this.#res.once('socket', (later: Socket) => process.nextTick(closeSoon, later))
  }

  detach(): void {
    this.#connection.delete(this)
  }

  private endWith(body?: Chunk): void {
    if (!this.#exchange.inbound.isOpen) {
      this.closeWith(body)
      if (!this.#listens && this.#declared !== 0)
        limitDropped(this.#req, this.#exchange.server.limits)
    } else {
      this.timeStall()
      if (body !== undefined) this.#res.write(body)
      this.#exchange.dropBody(this.#exchange.closes, () => this.closeWith())
    }
  }

  /** The exchange is finished when the kernel has all bytes: they are not copied. */
  private closeWith(body?: Chunk): void {
    const res = this.#res
    const { socket } = res
    // Head and body in one write; given to `end`, an empty third piece would follow them.
    socket?.cork()
    if (body !== undefined) res.write(body)
    socket?.uncork()
    res.end()
    if (socket?.writableLength === 0) {
      this.#exchange.finished()
      return
    }
    this.timeStall()
    res.once('finish', () => this.#exchange.finished())
  }

  private lines(response: HttpResponse): string[] {
    const { closes, visit } = this.#exchange
    if (closes) this.#connection.closing = true
    return headLines(response, visit.ctx.clientId, closes)
  }

  private timeStall(): void {
    const { socket } = this.#res
    if (socket === null) this.#res.once('socket', (later: Socket) => later.setTimeout(stallMs))
    else socket.setTimeout(stallMs)
  }

  private drained(): void {
    this.#res.socket?.setTimeout(0)
    this.#exchange.reply.drained()
  }
}

/** Closes a connection behind its last bytes, if they are few and the client reads them within `closeMs`. */
function closeSoon(socket: Socket): void {
  connectionOf(socket).closing = true
  if (socket.writableLength > closeBytes) {
    socket.destroy()
    return
  }
  const timer = setTimeout(() => socket.destroy(), closeMs)
  socket.once('close', () => clearTimeout(timer))
  socket.destroySoon()
}

/** @returns the address at the other end. */
export function peerOf({ socket }: { readonly socket: Socket }): string | undefined {
  return socket.remoteAddress === undefined ? undefined : plainAddress(socket.remoteAddress)
}

/** Closes the connection if the rest of a body that Node drops comes slowly. */
export function limitDropped(req: IncomingMessage, { bodyTimeoutMs }: Limits): void {
  const { socket } = req
  if (bodyTimeoutMs === 0 || req.readableEnded) return
  const clock = new TransferClock(
    bodyTimeoutMs,
    () => socket.bytesRead,
    () => socket.destroy(),
  )
  clock.start()
  for (const event of ['end', 'close']) req.once(event, () => clock.pause())
}

/** Answers while the body still comes, drops the rest within bounds, closes the connection. */
export function drainUpload(
  req: IncomingMessage,
  res: ServerResponse,
  response: HttpResponse,
): void {
  // `end` would close the socket over unread bytes, and the reset would overtake the answer.
  res.write(writeTextHead(req, res, response, true))
  const rest = new BodyRest(() => res.destroy())
  req.on('data', (piece: Buffer) => rest.drop(piece.length, false))
  req.once('end', () => {
    rest.stop()
    res.end()
  })
  res.once('close', () => rest.stop())
}

/** Writes the head of a response of text; returns the text. */
export function writeTextHead(
  req: IncomingMessage,
  res: ServerResponse,
  response: HttpResponse,
  close: boolean,
): string {
  const text = response.body as string
  if (close) connectionOf(req.socket).closing = true
  const lines = headLines(response, undefined, close)
  lines.push('content-length', String(Buffer.byteLength(text)))
  res.writeHead(response.status ?? 200, lines)
  return text
}

/** Names and values in one flat list, for `writeHead`. */
export function headLines(
  { headers }: HttpResponse,
  echoedId: string | undefined,
  close: boolean,
): string[] {
  const lines: string[] = []
  const isConstant = headerBlockOf(headers) !== undefined
  for (const [name, value] of headers) {
    if (!isConstant && isFramingHeader(name)) continue
    if (name === 'x-request-id') echoedId = undefined
    lines.push(name, value)
  }
  if (echoedId !== undefined) lines.push('x-request-id', echoedId)
  if (close) lines.push('connection', 'close')
  return lines
}
