/**
 * Runs services with live streams and talks to them by the `ws` package and by plain sockets.
 * @module
 */
import { once } from 'node:events'
import { type ClientOptions, WebSocket } from 'ws'
import { bothEngines } from '../engines.ts'
import type { Answer, Raw, Running } from '../http/harness.ts'
import { upgradeText } from './frames.ts'

export { Bytes, deferred, post, start, turns } from '../http/harness.ts'
export { frame, upgradeText as upgradeRequest } from './frames.ts'

/** The engines that have live streams. */
export const liveEngines = bothEngines

/** The subprotocol with control messages. */
export const framed = 'serving.v1'

/** What a client received: text as string, binary as bytes. */
export type Received = string | Buffer

/** A client that keeps what it received. */
export class LiveClient {
  readonly socket: WebSocket
  readonly received: Received[] = []
  /** Resolves to the code and reason of the close. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>
  #isClosed = false
  #waiting: (() => void)[] = []

  constructor(socket: WebSocket) {
    this.socket = socket
    socket.on('message', (data: Buffer, isBinary) => {
      this.received.push(isBinary ? data : data.toString())
      this.#notify()
    })
    this.closed = new Promise((resolve) => {
      socket.on('close', (code, reason) => {
        this.#isClosed = true
        this.#notify()
        resolve({ code, reason: reason.toString() })
      })
    })
    // The code of the close tells it.
    socket.on('error', () => {})
  }

  send(message: string | Uint8Array): void {
    this.socket.send(message)
  }

  /** Takes the next message; control messages as objects. */
  async next(): Promise<Received> {
    while (this.received.length === 0) {
      if (this.#isClosed) throw new Error('the stream was closed before its next message')
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
    return this.received.shift() as Received
  }

  async control(): Promise<Record<string, unknown>> {
    return JSON.parse(String(await this.next()))
  }

  #notify(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}

/** Opens a live stream. */
export async function openLive(
  { port }: Pick<Running, 'port'>,
  path: string,
  protocols: string | readonly string[] = [],
  options: ClientOptions = {},
): Promise<LiveClient> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, [...[protocols].flat()], {
    perMessageDeflate: false,
    ...options,
  })
  const client = new LiveClient(socket)
  await once(socket, 'open')
  return client
}

/** Asks for a live stream that is refused, and returns the answer. */
export async function refusal(
  running: Running,
  path: string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return running.ask(upgradeText(path, headers))
}

/** Opens a live stream on a plain socket, which reads nothing by itself afterwards. */
export async function openRaw(
  running: Running,
  path: string,
  headers: Record<string, string> = {},
): Promise<Raw> {
  const raw = await running.connect()
  raw.write(upgradeText(path, headers))
  await raw.until('\r\n\r\n')
  return raw
}
