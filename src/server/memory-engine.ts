/**
 * The engine without sockets: a request in memory goes through the same router, admission and stages as one from a
 * socket.
 * @module
 */

import type { Endpoint } from '../api/endpoint.ts'
import type { InjectRequest, InjectResponse } from '../api/inject.ts'
import { expected, InternalError, InvalidArgument, ServingError } from '../core/errors.ts'
import { countedBytes } from '../core/memory/memory-budget.ts'
import { checkOptions } from '../core/options.ts'
import { admit, refusalByHooks, refusalOf } from '../engine/admission.ts'
import type { ServerState } from '../engine/engine.ts'
import { silentLogger } from '../engine/log.ts'
import { type Limits, parseDisclosure, parseLimits } from '../engine/options.ts'
import { parseBaseUrl, splitTarget } from '../engine/router.ts'
import { noPeer, ServedVisit } from '../engine/served-visit.ts'
import { answerWhole, collectAnswer, linesOf } from '../engine/whole-answer.ts'
import { noMemory } from '../http/limits.ts'
import {
  discardBody,
  type HeaderLine,
  HeaderList,
  HttpRequest,
  type HttpResponse,
  isChunk,
} from '../http/message.ts'
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
  const server = await serverInMemory(service, parseLimits(limits), parseBaseUrl(baseUrl))
  const { bytes, contentType } = await bodyOf(request.body)
  const headers = headersOf(request, bytes, contentType)
  return answer(server, request, headers, bytes ?? new Uint8Array(0))
}

/** @returns the state of a server that is ready, and logs nothing. */
export async function serverInMemory(service: ServedService, limits: Limits, prefix: string) {
  const log = silentLogger(() => {})
  const server = await createServerState(service, limits, prefix, log, parseDisclosure({}))
  server.health.state = 'ready'
  return server
}

async function answer(
  server: ServerState,
  { path: url, body: given, method = given === undefined ? 'GET' : 'POST' }: InjectRequest,
  headers: HeaderList,
  bytes: Uint8Array,
): Promise<InjectResponse> {
  const { path, query } = splitTarget(url)
  const route = server.router.resolve(method, path)
  const head = { headers, declared: bytes.length }
  const admitted =
    'error' in route
      ? route.error
      : admit(server, route.endpoint, { method, path, query, params: route.params }, head)
  const isHead = method === 'HEAD'
  if (admitted instanceof ServingError) {
    const peer = noPeer.remoteAddress
    const refused = { endpoint: route.endpoint, method, path, headers, peer }
    const response = refusalOf(server, admitted, refused)
    const text = isHead ? '' : (response.body as string)
    return collected(response, response.headers, Buffer.from(text))
  }
  const { endpoint, ctx } = admitted
  const visit = new ServedVisit(server, admitted, noPeer)
  visit.count()
  try {
    const first = await answered(visit, endpoint, new HttpRequest(headers, bytes))
    visit.recorder?.answered(first.status ?? 200)
    const response = hasRoom(visit, first) ? first : visit.problem(noMemory())
    const isSent = !isHead && !isBodyless(response.status ?? 200)
    if (!isSent) discardBody(response)
    const sent = (chunk: string | Uint8Array) => {
      visit.recorder?.sent(chunk)
      return true
    }
    const whole = isSent ? await collectAnswer(response, sent) : Buffer.alloc(0)
    return collected(response, linesOf(response, visit), whole)
  } catch (cause) {
    const error = new InternalError('the stream failed', { cause })
    visit.failed(error)
    ctx.abort()
    throw new Error('the response broke off before its end', { cause: error })
  } finally {
    visit.end(bytes.length)
  }
}

async function answered(
  visit: ServedVisit,
  endpoint: Endpoint,
  request: HttpRequest,
): Promise<HttpResponse> {
  const refusal = await refusalByHooks(visit, endpoint)
  if (refusal !== undefined) return visit.checked(endpoint.problem(refusal, visit.ctx.id))
  visit.recorder?.bodyComplete()
  return visit.checked(await answerWhole(visit, endpoint, request))
}

/** Whether the server has memory for an answer, if it is a large one. */
function hasRoom(visit: ServedVisit, { body }: HttpResponse): boolean {
  return !isChunk(body) || body.length < countedBytes || visit.reserve(body.length)
}

/** @returns a response with all of its body. */
export function collected(
  { status = 200, error }: HttpResponse,
  lines: readonly HeaderLine[],
  body: Buffer,
): InjectResponse {
  const length = ['content-length', String(body.length)] as const
  const all = isBodyless(status) ? lines : [...lines, length]
  const headers = HeaderList.of(all.map(([name, value]) => [name.toLowerCase(), value] as const))
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
