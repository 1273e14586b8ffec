/**
 * The engine without sockets: a request in memory goes through the same router, admission and exchange as one from a
 * socket.
 * @module
 */

import type { InjectRequest, InjectResponse } from '../api/inject.ts'
import { expected, InvalidArgument, type ServingError } from '../core/errors.ts'
import { checkOptions } from '../core/options.ts'
import { deferred } from '../core/promise.ts'
import { admit, timeoutOf } from '../engine/admission.ts'
import type { ExchangeSocket, ServerState } from '../engine/engine.ts'
import { Exchange } from '../engine/exchange.ts'
import { type IncomingRequest, refusalOf } from '../engine/incoming-request.ts'
import { silentLogger } from '../engine/log.ts'
import { headLines } from '../engine/node/node-socket.ts'
import { type Limits, parseDisclosure, parseLimits } from '../engine/options.ts'
import { parseBaseUrl, pathOf } from '../engine/router.ts'
import { Context } from '../http/context.ts'
import { type Chunk, HeaderList, type HttpResponse } from '../http/message.ts'
import { isBodyless } from '../http/response-head.ts'
import type { ServedService } from './served-service.ts'
import { createServerState } from './server-state.ts'

/** How {@link inject} serves. */
export interface InjectOptions extends Partial<Limits> {
  /**
   * Path in front of every API.
   *
   * @default `/`
   */
  readonly baseUrl?: string
}

/**
 * Answers a request as `serve` would, without a socket. If functions need startup hooks or Runners,
 * start the service first.
 *
 * @throws InvalidArgument for a wrong request or option; an Error when a stream breaks off.
 * @example
 * `const response = await inject(service, { path: '/double', body: [1, 2] })`
 */
export async function inject(
  service: ServedService,
  request: InjectRequest,
  { baseUrl = '/', ...limits }: InjectOptions = {},
): Promise<InjectResponse> {
  checkOptions('inject', request, ['path', 'method', 'headers', 'body'])
  if (typeof request.path !== 'string')
    throw new InvalidArgument(expected('a string', 'path of inject', request.path))
  const failures: Error[] = []
  const server = await serverInMemory(
    service,
    parseLimits(limits),
    parseBaseUrl(baseUrl),
    (error) => failures.push(error),
  )
  const { bytes, contentType } = await bodyOf(request.body)
  const headers = headersOf(request, bytes, contentType)
  return answer(server, request, headers, bytes ?? new Uint8Array(0), failures)
}

/**
 * `onFailure`: told what others log.
 *
 * @returns the state of a server that is ready.
 */
export async function serverInMemory(
  service: ServedService,
  limits: Limits,
  prefix: string,
  onFailure: (error: Error) => void,
) {
  const server = await createServerState(
    service,
    limits,
    prefix,
    silentLogger(onFailure),
    parseDisclosure({}),
  )
  server.health.state = 'ready'
  return server
}

function answer(
  server: ServerState,
  { path: url, body: given, method = given === undefined ? 'GET' : 'POST' }: InjectRequest,
  headers: HeaderList,
  bytes: Uint8Array,
  failures: readonly Error[],
): Promise<InjectResponse> {
  const mark = url.indexOf('?')
  const path = pathOf(mark === -1 ? url : url.slice(0, mark))
  const query = mark === -1 ? '' : url.slice(mark + 1)
  const body = { declared: bytes.length, encoding: '' }
  const route = server.router.resolve(method, path)
  const refusal = 'error' in route ? route.error : admit(server, route.endpoint, body, headers)
  if ('error' in route || refusal !== undefined) {
    const { endpoint } = route
    const peer = () => undefined
    const response = refusalOf(server, refusal as ServingError, {
      endpoint,
      method,
      path,
      headers,
      peer,
    })
    const text = method === 'HEAD' ? '' : (response.body as string)
    return Promise.resolve(collected(response, headLines(response, undefined, false), [text]))
  }
  const { endpoint, params } = route
  const ctx = new Context({ headers, query, timeoutMs: timeoutOf(server, endpoint, headers) })
  const socket = new MemorySocket(
    server,
    { endpoint, target: { method, path, query, params }, ctx, body },
    failures,
  )
  socket.exchange.begin(() => socket.exchange.receive(bytes, true, false))
  return socket.response
}

