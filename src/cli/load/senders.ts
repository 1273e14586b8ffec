/** What sends requests, of loads and of replays: over HTTP/1.1, gRPC and WebSockets. @module */
import http from 'node:http'
import { type ClientHttp2Session, connect } from 'node:http2'
import https from 'node:https'
import { Limiter } from '../../core/memory/limiter.ts'
import { within } from '../../core/promise.ts'
import { WebSocket } from '../../core/web-socket.ts'
import { callUnary } from '../../messages/unary-call.ts'

/** A request: of HTTP by POST unless it says otherwise; over gRPC and live streams, the body is one message. */
export interface Outgoing {
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array | undefined
  /** When a capture has it. **Units**: milliseconds since 1970. */
  readonly atMs?: number
}

/** What came of a request. */
export interface Answer {
  /** What came instead of a right answer, such as `503`. */
  readonly fault?: string | undefined
  /** Its media type, over HTTP. */
  readonly type?: string | undefined
  readonly body?: Buffer | undefined
  /** Of an error of gRPC, a google.rpc.Status in base64. */
  readonly details?: unknown
}

/** Flags of the commands that send. */
export interface SenderFlags {
  /** In place of those of requests. */
  readonly header?: Readonly<Record<string, string>>
  /** At most so many at once; further requests wait, and their time counts. */
  readonly connections: number
  /** Of one request. **Units**: seconds. */
  readonly timeout: number
}

/** A request under way. An AbortSignal would take half as much CPU as the request. */
interface Call {
  isLate: boolean
  /** Ends it early. */
  end(): void
}

/** The connections to an address. */
interface Connections {
  /** @throws why there is no answer. */
  ask(request: Outgoing, call: Call): Promise<Answer>
  close(): void
}

/** An answer is right if its status is 2xx and it comes whole. */
function openHttp(url: URL, { header, connections }: SenderFlags): Connections {
  const { Agent, request: open } = url.protocol === 'https:' ? https : http
  const agent = new Agent({ keepAlive: true, maxFreeSockets: connections })
  return {
    ask: ({ body, headers, ...options }, call) =>
      new Promise((resolve, reject) => {
        const sent = { method: 'POST', ...options, headers: { ...headers, ...header }, agent }
        const request = open(url, sent, (response) => {
          const { statusCode: status = 0 } = response
          const { 'content-type': type } = response.headers
          const fault = status < 300 ? undefined : String(status)
          const pieces: Buffer[] = []
          response.on('data', (piece) => pieces.push(piece)).on('error', reject)
          response.on('end', () => resolve({ fault, type, body: Buffer.concat(pieces) }))
        })
        request.on('error', reject).end(body)
        call.end = () => request.destroy()
      }),
    close: () => agent.destroy(),
  }
}

/** Calls of one HTTP/2 connection; servers allow that many at least. */
const callsOfConnection = 100
const noMessage = new Uint8Array(0)

/** Unary calls of the method of an address, such as `grpc://host:9000/a.Service/Method`. */
function openGrpc(url: URL, { header, connections }: SenderFlags): Connections {
  const sessions: ClientHttp2Session[] = Array(Math.ceil(connections / callsOfConnection))
  const origin = url.href.replace('grpc', 'http')
  let turn = 0
  return {
    async ask({ body: bytes = noMessage }, call) {
      const at = turn++ % sessions.length
      // Each call has the error, too.
      if (sessions[at]?.closed !== false)
        sessions[at] = connect(origin).on('error', () => delete sessions[at])
      const ending = new AbortController()
      call.end = () => ending.abort()
      const answer = callUnary(sessions[at], url.pathname, { bytes }, header, ending.signal)
      const { fields, message: body } = await answer
      const { 'grpc-status': code, 'grpc-status-details-bin': details } = fields
      return { fault: code === '0' ? undefined : `grpc-status ${code}`, details, body }
    },
    close() {
      for (const session of sessions) session?.destroy()
    },
  }
}

/** Messages on WebSockets, each answered by one. */
function openLive(url: URL, { header: headers }: SenderFlags): Connections {
  const idle = new Set<WebSocket>()
  return {
    ask: ({ headers: { 'content-type': type } = {}, body = noMessage }, call) =>
      new Promise((resolve, reject) => {
        const [socket = new WebSocket(url, { headers })] = idle
        idle.delete(socket)
        const send = () => socket.send(body, { binary: !/^text\/|[/+]json\b/.test(type) })
        socket.onopen = send
        socket.onmessage = () => {
          idle.add(socket)
          resolve({})
        }
        socket.onerror = ({ error }) => reject(error)
        socket.onclose = ({ code }) => {
          idle.delete(socket)
          reject(new Error(`closed ${code}`))
        }
        // An answer that comes later would count for the next message: the connection ends.
        call.end = () => socket.terminate()
        if (socket.readyState === WebSocket.OPEN) send()
      }),
    close() {
      for (const socket of idle) socket.terminate()
    },
  }
}

const openers: Readonly<Record<string, typeof openHttp>> = {
  'http:': openHttp,
  'https:': openHttp,
  'grpc:': openGrpc,
  'grpcs:': openGrpc,
  'ws:': openLive,
  'wss:': openLive,
}

/** The schemes of addresses. */
export const schemes = Object.keys(openers)

/** @returns what sends requests to an address with one of {@link schemes}. `send` never rejects. */
export function openSender(url: URL, flags: SenderFlags) {
  const { ask, close } = openers[url.protocol](url, flags)
  const limiter = new Limiter(flags.connections)
  const send = async (request: Outgoing): Promise<Answer> => {
    const call: Call = { isLate: false, end: () => {} }
    const answer = limiter.run(async () => (call.isLate ? late : ask(request, call)))
    const first = await within(answer.catch(faultOf), flags.timeout * 1000, late)
    call.isLate = first === late
    if (call.isLate) call.end()
    return first
  }
  return { send, close }
}

const late: Answer = { fault: 'timeout' }

/** The code of an error of the system, if it has one. */
const faultOf = ({ code, message }: NodeJS.ErrnoException) => ({ fault: code ?? message })
