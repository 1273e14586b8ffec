/** What sends requests, of loads and of replays: over HTTP/1.1, gRPC and WebSockets. @module */
import http from 'node:http'
import { type ClientHttp2Session, connect } from 'node:http2'
import https from 'node:https'
import type { CapturedRequest } from '../../capture/captured-body.ts'
import { WebSocket } from '../../core/web-socket.ts'
import { callUnary } from '../../messages/unary-call.ts'

/** A request: of HTTP by POST unless it says otherwise; over gRPC and live streams, the body is one message. */
export interface Outgoing extends Partial<CapturedRequest> {
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

/** The connections to an address. */
interface Exchanges {
  /** Begins an exchange, and returns what ends it early. */
  start(request: Outgoing, settle: Settle, fail: (error: Error) => void): () => void
  close(): void
}

type Settle = (answer: Answer) => void

/** An answer is right if its status is 2xx and it comes whole. */
function openHttp(url: URL, { header, connections }: SenderFlags): Exchanges {
  const { Agent, request: open } = url.protocol === 'https:' ? https : http
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  return {
    start({ body, ...options }, settle, fail) {
      const headers = { ...options.headers, ...header }
      const sent = { method: 'POST', ...options, headers, agent }
      const request = open(url, sent, (response) => {
        const { statusCode: status = 0 } = response
        const { 'content-type': type } = response.headers
        const fault = status < 300 ? undefined : String(status)
        const pieces: Buffer[] = []
        response.on('data', (piece) => pieces.push(piece)).on('error', fail)
        response.on('end', () => settle({ fault, type, body: Buffer.concat(pieces) }))
      })
      request.on('error', fail).end(body)
      return () => request.destroy()
    },
    close: () => agent.destroy(),
  }
}

/** Calls of one HTTP/2 connection; servers allow that many at least. */
const callsOfConnection = 100
const noMessage = new Uint8Array(0)

/** Unary calls of the method of an address, such as `grpc://host:9000/a.Service/Method`. */
function openGrpc(url: URL, { header, connections }: SenderFlags): Exchanges {
  const sessions: ClientHttp2Session[] = Array(Math.ceil(connections / callsOfConnection))
  const origin = url.href.replace('grpc', 'http')
  let turn = 0
  return {
    start({ body: bytes = noMessage }, settle, fail) {
      const at = turn++ % sessions.length
      // Each call has the error, too.
      if (sessions[at]?.closed !== false)
        sessions[at] = connect(origin).on('error', () => delete sessions[at])
      const ending = new AbortController()
      callUnary(sessions[at], url.pathname, { bytes }, header, ending.signal).then((answer) => {
        const { 'grpc-status': code, 'grpc-status-details-bin': details } = answer.fields
        const fault = code === '0' ? undefined : `grpc-status ${code}`
        settle({ fault, details, body: answer.message })
      }, fail)
      return () => ending.abort()
    },
    close() {
      for (const session of sessions) session?.destroy()
    },
  }
}

/** Messages on WebSockets, each answered by one. */
function openLive(url: URL, { header: headers, connections }: SenderFlags): Exchanges {
  const open = () => {
    const waiting: Settle[] = []
    const socket = new WebSocket(url, { headers }).setMaxListeners(0)
    socket.on('message', () => waiting.shift()?.({}))
    // That it has closed comes next.
    socket.on('error', () => {})
    socket.on('close', (code) => {
      for (const settle of waiting) settle({ fault: `closed ${code}` })
    })
    return { socket, waiting }
  }
  const pool: ReturnType<typeof open>[] = []
  let turn = 0
  return {
    start({ headers: { 'content-type': type } = {}, body = noMessage }, settle) {
      const at = turn++ % connections
      if (!(pool[at]?.socket.readyState <= WebSocket.OPEN)) pool[at] = open()
      const { socket, waiting } = pool[at]
      const send = () => socket.send(body, { binary: !/^text\/|[/+]json\b/.test(type) })
      waiting.push(settle)
      if (socket.readyState === WebSocket.OPEN) send()
      else socket.once('open', send)
      // An answer that comes later would count for the next message: the connection ends.
      return () => socket.close()
    },
    close() {
      for (const { socket } of pool) socket.close()
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
  const { start, close } = openers[url.protocol](url, flags)
  const send = (request: Outgoing): Promise<Answer> => {
    let timer: NodeJS.Timeout | undefined
    const answer = new Promise<Answer>((resolve, reject) => {
      const end = start(request, resolve, reject)
      timer = setTimeout(() => {
        resolve({ fault: 'timeout' })
        end()
      }, flags.timeout * 1000)
    })
    return answer.catch(faultOf).finally(() => clearTimeout(timer))
  }
  return { send, close }
}

/** The code of an error of the system, if it has one. */
const faultOf = ({ code, message }: NodeJS.ErrnoException) => ({ fault: code ?? message })
