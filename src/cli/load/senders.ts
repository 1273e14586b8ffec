/** What sends requests, of loads and of replays: over HTTP/1.1, gRPC and WebSockets. @module */
import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import { connect } from 'node:http2'
import https from 'node:https'
import { Limiter } from '../../core/memory/limiter.ts'
import { within } from '../../core/promise.ts'
import { WebSocket } from '../../core/web-socket.ts'
import { collectBody } from '../../http/message.ts'
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
  readonly body?: Uint8Array | undefined
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

/** A connection. It sends one request at a time. */
interface Connection {
  /** @throws why there is no answer. */
  ask(request: Outgoing): Promise<Answer>
  isClosed(): boolean
  /** Ends the request that is under way, too. */
  close(): void
}

/** An answer is right if its status is 2xx and it comes whole. */
function openHttp(url: URL, header: SenderFlags['header']): Connection {
  const { Agent, request: open } = url.protocol === 'https:' ? https : http
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return {
    async ask({ body, headers, ...options }) {
      const sent = { method: 'POST', ...options, headers: { ...headers, ...header }, agent }
      const request = open(url, sent).on('error', ignore).end(body)
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      const { statusCode: status = 0, headers: received } = response
      const fault = status < 300 ? undefined : String(status)
      return { fault, type: received['content-type'], body: await collectBody(response) }
    },
    isClosed: () => false,
    close: () => agent.destroy(),
  }
}

const noMessage = new Uint8Array(0)

/** Unary calls of the method of an address, such as `grpc://host:9000/a.Service/Method`. */
function openGrpc(url: URL, header: SenderFlags['header']): Connection {
  // Calls have the error, too.
  const session = connect(url.href.replace('grpc', 'http')).on('error', ignore)
  return {
    async ask({ body: bytes = noMessage }) {
      const answer = await callUnary(session, url.pathname, { bytes }, header)
      const { 'grpc-status': code, 'grpc-status-details-bin': details } = answer.fields
      const fault = code === '0' ? undefined : `grpc-status ${code}`
      return { fault, details, body: answer.message }
    },
    isClosed: () => session.closed,
    close: () => session.destroy(),
  }
}

/** Messages on a WebSocket, each answered by one. */
function openLive(url: URL, headers: SenderFlags['header']): Connection {
  const socket = new WebSocket(url, { headers }).on('error', ignore)
  // What waits for an answer fails.
  socket.on('close', (code) => socket.emit('error', new Error(`closed ${code}`)))
  return {
    async ask({ headers: { 'content-type': type } = {}, body = noMessage }) {
      if (socket.readyState === WebSocket.CONNECTING) await once(socket, 'open')
      socket.send(body, { binary: !/^text\/|[/+]json\b/.test(type) })
      await once(socket, 'message')
      return {}
    },
    isClosed: () => socket.readyState > WebSocket.OPEN,
    close: () => socket.terminate(),
  }
}

/** Errors also reject what waits. */
function ignore(): void {}

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
export function openSender(url: URL, { header, connections, timeout }: SenderFlags) {
  const open = openers[url.protocol]
  const limiter = new Limiter(connections)
  const idle: Connection[] = []
  const send = async (request: Outgoing): Promise<Answer> => {
    let isOver = false
    let used: Connection | undefined
    const ask = async () => {
      if (isOver) return late
      do used = idle.pop() ?? open(url, header)
      while (used.isClosed())
      const answer = await used.ask(request)
      if (!isOver) {
        idle.push(used)
        used = undefined
      }
      return answer
    }
    const answer = await within(limiter.run(ask).catch(faultOf), timeout * 1000, late)
    isOver = true
    // Of a call that failed. A late answer would count for the next one.
    used?.close()
    return answer
  }
  const close = () => {
    for (const connection of idle) connection.close()
  }
  return { send, close }
}

const late: Answer = { fault: 'timeout' }

/** The code of an error of the system, if it has one. */
const faultOf = ({ code, message }: NodeJS.ErrnoException) => ({ fault: code ?? message })
