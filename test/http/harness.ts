/**
 * Runs a service on an engine and talks to it over plain sockets, so that tests see every byte.
 * @module
 */
import { connect, type Socket } from 'node:net'
import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import { IODescriptor } from '../../src/descriptors/descriptor.ts'
import type { EngineName, Listener, ServeOptions } from '../../src/engine/options.ts'
import type { HeaderLine, HttpRequest, HttpResponse, ResponseBody } from '../../src/http/message.ts'
import { serveFrom } from '../../src/server/listener.ts'
import { Service } from '../../src/service.ts'
import type { ServiceOptions } from '../../src/service-options.ts'
import type { CallRecorder } from '../../src/telemetry/calls/call-recorder.ts'

export { bothEngines, engines } from '../engines.ts'

/** Bytes in, bytes out: the smallest custom descriptor, with a content-length. */
export class Bytes extends IODescriptor<Uint8Array, ResponseBody> {
  readonly mimeType = 'application/octet-stream'
  override readonly readsHeaders: readonly string[] = []
  readonly #headers: readonly HeaderLine[]

  constructor(headers: readonly HeaderLine[] = [['content-type', 'application/octet-stream']]) {
    super()
    this.#headers = headers
  }

  fromHttpRequest(request: HttpRequest): Uint8Array {
    return request.body
  }

  toHttpResponse(body: ResponseBody): HttpResponse {
    return { headers: this.#headers, body }
  }
}

export const bytes = { input: new Bytes(), output: new Bytes() }

export interface Running {
  readonly port: number
  readonly listener: Listener
  /** Parsed log lines so far. */
  readonly log: Record<string, unknown>[]
  connect(): Promise<Raw>
  /** Sends one request on a connection of its own and returns the response. */
  ask(request: string | Uint8Array): Promise<Answer>
  /** Leaves the closing of a listener that cannot close cleanly to its test. */
  forget(): void
}

/** Serves on a free port of the loopback address until the test is over. */
export async function start(
  engine: EngineName,
  define: (svc: Service) => void,
  options: ServeOptions = {},
  serviceOptions: ServiceOptions = {},
  recorder?: CallRecorder,
): Promise<Running> {
  const svc = new Service('tested', serviceOptions)
  define(svc)
  const log: Record<string, unknown>[] = []
  const logger = pino(
    { level: 'debug' },
    { write: (line: string) => void log.push(JSON.parse(line)) },
  )
  const settings = { port: 0, host: '127.0.0.1', engine, logger, drainTimeoutMs: 0, ...options }
  const listener = await serveFrom(svc, settings, undefined, undefined, recorder)
  const sockets: Raw[] = []
  let isForgotten = false
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    if (!isForgotten) await listener.close()
  })
  const open = async () => {
    const raw = await Raw.connect(listener.port)
    sockets.push(raw)
    return raw
  }
  return {
    port: listener.port,
    listener,
    log,
    connect: open,
    forget: () => {
      isForgotten = true
    },
    async ask(request) {
      const raw = await open()
      raw.write(request)
      return raw.answer(String(request).startsWith('HEAD '))
    },
  }
}