/** Collects the answer of an exchange. `failures`: what the log got, to explain an answer that breaks off. */
export class MemorySocket implements ExchangeSocket {
  readonly answersLater = false
  readonly copies = true
  readonly exchange: Exchange
  readonly #response = deferred<InjectResponse>()
  readonly response = this.#response.promise
  readonly #failures: readonly Error[]
  readonly #pieces: Uint8Array[] = []
  #head: HttpResponse | undefined

  constructor(server: ServerState, request: IncomingRequest, failures: readonly Error[]) {
    this.#failures = failures
    this.exchange = new Exchange(server, request, this)
  }

  cork(writes: () => void): void {
    writes()
  }

  sendWhole(response: HttpResponse, body: Chunk): void {
    this.#head = response
    if (!this.exchange.isHead && !isBodyless(response.status ?? 200)) this.sendPiece(body)
    this.sendEnd()
  }

  sendHead(response: HttpResponse): void {
    this.#head = response
  }

  sendPiece(piece: Chunk): boolean {
    this.#pieces.push(Buffer.from(piece as Uint8Array))
    return true
  }

  sendSized(piece: Uint8Array, _: number, isLast: boolean): boolean {
    this.sendPiece(piece)
    if (isLast) this.sendEnd()
    return true
  }

  sendEnd(): void {
    const head = this.#head as HttpResponse
    const lines = headLines(head, this.exchange.ctx.clientId, false)
    this.exchange.finished()
    this.#response.resolve(collected(head, lines, this.#pieces))
  }

  /** Called for a body above `maxBodyBytes`: all of it is in memory, so nothing is left to drain. */
  sendAndDrain(response: HttpResponse): void {
    this.sendWhole(response, response.body as Chunk)
  }

  destroy(): void {
    this.#response.reject(
      new Error('the response broke off before its end', { cause: this.#failures[0] }),
    )
  }

  taken(): number {
    return 0
  }

  remoteAddress(): string | undefined {
    return undefined
  }

  pause(): void {}
  resume(): void {}
  detach(): void {}
}

/** @returns a response with all of its body. */
export function collected(
  { status = 200, error }: HttpResponse,
  lines: readonly string[],
  pieces: readonly Chunk[],
): InjectResponse {
  const body = Buffer.concat(pieces.map((piece) => Buffer.from(piece as Uint8Array)))
  const list = isBodyless(status) ? lines : [...lines, 'content-length', String(body.length)]
  const [names, values] = [0, 1].map((odd) => list.filter((_, i) => i % 2 === odd))
  const headers = new HeaderList(
    names.map((name) => name.toLowerCase()),
    values,
  )
  const text = () => body.toString()
  const json = () => {
    if (headers.get('content-type') !== 'application/x-ndjson') return JSON.parse(text())
    const lines = text().split('\n').slice(0, -1)
    return lines.map((line) => JSON.parse(line))
  }
  return { status, headers, body, error, text, json }
}

async function bodyOf(
  body: InjectRequest['body'],
): Promise<{ readonly bytes?: Uint8Array; readonly contentType?: string }> {
  if (body === undefined) return {}
  if (typeof body === 'string') return { bytes: Buffer.from(body) }
  if (body instanceof Uint8Array) return { bytes: Uint8Array.from(body) }
  if (body instanceof ArrayBuffer) return { bytes: new Uint8Array(body.slice(0)) }
  if (body instanceof FormData) {
    const form = new Response(body)
    // Before the body: Bun has no content-type once that is read.
    const contentType = form.headers.get('content-type') ?? ''
    return { bytes: new Uint8Array(await form.arrayBuffer()), contentType }
  }
  const text = JSON.stringify(body)
  if (text === undefined)
    throw new InvalidArgument(expected('a string, bytes, FormData or JSON', 'body of inject', body))
  return { bytes: Buffer.from(text), contentType: 'application/json' }
}

function headersOf(
  { headers = {} }: InjectRequest,
  bytes: Uint8Array | undefined,
  contentType: string | undefined,
): HeaderList {
  const own = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
  )
  return HeaderList.from({
    ...(contentType !== undefined && { 'content-type': contentType }),
    ...(bytes !== undefined && { 'content-length': String(bytes.length) }),
    ...own,
  })
}
