/**
 * The Connect protocol over HTTP: calls with one answer, and those whose answers follow each other.
 *
 * @see connectrpc.com/docs/protocol.
 * @module
 */

import type { Endpoint } from '../api/endpoint.ts'
import type { StreamMethod, UnaryMethod } from '../api/protocol.ts'
import type { Visit } from '../api/visit.ts'
import type { ServingError } from '../core/errors.ts'
import { type MaybePromise, whenReady } from '../core/promise.ts'
import { mediaTypeOf } from '../http/media-type.ts'
import { type HttpRequest, type HttpResponse, joinHeaderNames } from '../http/message.ts'
import { problemHeaders, refusals } from '../http/problem.ts'
import { constantHeaders } from '../http/response-head.ts'
import { type ConnectHost, connectTimeout, errorOf, headerFault } from './connect-call.ts'
import { answerStream } from './connect-stream.ts'

const connectHeaders = [
  'content-type',
  'content-encoding',
  'connect-content-encoding',
  'connect-protocol-version',
  'connect-timeout-ms',
  'x-request-id',
]

const jsonHeaders = constantHeaders([['content-type', 'application/json']])
const protoHeaders = constantHeaders([['content-type', 'application/proto']])

/** @returns the endpoints of those methods that the Connect protocol answers, too. */
export function connectEndpoints(host: ConnectHost): Endpoint[] {
  return host.methods.flatMap((method) => {
    if (method.kind === 'unary' && method.connect !== undefined) {
      const { operation = operationOf(method.path.slice(1)) } = method.connect
      const answer = (...of: Asked) => answerOnce(method, ...of)
      return [{ ...connectEndpoint(host, method, 'application/', answer), operation }]
    }
    if (method.kind === 'stream' && method.connect !== undefined) {
      const answer = (...of: Asked) => answerStream(host, method, ...of)
      return [connectEndpoint(host, method, 'application/connect+', answer)]
    }
    return []
  })
}

type Asked = [request: HttpRequest, visit: Visit, isJson: boolean]

const anyMessage = {
  'application/json': { schema: { type: 'object', additionalProperties: true } },
  'application/proto': { schema: { type: 'string', format: 'binary' } },
}

const summaries: Readonly<Record<string, string>> = {
  Call: 'Calls an API by its name.',
  ServiceMetadata: 'Tells of all APIs.',
  SubmitJob: 'Keeps a call of an asynchronous API, which runs later.',
  GetJob: 'Returns a job, with its answer once it has one.',
  CancelJob: 'Asks for the end of a job.',
  ListJobs: 'Lists jobs of the caller.',
  DeleteJob: 'Deletes what an ended job holds.',
}

function operationOf(name: string): Endpoint['operation'] {
  const summary = summaries[name.split('/')[1]]
  if (summary === undefined) return undefined
  const failed = {
    description: 'An error of Connect.',
    content: { 'application/json': anyMessage['application/json'] },
  }
  return {
    operationId: name.replaceAll(/[./]/g, '_'),
    tags: ['Connect'],
    summary: `${summary} The messages are those of proto/${name.split('.')[0]}.`,
    requestBody: { required: true, content: anyMessage },
    responses: { 200: { description: 'The answer.', content: anyMessage }, ...refusals(failed) },
  }
}

/** `type`: media type without the name of the codec behind it. */
function connectEndpoint(
  { prefix }: ConnectHost,
  { path, access, connect }: UnaryMethod | StreamMethod,
  type: string,
  answer: (...asked: Asked) => MaybePromise<HttpResponse>,
): Endpoint {
  const { readsHeaders = [], speaksJson = false } = connect ?? {}
  return {
    name: path.slice(1),
    path: `${prefix}${path}`,
    protocol: 'connect',
    access,
    origins: 'any',
    methods: ['POST'],
    readsHeaders: joinHeaderNames(connectHeaders, readsHeaders),
    isLimited: true,
    decompresses: false,
    problem,
    answer(request, visit) {
      const given = request.headers.get('content-type') ?? ''
      const codec = given === `${type}proto` ? given : mediaTypeOf(given)?.essence
      if (codec === `${type}proto`) return answer(request, visit, false)
      return codec === `${type}json` && speaksJson
        ? answer(request, visit, true)
        : unsupported(type)
    },
    timeoutMs: connectTimeout,
  }
}

function answerOnce(
  { answer }: UnaryMethod,
  request: HttpRequest,
  visit: Visit,
  isJson: boolean,
): MaybePromise<HttpResponse> {
  const { ctx } = visit
  const fault = headerFault(request.headers, 'content-encoding')
  if (fault !== undefined) return problem(fault, ctx.id)
  // Not peek: files and arrays are views of the body.
  return whenReady(answer(request.body, visit, isJson), (answered): HttpResponse => {
    if ('error' in answered) return problem(answered.error, ctx.id)
    const own = isJson ? jsonHeaders : protoHeaders
    return { headers: ctx.ownResponse?.mergeEncoded(own) ?? own, body: answered.bytes }
  })
}

function problem(error: ServingError, requestId: string): HttpResponse {
  const { http, body } = errorOf(error, requestId)
  const headers = problemHeaders(error, requestId, 'application/json')
  return { status: http, headers, body: JSON.stringify(body), error }
}

/** The status tells clients that a server does not speak Connect. */
function unsupported(type: string): HttpResponse {
  const codecs = [`${type}proto`, `${type}json`]
  return {
    status: 415,
    headers: [
      ['content-type', 'text/plain; charset=utf-8'],
      ['accept-post', codecs.join(', ')],
    ],
    body: `expected content-type ${codecs.join(' or ')}\n`,
  }
}