/** Returns a request as text; a body gets its content-length unless the headers frame it. */
export function post(
  path: string,
  body = '',
  headers: Record<string, string> = {},
  method = 'POST',
): string {
  const framed = Object.keys(headers).some((name) =>
    /^(content-length|transfer-encoding)$/i.test(name),
  )
  const lines = {
    host: 'test',
    ...(framed ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
    ...headers,
  }
  const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${head.join('')}\r\n${body}`
}

/** Returns a body as one chunk a piece. */
export function chunked(...pieces: string[]): string {
  return `${pieces.map((piece) => `${Buffer.byteLength(piece).toString(16)}\r\n${piece}\r\n`).join('')}0\r\n\r\n`
}

/** A parsed response. */
export interface Answer {
  readonly status: number
  readonly headers: Map<string, string[]>
  readonly body: Buffer
  readonly text: string
  readonly head: string
}

/** A client socket that keeps what it received. */
export class Raw {
  readonly socket: Socket
  /** Resolves to the error code of the close, `` for an orderly one. */
  readonly closed: Promise<string>
  #received = Buffer.alloc(0)
  #waiting: (() => void)[] = []
  isClosed = false

  private constructor(socket: Socket) {
    this.socket = socket
    let code = ''
    socket.on('error', (error: NodeJS.ErrnoException) => {
      code = error.code ?? 'error'
    })
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        this.isClosed = true
        this.#notify()
        resolve(code)
      })
    })
    socket.on('data', (data) => {
      this.#received = Buffer.concat([this.#received, data])
      this.#notify()
    })
  }

  static connect(port: number): Promise<Raw> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true })
      socket.once('error', reject)
      socket.once('connect', () => {
        socket.off('error', reject)
        resolve(new Raw(socket))
      })
    })
  }

  get received(): string {
    return this.#received.toString('latin1')
  }

  write(data: string | Uint8Array): void {
    this.socket.write(data)
  }

  /** Writes and lets the event loop deliver it before anything else is written. */
  async writeAlone(data: string | Uint8Array): Promise<void> {
    await new Promise<void>((resolve) => this.socket.write(data, () => resolve()))
    await turns(2)
  }

  /** Waits until the received text holds `part`. */
  async until(part: string): Promise<void> {
    await this.#when(() => this.received.includes(part))
  }

  /** Takes the next response off the stream; rejects when the connection closes before it is complete. */
  async answer(headOnly = false): Promise<Answer> {
    let parsed: { answer: Answer; length: number } | undefined
    await this.#when(() => {
      parsed = parseAnswer(this.#received, this.isClosed, headOnly)
      return parsed !== undefined
    })
    const { answer, length } = parsed!
    this.#received = this.#received.subarray(length)
    return answer
  }

  destroy(): void {
    this.socket.destroy()
  }

  async #when(ready: () => boolean): Promise<void> {
    while (!ready()) {
      if (this.isClosed)
        throw new Error(`closed after ${JSON.stringify(this.received.slice(0, 400))}`)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  #notify(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}

function parseAnswer(
  data: Buffer,
  atEnd: boolean,
  headOnly: boolean,
): { answer: Answer; length: number } | undefined {
  const split = data.indexOf('\r\n\r\n')
  if (split === -1) return undefined
  const head = data.subarray(0, split).toString('latin1')
  const [first, ...lines] = head.split('\r\n')
  const status = Number(first.split(' ')[1])
  if (status === 100) {
    const rest = parseAnswer(data.subarray(split + 4), atEnd, headOnly)
    return rest && { answer: rest.answer, length: rest.length + split + 4 }
  }
  const headers = new Map<string, string[]>()
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    headers.set(name, [...(headers.get(name) ?? []), line.slice(colon + 1).trim()])
  }
  const rest = data.subarray(split + 4)
  const finish = (body: Buffer, length: number) => ({
    answer: { status, headers, body, text: body.toString('utf8'), head },
    length: split + 4 + length,
  })
  if (headOnly || status === 204 || status === 304) return finish(Buffer.alloc(0), 0)
  const length = headers.get('content-length')?.[0]
  if (length !== undefined) {
    return rest.length < Number(length)
      ? undefined
      : finish(rest.subarray(0, Number(length)), Number(length))
  }
  if (headers.get('transfer-encoding')?.[0] !== 'chunked')
    return atEnd ? finish(rest, rest.length) : undefined
  const pieces: Buffer[] = []
  for (let at = 0; ; ) {
    const end = rest.indexOf('\r\n', at)
    if (end === -1) return undefined
    const size = Number.parseInt(rest.subarray(at, end).toString(), 16)
    if (!(size >= 0))
      throw new Error(
        `bad chunk at ${at}: ${JSON.stringify(rest.subarray(at, at + 60).toString('latin1'))}`,
      )
    const next = end + 2 + size + 2
    if (rest.length < next) return undefined
    if (size === 0) return finish(Buffer.concat(pieces), next)
    pieces.push(rest.subarray(end + 2, end + 2 + size))
    at = next
  }
}

/** Lets the event loop go round, so that sockets of this process deliver what they have. */
export async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise<void>((resolve) => setImmediate(resolve))
}

/** Resolves in the first turn of the event loop in which `ready` says so. */
export async function until(ready: () => boolean): Promise<void> {
  while (!ready()) await turns(1)
}

/** Returns a promise with its resolve, for handlers that wait for the test. */
export function deferred<T = void>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let settle: (value: T) => void = () => {}
  const promise = new Promise<T>((resolve) => {
    settle = resolve
  })
  return { promise, resolve: settle }
}
