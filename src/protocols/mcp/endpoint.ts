/**
 * The Model Context Protocol: APIs as tools, over streamable HTTP.
 *
 * @see modelcontextprotocol.io.
 * @module
 */

import type { Host } from '../../api/protocol.ts'
import { beats, decodeFailureOf, endIterator } from '../../api/stages.ts'
import type { Visit } from '../../api/visit.ts'
import {
  BadInput,
  checkInput,
  expected,
  type ServingError,
  UnsupportedMediaType,
} from '../../core/errors.ts'
import { preferredType } from '../../http/accept.ts'
import { encodeEvent, eventHeaders, eventStream } from '../../http/event-stream.ts'
import { isJsonText } from '../../http/media-type.ts'
import { allHeaders, type HttpResponse } from '../../http/message.ts'
import { problemHeaders } from '../../http/problem.ts'
import { constantHeaders, nosniff } from '../../http/response-head.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import { inTime, sessionHeader } from './calls.ts'
import {
  type ClientMessage,
  errorCodes,
  errorMessage,
  type Fault,
  latest,
  latestRequest,
  type Request,
  readMessages,
  refusalMessage,
  type ServerMessage,
  versions,
} from './messages.ts'
import { ToolServer, type ToolSource } from './tool-server.ts'

/** The only version with batches. Clients speak it that send no version. */
const batchVersion = '2025-03-26'
const json = 'application/json'
const jsonHeaders = constantHeaders([['content-type', json], nosniff])
// Only a call may take long, and tell its progress.
const quickTypes = [json, eventStream]
const callTypes = [eventStream, json]
const accepted: HttpResponse = { status: 202, headers: [], body: '' }

/**
 * Serves APIs as tools, prompts and resources at `/mcp`. Requests need no session, so that any worker answers any of
 * them.
 *
 * @param jobs - Undefined if no API is asynchronous.
 */
export function attachMcp(host: Host, service: ToolSource, jobs: Jobs | undefined): void {
  const server = new ToolServer(service, host, jobs)
  const path = `${host.prefix}/mcp`
  host.page({
    group: 'MCP',
    path,
    methods: ['POST'],
    doc: 'The APIs as tools of the Model Context Protocol.',
    example: { type: json, text: JSON.stringify(listTools, null, 2) },
  })
  host.http({
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
      const { id } = visit.ctx
      try {
        const { headers, ...answer } = await respond(server, body, visit)
        return { ...answer, headers: [...headers, ['x-request-id', id]] }
      } catch (error) {
        return problem(decodeFailureOf(error), id)
      }
    },
  })
}

const listTools = { jsonrpc: '2.0', id: 1, method: 'tools/list' }

function problem(error: ServingError, requestId: string): HttpResponse {
  const body = JSON.stringify(refusalMessage(error, requestId))
  return { status: error.status, headers: problemHeaders(error, requestId, json), body, error }
}

/** Methods that name an API or a task, which decides who may ask. */
const namesItsOwn = /^(?:tools\/call|prompts\/get|resources\/read|tasks\/\w+)$/

async function respond(server: ToolServer, body: Uint8Array, visit: Visit): Promise<HttpResponse> {
  const { ctx } = visit
  const { headers } = ctx
  const sent = headers.get('content-type')
  // A page may send other types to any server.
  if (!isJsonText(sent))
    throw new UnsupportedMediaType(expected(json, 'content-type', sent?.slice(0, 80)))
  const { messages, isBatch } = readMessages(body)
  const version = headers.get('mcp-protocol-version')
  const isLatest = version === latest
  const begins = !isLatest && messages.some(({ method }) => method === 'initialize')
  const requests = messages.filter(isRequest)
  if (version !== undefined && !begins && !versions.includes(version)) {
    const requested = version.slice(0, 80)
    const data = { supported: versions, requested }
    const message = expected(`one of ${versions.join(', ')}`, 'mcp-protocol-version', requested)
    return refusal({ status: 400, code: errorCodes.version, message, data }, requests[0])
  }
  const mayBeBatch = !begins && (version ?? batchVersion) === batchVersion
  checkInput(mayBeBatch || !isBatch, 'one message', '/mcp', messages)
  for (const each of messages) if (each.id === undefined) server.notice(each, ctx)
  const [first] = requests
  if (first === undefined) return accepted
  const asked = isLatest ? latestRequest(first, headers) : first
  const fault = 'code' in asked ? asked : server.refusalOf(asked)
  if (fault !== undefined) return refusal(fault, first)
  const isCall = requests.some(({ method }) => method === 'tools/call')
  const type = preferredType(headers.get('accept') ?? '*/*', isCall ? callTypes : quickTypes)
  if (type === undefined)
    throw new BadInput(
      expected(`${json} or ${eventStream}`, 'accept', headers.get('accept')),
      {},
      { status: 406 },
    )
  const isOther = requests.some(({ method }) => !namesItsOwn.test(method))
  const visible = isOther ? await inTime(ctx, server.visibleTo(visit)) : []
  const all = [asked as Request, ...requests.slice(1)]
  // The calls of a batch run one after the other: the batch counts as one request.
  const answersOf = async function* () {
    for (const request of all) yield* server.answer(request, visible, visit)
  }
  const answers = answersOf()
  ctx.onAbort(() => void endIterator(answers))
  const answer =
    type === json
      ? await whole(answers, isBatch)
      : { headers: eventHeaders, body: eventsOf(answers) }
  if (!begins) return answer
  return { ...answer, headers: [...answer.headers, [sessionHeader, crypto.randomUUID()]] }
}

function isRequest(message: ClientMessage): message is Request {
  return message.id !== undefined
}

function refusal(
  { status, code, message, data }: Fault,
  request: Request | undefined,
): HttpResponse {
  const body = JSON.stringify(errorMessage(request?.id ?? null, code, message, data))
  return { status, headers: jsonHeaders, body }
}

async function whole(
  answers: AsyncIterable<ServerMessage>,
  isBatch: boolean,
): Promise<HttpResponse> {
  const responses: ServerMessage[] = []
  for await (const message of answers) if ('id' in message) responses.push(message)
  // A cancelled call has no response.
  if (responses.length === 0) return accepted
  return { headers: jsonHeaders, body: JSON.stringify(isBatch ? responses : responses[0]) }
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
