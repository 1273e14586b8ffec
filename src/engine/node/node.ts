/** The HTTP engine on node:http, for systems without a binary of uWebSockets.js. @module */
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import type { Endpoint } from '../../api/endpoint.ts'
import { BadInput, InternalError, ServingError } from '../../core/errors.ts'
import { HeaderList, type HttpResponse } from '../../http/message.ts'
import { http, https, listenOn } from '../../http/node-http.ts'
import { statusLine } from '../../http/response-head.ts'
import { admit, mustClose, type RequestHead, refusalOf } from '../admission.ts'
import type { Address, Engine, ServerState } from '../engine.ts'
import { type HeaderReader, headerReaders, RawHeaderLines } from '../header-reader.ts'
import { logFailure } from '../log.ts'
import { splitTarget } from '../router.ts'
import { contextOf, type TlsFiles } from '../tls-files.ts'
import { type Connection, connectionCap, connectionOf } from './node-connection.ts'
import { drainUpload, limitDropped, NodeSocket, peerOf, writeTextHead } from './node-socket.ts'

const handshakeMs = 10_000

/** @throws SetupError if the address cannot be listened on. */
export async function listenNode(server: ServerState, address: Address): Promise<Engine> {
  const { requestTimeoutMs, headerTimeoutMs, idleTimeoutMs, maxConnectionsPerAddress } =
    server.limits
  const listening = create(address.tls, {
    keepAliveTimeout: idleTimeoutMs,
    headersTimeout: headerTimeoutMs,
    connectionsCheckingInterval: Math.max(10, Math.min(5000, headerTimeoutMs / 4)),
    // For refused uploads, which are read and dropped; others have the request deadline.
    requestTimeout:
      requestTimeoutMs === 0 ? 0 : Math.max(300_000, requestTimeoutMs + 30_000, headerTimeoutMs),
    noDelay: true,
  })
  const readerOf = headerReaders(server)
  listening.on('request', (req, res) => guard(server, readerOf, req, res, false))
  listening.on('checkContinue', (req, res) => guard(server, readerOf, req, res, true))
  if (maxConnectionsPerAddress > 0)
    listening.on('connection', connectionCap(maxConnectionsPerAddress, server.log))
  listening.on('clientError', (error, socket) => answerUnparsed(server, error, socket as Socket))
  const hasLives = server.lives.endpoints.length > 0
  const closeLives = hasLives && (await import('./node-live.ts')).acceptLives(listening, server)
  const { port, close } = await listenOn(listening, address)
  return {
    name: 'node',
    port,
    close() {
      if (closeLives) closeLives()
      return close()
    },
    stopAccepting() {
      // http.Server's own `close` would close idle connections, whose next request may be on its way.
      NetServer.prototype.close.call(listening)
    },
  }
}

function create(tls: TlsFiles | undefined, options: ServerOptions): Server {
  if (tls === undefined) return http.createServer(options)
  const server = https.createServer({
    ...options,
    ...contextOf(tls.pem),
    requestCert: tls.pem.clientCa !== undefined,
    handshakeTimeout: handshakeMs,
  })
  tls.onChange((pem) => server.setSecureContext(contextOf(pem)))
  return server
}

type ReaderOf = (endpoint?: Endpoint) => HeaderReader

function guard(
  server: ServerState,
  readerOf: ReaderOf,
  req: IncomingMessage,
  res: ServerResponse,
  expectsContinue: boolean,
): void {
  try {
    res.on('error', ignore)
    const connection = connectionOf(req.socket)
    if (connection.closing) return
    if (!connection.addRequest()) {
      connection.closing = true
      req.socket.destroy()
      return
    }
    open(server, readerOf, req, res, connection, expectsContinue)
  } catch (cause) {
    logFailure(server.log, new InternalError('the server failed', { cause }), '')
    res.destroy()
  }
}

function ignore(): void {}

function open(
  server: ServerState,
  readerOf: ReaderOf,
  req: IncomingMessage,
  res: ServerResponse,
  connection: Connection,
  expectsContinue: boolean,
): void {
  const { path, query } = splitTarget(req.url ?? '/')
  const method = req.method ?? ''
  const route = server.router.resolve(method, path)
  const head = readerOf('error' in route ? undefined : route.endpoint).read(new RawHeaderLines(req))
  const admitted =
    'error' in route
      ? (head.fault ?? route.error)
      : admit(server, route.endpoint, { method, path, query, params: route.params }, head)
  if (admitted instanceof ServingError) {
    const { headers } = head
    const peer = () => peerOf(req)
    const refused = { endpoint: route.endpoint, method, path, headers, peer }
    refuse(server, req, res, head, refusalOf(server, admitted, refused))
    return
  }
  new NodeSocket(server, admitted, req, res, connection).start(() => {
    if (expectsContinue) res.writeContinue()
  })
}

function parseErrorOf({ code = 'unknown' }: NodeJS.ErrnoException): ServingError {
  const status = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 }[code] ?? 400
  return new BadInput(
    `expected a whole HTTP request, received one that cannot be parsed (${code})`,
    {},
    { status },
  )
}

/** Answers what Node cannot parse, unless a response is under way, and closes the connection. */
function answerUnparsed(server: ServerState, error: NodeJS.ErrnoException, socket: Socket): void {
  const connection = connectionOf(socket)
  if (socket.writable && error.code !== 'ECONNRESET' && !connection.isBusy) {
    const {
      status = 400,
      headers,
      body,
    } = refusalOf(server, parseErrorOf(error), {
      method: '',
      path: '',
      headers: new HeaderList([], []),
      peer: () => peerOf({ socket }),
    })
    const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
    const length = `content-length: ${Buffer.byteLength(body as string)}\r\nconnection: close\r\n`
    socket.write(`HTTP/1.1 ${statusLine(status)}\r\n${lines}${length}\r\n${body as string}`)
  }
  // Not `destroy`: a refusal may have been written in this tick.
  socket.destroySoon()
}

function refuse(
  server: ServerState,
  req: IncomingMessage,
  res: ServerResponse,
  { declared }: RequestHead,
  response: HttpResponse,
): void {
  const close = mustClose(server, declared)
  if (close && declared !== 0) {
    drainUpload(req, res, response)
    return
  }
  res.end(writeTextHead(req, res, response, close))
  if (declared !== 0) limitDropped(req, server.limits)
}
