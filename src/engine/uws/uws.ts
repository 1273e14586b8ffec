/**
 * The HTTP engine on uWebSockets.js. Native values end the process if misused: HttpRequest lives in its handler,
 * HttpResponse until it ends or aborts; nothing may throw into native code; `onAborted` comes first.
 * @module
 */

import type { Endpoint } from '../../api/endpoint.ts'
import type { RequestTarget } from '../../api/visit.ts'
import { noParams } from '../../api/visit.ts'
import { InternalError, type ServingError, SetupError } from '../../core/errors.ts'
import { Context } from '../../http/context.ts'
import { uploadDrain } from '../../http/transfer-clock.ts'
import { admit, type BodyAnnouncement, mustClose, TurnCounter, timeoutOf } from '../admission.ts'
import type { Address, Engine, ServerState } from '../engine.ts'
import { type HeaderReader, headerReaders } from '../header-reader.ts'
import { type RefusedRequest, refusalOf } from '../incoming-request.ts'
import { logFailure } from '../log.ts'
import { addLiveRoutes } from './uws-live.ts'
import type { App, ListenSocket, NativeRequest, NativeResponse, Uws } from './uws-package.ts'
import { addressOf, sendText, UploadDrain, UwsSocket } from './uws-socket.ts'
import { type AcceptingApp, tlsApp } from './uws-tls.ts'

/** @throws SetupError if the address cannot be listened on. */
export async function listenUws(uws: Uws, server: ServerState, address: Address): Promise<Engine> {
  const { tls } = address
  const { app, close } =
    tls === undefined ? plainApp(uws, server) : tlsApp(uws, tls, (each) => addRoutes(each, server))
  const socket = await new Promise<ListenSocket | false>((resolve) => {
    if (address.host === undefined) app.listen(address.port, resolve)
    else app.listen(address.host, address.port, resolve)
  })
  if (socket === false) {
    close()
    const place = `port ${address.port}${address.host === undefined ? '' : ` of ${address.host}`}`
    throw new SetupError(
      'invalid_argument',
      `cannot listen on ${place}: it is in use, or not allowed`,
    )
  }
  return {
    name: 'uws',
    port: uws.us_socket_local_port(socket as never),
    stopAccepting() {
      uws.us_listen_socket_close(socket)
    },
    async close() {
      close()
    },
  }
}

function plainApp(uws: Uws, server: ServerState): AcceptingApp {
  const app = uws.App() as App
  addRoutes(app, server)
  return { app, close: () => void app.close() }
}

function addRoutes(app: App, server: ServerState): void {
  const readerOf = headerReaders(server)
  // Matched natively, without strings for method and path.
  for (const [path, endpoint] of server.router.posts) {
    const reader = readerOf(endpoint)
    app.post(path, (res, req) => {
      try {
        reader.read(req)
        open(
          server,
          endpoint,
          { method: 'POST', path, query: req.getQuery() ?? '', params: noParams },
          reader,
          res,
        )
      } catch (error) {
        failed(server, res, error)
      }
    })
  }
  addLiveRoutes(app, server)
  app.any('/*', (res, req) => {
    try {
      openOther(server, readerOf, res, req)
    } catch (error) {
      failed(server, res, error)
    }
  })
}

function openOther(
  server: ServerState,
  readerOf: (endpoint?: Endpoint) => HeaderReader,
  res: NativeResponse,
  req: NativeRequest,
): void {
  const method = req.getCaseSensitiveMethod()
  const path = req.getUrl()
  const route = server.router.resolve(method, path)
  const reader = readerOf('error' in route ? undefined : route.endpoint)
  reader.read(req)
  if (!('error' in route)) {
    const { endpoint, params } = route
    open(server, endpoint, { method, path, query: req.getQuery() ?? '', params }, reader, res)
    return
  }
  const { body, headers } = reader
  const refused = { endpoint: route.endpoint, method, path, headers, peer: () => addressOf(res) }
  refuse(server, res, body, body.fault ?? route.error, refused)
}

function open(
  server: ServerState,
  endpoint: Endpoint,
  target: RequestTarget,
  reader: HeaderReader,
  res: NativeResponse,
): void {
  const { body, headers } = reader
  const refusal = admit(server, endpoint, body, headers)
  if (refusal !== undefined) {
    const { method, path } = target
    refuse(server, res, body, refusal, {
      endpoint,
      method,
      path,
      headers,
      peer: () => addressOf(res),
    })
    return
  }
  const { query } = target
  const ctx = new Context({ headers, query, timeoutMs: timeoutOf(server, endpoint, headers) })
  const request = { endpoint, target, ctx, declared: body.declared }
  const socket = new UwsSocket(server, request, res, reader.clientCloses, !turn.add())
  res.onAborted(() => socket.onAborted())
  res.onData((chunk, last) => socket.onData(chunk, last))
  socket.begin()
}

/** Requests above the limit of a turn are answered in the next one: uWebSockets.js closes connections that pipeline. */
const turn = new TurnCounter(1024)

function refuse(
  server: ServerState,
  res: NativeResponse,
  body: BodyAnnouncement,
  error: ServingError,
  request: RefusedRequest,
): void {
  const isHead = request.method === 'HEAD'
  const response = refusalOf(server, error, request)
  const close = mustClose(server, body.declared)
  if (close && body.declared !== 0) {
    new UploadDrain(
      res,
      response,
      body.fault === undefined ? undefined : uploadDrain.faultTimeMs,
    ).start(isHead)
    return
  }
  if (turn.add()) {
    // The parser drops the rest of a body, at most for its idle timeout of 10 s.
    sendText(res, response, isHead, close)
    return
  }
  let isGone = false
  res.onAborted(() => {
    isGone = true
  })
  setImmediate(() => {
    try {
      if (!isGone) res.cork(() => sendText(res, response, isHead, close))
    } catch (error) {
      failed(server, res, error)
    }
  })
}

function failed(server: ServerState, res: NativeResponse, cause: unknown): void {
  logFailure(server.log, new InternalError('the server failed', { cause }), '')
  try {
    res.close()
  } catch {}
}
