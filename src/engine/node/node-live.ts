/** Live streams on node:http: WebSockets by ws. @module */
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { noParams } from '../../api/visit.ts'
import { InternalError } from '../../core/errors.ts'
import { isPromise } from '../../core/promise.ts'
import { type WebSocket, WebSocketServer } from '../../core/web-socket.ts'
import { allHeaders, type HttpResponse, type RequestHeaders } from '../../http/message.ts'
import { http } from '../../http/node-http.ts'
import { subprotocol } from '../../live/framing.ts'
import type { LiveListener, LiveSocket } from '../../live/live-socket.ts'
import type { LiveEndpoint } from '../../live/live-streams.ts'
import type { ServerState } from '../engine.ts'
import { HeaderReader, RawHeaderLines } from '../header-reader.ts'
import { LiveCall } from '../live-call.ts'
import { logFailure } from '../log.ts'
import { splitTarget } from '../router.ts'
import { connectionOf } from './node-connection.ts'
import { peerOf, writeTextHead } from './node-socket.ts'

// The session answers a message that is only a little too long with an error message, ws all others with 1009.
const overlongBytes = 64 * 1024
// ws keeps an object for each fragment of a message: most are longer than this.
const fragmentBytes = 64
const leastFragments = 16 * 1024
// A client that has not read this much gets no answers to its pings.
const pongBytes = 64 * 1024

/** Opens live streams on a server. Returns a function that drops all that are open. */
export function acceptLives(listening: Server, server: ServerState): () => void {
  const acceptors = new Map(
    server.lives.endpoints.map((endpoint) => [endpoint.path, acceptor(server, endpoint)]),
  )
  listening.on('upgrade', (req, socket: Socket, head) => {
    const { path, query } = splitTarget(req.url ?? '/')
    const { headers, fault } = new HeaderReader(allHeaders).read(new RawHeaderLines(req))
    const own = isWebSocket(req) && fault === undefined ? acceptors.get(path) : undefined
    connectionOf(socket).whenIdle(() => {
      if (socket.destroyed) return
      if (own === undefined) {
        serveWithout(listening, req, socket, head)
        return
      }
      own.open(req, socket, head, { path, query, headers }).catch((cause) => {
        logFailure(server.log, new InternalError('the server failed', { cause }), '')
        socket.destroy()
      })
    })
  })
  return () => {
    for (const { sockets } of acceptors.values())
      for (const socket of sockets.clients) socket.terminate()
  }
}

/** @see RFC 6455 section 4.2.1. */
function isWebSocket({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    headers['sec-websocket-version'] === '13' &&
    /^[+/0-9a-z]{22}==$/i.test(headers['sec-websocket-key'] ?? '')
  )
}

/**
 * Answers a request as if it had asked for no upgrade: servers may ignore it, and some clients ask for HTTP/2 with each
 * request. Node has given up the connection by then, so that it reads the request once more.
 */
function serveWithout(listening: Server, req: IncomingMessage, socket: Socket, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = req
  let lines = `${method} ${url} HTTP/${httpVersion}\r\n`
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i].toLowerCase() !== 'upgrade')
      lines += `${rawHeaders[i]}: ${rawHeaders[i + 1]}\r\n`
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines}\r\n`, 'latin1'), head]))
  listening.emit('encrypted' in socket ? 'secureConnection' : 'connection', socket)
}

interface LiveTarget {
  readonly path: string
  readonly query: string
  readonly headers: RequestHeaders
}

/** Opens the streams of one API. */
function acceptor(server: ServerState, endpoint: LiveEndpoint) {
  const { maxMessage } = endpoint.route
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: maxMessage + overlongBytes,
    maxFragments: Math.max(leastFragments, maxMessage / fragmentBytes),
    autoPong: false,
    handleProtocols: (offered) => offered.has(subprotocol) && subprotocol,
  })
  const open = async (
    req: IncomingMessage,
    socket: Socket,
    head: Buffer,
    { headers, ...target }: LiveTarget,
  ): Promise<void> => {
    const call = new LiveCall(server, {
      endpoint,
      target: { method: 'GET', ...target, params: noParams },
      headers,
      peer: () => peerOf({ socket }),
    })
    const left = () => call.left()
    socket.on('error', ignore)
    socket.once('close', left)
    const answer = call.admit()
    const refusal = isPromise(answer) ? await whileThere(socket, answer) : answer
    if (refusal !== undefined) {
      refuse(req, socket, refusal)
      return
    }
    const addHeaders = (head101: string[]) => void head101.push(...linesOf(call))
    sockets.once('headers', addHeaders)
    sockets.handleUpgrade(req, socket, head, (each) => {
      socket.off('close', left)
      call.accepted()
      new NodeLiveSocket(each, socket, call.session)
    })
    sockets.off('headers', addHeaders)
  }
  return { sockets, open }
}

/** Reads the socket meanwhile, and destroys it if the client leaves. What came stays in the socket's buffer. */
async function whileThere<T>(socket: Socket, work: PromiseLike<T>): Promise<T> {
  const read = () => {
    if (socket.readableLength === 0) socket.read()
  }
  const leave = () => socket.destroy()
  socket.on('readable', read).once('end', leave)
  try {
    return await work
  } finally {
    socket.off('readable', read).off('end', leave)
  }
}

function linesOf({ headers }: LiveCall): string[] {
  return headers.map(([name, value]) => `${name}: ${value}`)
}

function ignore(): void {}

/** Node gives up a connection at an upgrade, so that it closes after the answer. */
function refuse(req: IncomingMessage, socket: Socket, response: HttpResponse): void {
  const res = new http.ServerResponse(req)
  res.assignSocket(socket)
  res.once('finish', () => socket.destroySoon())
  res.end(writeTextHead(req, res, response, true))
}

/** The WebSocket of one live stream. */
class NodeLiveSocket implements LiveSocket {
  readonly copies = false
  readonly #socket: WebSocket
  readonly #connection: Socket
  readonly #written: () => void
  #isCorked = false

  constructor(socket: WebSocket, connection: Socket, listener: LiveListener) {
    this.#socket = socket
    this.#connection = connection
    this.#written = () => listener.drained()
    socket.on('message', (bytes: Buffer, isBinary) => listener.message(bytes, !isBinary))
    socket.on('ping', (bytes) => {
      listener.heard()
      if (socket.bufferedAmount < pongBytes) socket.pong(bytes)
    })
    socket.on('pong', () => listener.heard())
    // Of a frame against the protocol: ws has closed the socket with its code.
    socket.on('error', ignore)
    socket.once('close', () => listener.closed())
    listener.open(this)
  }

  /** Messages of one turn leave in one write. */
  send(message: string | Uint8Array): boolean {
    if (!this.#isCorked) {
      this.#isCorked = true
      this.#connection.cork()
      process.nextTick(this.#uncork)
    }
    this.#socket.send(message, this.#written)
    return false
  }

  readonly #uncork = () => {
    this.#isCorked = false
    this.#connection.uncork()
  }

  buffered(): number {
    return this.#socket.bufferedAmount
  }

  ping(): void {
    this.#socket.ping()
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason)
  }

  terminate(): void {
    this.#socket.terminate()
  }
}
