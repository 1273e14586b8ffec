/** Live streams on uWebSockets.js. @module */

import { noParams } from '../../api/visit.ts'
import { isPromise } from '../../core/promise.ts'
import { allHeaders, type HttpResponse } from '../../http/message.ts'
import type { LiveListener, LiveSocket } from '../../live/live-socket.ts'
import type { LiveEndpoint } from '../../live/live-streams.ts'
import { refusalOf } from '../admission.ts'
import type { ServerState } from '../engine.ts'
import { HeaderReader } from '../header-reader.ts'
import { LiveCall } from '../live-call.ts'
import type {
  App,
  NativeRequest,
  NativeResponse,
  NativeSocketContext,
  NativeWebSocket,
} from './uws-package.ts'
import { addressOf, failed, sendText } from './uws-socket.ts'

/** What a native WebSocket carries. */
interface LiveData {
  readonly listener: LiveListener
}

/** uWebSockets.js copies the members to the socket, where they are read without a call into it. */
function listenerOf(socket: unknown): LiveListener {
  return (socket as LiveData).listener
}

// Longer messages are cut off without a close code: the session refuses those that are only a little too long.
const overlongBytes = 64 * 1024
// Room for control messages above `maxBuffered`; what comes above this is dropped, as answers to a flood of pings.
const controlBytes = 16 * 1024
// Above the bounds of `idleTimeout`: the session has its own. uWebSockets.js ends the process for 1 to 7.
const nativeIdleSeconds = 960

/** Adds the paths of live streams to an app. */
export function addLiveRoutes(app: App, server: ServerState): void {
  for (const endpoint of server.lives.endpoints) {
    const { maxMessage, maxBuffered } = endpoint.route
    app.ws<LiveData>(endpoint.path, {
      maxPayloadLength: maxMessage + overlongBytes,
      maxBackpressure: maxBuffered + controlBytes,
      idleTimeout: nativeIdleSeconds,
      sendPingsAutomatically: false,
      upgrade(res, req, context) {
        try {
          upgrade(server, endpoint, res, req, context)
        } catch (error) {
          failed(server, res, error)
        }
      },
      open: (ws) => listenerOf(ws).open(new UwsLiveSocket(ws)),
      message: (ws, message, isBinary) =>
        listenerOf(ws).message(new Uint8Array(message), !isBinary),
      drain: (ws) => listenerOf(ws).drained(),
      ping: (ws) => listenerOf(ws).heard(),
      pong: (ws) => listenerOf(ws).heard(),
      close: (ws) => listenerOf(ws).closed(),
    })
  }
}

function upgrade(
  server: ServerState,
  endpoint: LiveEndpoint,
  res: NativeResponse,
  req: NativeRequest,
  context: NativeSocketContext,
): void {
  const { headers, fault } = new HeaderReader(allHeaders).read(req)
  const target = {
    method: 'GET',
    path: endpoint.path,
    query: req.getQuery() ?? '',
    params: noParams,
  }
  // Read now: the response is gone once it is upgraded.
  const address = addressOf(res)
  const peer = () => address
  if (fault !== undefined) {
    sendText(res, refusalOf(server, fault, { endpoint, ...target, headers, peer }), false, true)
    return
  }
  const key = req.getHeader('sec-websocket-key')
  const extensions = req.getHeader('sec-websocket-extensions')
  const call = new LiveCall(server, { endpoint, target, headers, peer })
  const answer = (refusal: HttpResponse | undefined) => {
    if (refusal !== undefined) {
      sendText(res, refusal, false, false)
      return
    }
    res.writeStatus('101 Switching Protocols')
    for (const [name, value] of call.headers) res.writeHeader(name, value)
    call.accepted()
    res.upgrade<LiveData>({ listener: call.session }, key, call.protocol ?? '', extensions, context)
  }
  const refusal = call.admit()
  if (!isPromise(refusal)) {
    answer(refusal)
    return
  }
  let isGone = false
  res.onAborted(() => {
    isGone = true
    call.left()
  })
  Promise.resolve(refusal)
    .then((later) => {
      if (!isGone) res.cork(() => answer(later))
    })
    .catch((error) => failed(server, res, error))
}

class UwsLiveSocket implements LiveSocket {
  readonly copies = true
  readonly #ws: NativeWebSocket<LiveData>

  constructor(ws: NativeWebSocket<LiveData>) {
    this.#ws = ws
  }

  send(message: string | Uint8Array): boolean {
    const status = this.#ws.send(message, typeof message !== 'string')
    // 2: dropped, since more than `maxBackpressure` is unread; 1: nothing is.
    if (status === 2) this.#ws.close()
    return status === 1
  }

  buffered(): number {
    return this.#ws.getBufferedAmount()
  }

  ping(): void {
    this.#ws.ping()
  }

  close(code: number, reason: string): void {
    this.#ws.end(code, reason)
  }

  terminate(): void {
    this.#ws.close()
  }
}
