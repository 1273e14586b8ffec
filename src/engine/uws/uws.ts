/**
 * The HTTP engine on uWebSockets.js. Native values end the process if misused: HttpRequest lives in its handler,
 * HttpResponse until it ends or aborts; nothing may throw into native code; `onAborted` comes first.
 * @module
 */

import type { Endpoint } from '../../api/endpoint.ts'
import { noParams, type RequestTarget } from '../../api/visit.ts'
import { ServingError, SetupError } from '../../core/errors.ts'
import { uploadDrain } from '../../http/transfer-clock.ts'
import { admit, mustClose, type RefusedRequest, refusalOf, TurnCounter } from '../admission.ts'
import type { Address, Engine, ServerState } from '../engine.ts'
import { type HeaderReader, headerReaders, type ReadHead } from '../header-reader.ts'
import { addLiveRoutes } from './uws-live.ts'
import type { App, ListenSocket, NativeRequest, NativeResponse, Uws } from './uws-package.ts'
import { addressOf, failed, sendText, UploadDrain, UwsSocket } from './uws-socket.ts'
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
        const query = req.getQuery() ?? ''
        const target = { method: 'POST', path, query, params: noParams }
        open(server, endpoint, target, reader.read(req), res)
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
  const head = readerOf('error' in route ? undefined : route.endpoint).read(req)
  if ('error' in route) {
    refuse(server, res, head, route.error, { endpoint: route.endpoint, method, path })
    return
  }
  const { endpoint, params } = route
  open(server, endpoint, { method, path, query: req.getQuery() ?? '', params }, head, res)
}

function open(
  server: ServerState,
  endpoint: Endpoint,
  target: RequestTarget,
  head: ReadHead,
  res: NativeResponse,
): void {
  const admitted = admit(server, endpoint, target, head)
  if (admitted instanceof ServingError) {
    const { method, path } = target
    refuse(server, res, head, admitted, { endpoint, method, path })
  } else new UwsSocket(server, admitted, res, head.clientCloses, !turn.add()).begin()
}

/** Requests above the limit of a turn are answered in the next one: uWebSockets.js closes connections that pipeline. */
const turn = new TurnCounter(1024)

function refuse(
  server: ServerState,
  res: NativeResponse,
  { headers, declared, fault }: ReadHead,
  error: ServingError,
  request: Pick<RefusedRequest, 'endpoint' | 'method' | 'path'>,
): void {
  const isHead = request.method === 'HEAD'
  const peer = () => addressOf(res)
  const response = refusalOf(server, fault ?? error, { ...request, headers, peer })
  const close = mustClose(server, declared)
  if (close && declared !== 0) {
    new UploadDrain(res, response, fault && uploadDrain.faultTimeMs).start(isHead)
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
