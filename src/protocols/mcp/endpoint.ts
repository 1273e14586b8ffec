/**
 * The Model Context Protocol: APIs as tools, over streamable HTTP.
 *
 * @see modelcontextprotocol.io.
 * @module
 */

import type { Endpoint } from '../../api/endpoint.ts'
import { beats, decodeFailureOf, endIterator, withDeadline } from '../../api/stages.ts'
import type { Visit } from '../../api/visit.ts'
import { BadInput, expected, ServingError, UnsupportedMediaType } from '../../core/errors.ts'
import { preferredType } from '../../http/accept.ts'
import type { Context } from '../../http/context.ts'
import { encodeEvent, eventHeaders, eventStream } from '../../http/event-stream.ts'
import { isJsonType, mediaTypeOf } from '../../http/media-type.ts'
import { allHeaders, type HeaderLine, type HttpResponse } from '../../http/message.ts'
import { problemHeaders } from '../../http/problem.ts'
import { constantHeaders, nosniff } from '../../http/response-head.ts'
import { type ClientMessage, readMessages, refusalMessage, type ServerMessage } from './messages.ts'
import { sessionHeader } from './running-calls.ts'
import { ToolServer, type ToolSource, versions } from './tool-server.ts'
import type { Tool } from './tools.ts'

/** The only version with batches. Clients speak it that send no version. */
const batchVersion = '2025-03-26'
const json = 'application/json'
const jsonHeaders = constantHeaders([['content-type', json], nosniff])
// Only a call may take long, and tell its progress.
const quickTypes = [json, eventStream]
const callTypes = [eventStream, json]

/**
 * Requests need no session, so that any worker answers any of them. `onLateError`: called for an
 * error that is told by a tool's result.
 *
 * @returns `/mcp`.
 */
export function mcpEndpoint(
  service: ToolSource,
  prefix: string,
  onLateError: (error: ServingError, requestId: string) => void,
): Endpoint {
  const server = new ToolServer(service, onLateError)
  const path = `${prefix}/mcp`
  return {
    name: path,
    path,
    access: { kind: 'message' },
    origins: 'same',
    methods: ['POST'],
    readsHeaders: allHeaders,
    isLimited: true,
    decompresses: true,
    problem,
    answer: async ({ body }, visit) => {
      try {
        checkType(visit.ctx)
        return await respond(server, body, visit)
      } catch (error) {
        return problem(decodeFailureOf(error), visit.ctx.id)
      }
    },
  }
}

function problem(error: ServingError, requestId: string): HttpResponse {
  const body = JSON.stringify(refusalMessage(error, requestId))
  return { status: error.status, headers: problemHeaders(error, requestId, json), body, error }
}

/** @throws UnsupportedMediaType. */
function checkType({ headers }: Context): void {
  const given = headers.get('content-type')
  const type = given === undefined ? undefined : mediaTypeOf(given)
  // A page may send other types to any server.
  if (type === undefined || !isJsonType(type))
    throw new UnsupportedMediaType(expected(json, 'content-type', given?.slice(0, 80)))
}

type Tools = readonly Tool[] | ServingError

async function respond(server: ToolServer, body: Uint8Array, visit: Visit): Promise<HttpResponse> {
  const { ctx } = visit
  const { headers } = ctx
  const { messages, isBatch } = readMessages(body)
  const version = headers.get('mcp-protocol-version')
  const begins = messages.some(({ method }) => method === 'initialize')
  if (version !== undefined && !begins && !versions.includes(version))
    throw new BadInput(
      expected(`one of ${versions.join(', ')}`, 'mcp-protocol-version', version.slice(0, 80)),
    )
  if (isBatch && (begins || (version ?? batchVersion) !== batchVersion))
    throw new BadInput(expected('one message', '/mcp', messages))
  for (const each of messages) if (each.id === undefined) server.notice(each, ctx)
  const requests = messages.filter(({ id }) => id !== undefined)
  if (requests.length === 0) return { status: 202, headers: [], body: '' }
  const isCall = requests.some(({ method }) => method === 'tools/call')
  const type = preferredType(headers.get('accept') ?? '*/*', isCall ? callTypes : quickTypes)
  if (type === undefined)
    throw new BadInput(
      expected(`${json} or ${eventStream}`, 'accept', headers.get('accept')),
      {},
      { status: 406 },
    )
  const own: HeaderLine[] = [
    ['x-request-id', ctx.id],
    ...(begins ? [[sessionHeader, crypto.randomUUID()] as const] : []),
  ]
  // A call is admitted by its API.
  const isOther = requests.some(({ method }) => method !== 'tools/call')
  const tools = isOther
    ? await withDeadline<Tools>(ctx, server.toolsFor(visit), { fail: (error) => error })
    : []
  if (ServingError.is(tools)) throw tools
  const answers = answersOf(server, requests, tools, visit)
  ctx.onAbort(() => void endIterator(answers))
  if (type === json) return whole(answers, isBatch, own)
  return { headers: [...eventHeaders, ...own], body: eventsOf(answers) }
}

/** The calls of a batch run one after the other: the batch counts as one request. */
async function* answersOf(
  server: ToolServer,
  requests: readonly ClientMessage[],
  tools: readonly Tool[],
  visit: Visit,
): AsyncGenerator<ServerMessage> {
  for (const request of requests) yield* server.answer(request, tools, visit)
}

async function whole(
  answers: AsyncIterable<ServerMessage>,
  isBatch: boolean,
  own: HeaderLine[],
): Promise<HttpResponse> {
  const responses: ServerMessage[] = []
  for await (const message of answers) if ('id' in message) responses.push(message)
  // A cancelled call has no response.
  if (responses.length === 0) return { status: 202, headers: own, body: '' }
  return {
    headers: [...jsonHeaders, ...own],
    body: JSON.stringify(isBatch ? responses : responses[0]),
  }
}

/** Yields messages as events, and a comment for each time without one. */
export async function* eventsOf(
  answers: AsyncGenerator<ServerMessage>,
  silenceMs?: number,
): AsyncGenerator<string> {
  for await (const answer of beats(answers, silenceMs)) {
    if (answer === undefined) yield ': keepalive\n\n'
    else yield encodeEvent({ event: 'message', data: JSON.stringify(answer) })
  }
}
