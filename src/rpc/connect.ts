/**
 * Unary calls of the Connect protocol over HTTP.
 *
 * @see connectrpc.com/docs/protocol.
 * @module
 */

import type { Endpoint } from '../api/endpoint.ts'
import type { RpcMethod, UnaryMethod } from '../api/protocol.ts'
import { BadInput, grpcStatuses, ServingError } from '../core/errors.ts'
import { whenReady } from '../core/promise.ts'
import { mediaTypeOf } from '../http/media-type.ts'
import { type HttpResponse, joinHeaderNames, type RequestHeaders } from '../http/message.ts'
import { problemHeaders, refusals } from '../http/problem.ts'
import { constantHeaders } from '../http/response-head.ts'
import { errorInfoType, rpcErrorOf } from '../messages/rpc-error.ts'

const connectHeaders = [
  'content-type',
  'content-encoding',
  'connect-protocol-version',
  'connect-timeout-ms',
  'x-request-id',
]

const answerHeaders = {
  'application/json': constantHeaders([['content-type', 'application/json']]),
  'application/proto': constantHeaders([['content-type', 'application/proto']]),
}

/** @returns the endpoints of those methods that the Connect protocol answers, too. */
export function connectEndpoints(methods: readonly RpcMethod[], prefix: string): Endpoint[] {
  return methods.flatMap((method) =>
    method.kind === 'unary' && method.connect ? [connectEndpoint(method, prefix)] : [],
  )
}

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

function connectEndpoint(
  { path, access, connect, answer: answerTo }: UnaryMethod,
  prefix: string,
): Endpoint {
  const { operation, readsHeaders = [], speaksJson = false } = connect ?? {}
  const name = path.slice(1)
  return {
    name,
    operation: operation ?? operationOf(name),
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
      const { ctx } = visit
      const { headers } = request
      const type = headers.get('content-type')
      const essence = type === 'application/proto' ? type : mediaTypeOf(type ?? '')?.essence
      if (essence !== 'application/proto' && (essence !== 'application/json' || !speaksJson))
        return unsupported
      const fault = headerFault(headers)
      if (fault !== undefined) return problem(fault, ctx.id)
      // Not peek: files and arrays are views of the body.
      const answer = answerTo(request.body, visit, essence === 'application/json')
      return whenReady(answer, (answered): HttpResponse => {
        if ('error' in answered) return problem(answered.error, ctx.id)
        const own = answerHeaders[essence]
        return { headers: ctx.ownResponse?.mergeEncoded(own) ?? own, body: answered.bytes }
      })
    },
    timeoutMs(headers) {
      const value = headers.get('connect-timeout-ms')
      return value !== undefined && isTimeout.test(value) ? Number(value) : undefined
    },
  }
}

function problem(error: ServingError, requestId: string): HttpResponse {
  const { status, message, info } = rpcErrorOf(error, requestId)
  const value = Buffer.from(info).toString('base64').replace(/=+$/, '')
  const code = status === 'CANCELLED' ? 'canceled' : status.toLowerCase()
  const body = { code, message, details: [{ type: errorInfoType, value }] }
  const headers = problemHeaders(error, requestId, 'application/json')
  return { status: grpcStatuses[status].http, headers, body: JSON.stringify(body), error }
}

// The status tells clients that a server does not speak Connect.
const unsupported: HttpResponse = {
  status: 415,
  headers: [
    ['content-type', 'text/plain; charset=utf-8'],
    ['accept-post', 'application/proto, application/json'],
  ],
  body: 'expected content-type application/proto or application/json\n',
}

const isTimeout = /^\d{1,10}$/

function headerFault(headers: RequestHeaders): ServingError | undefined {
  const encoding = headers.get('content-encoding') ?? 'identity'
  if (encoding !== 'identity') {
    const message = `expected content-encoding identity, received ${JSON.stringify(encoding.slice(0, 80))}`
    return new ServingError(
      'unsupported_media_type',
      message,
      { reason: 'encoding' },
      { grpc: 'UNIMPLEMENTED' },
    )
  }
  const wrong = (name: string, what: string, isRight: RegExp) => {
    const value = headers.get(name)
    if (value === undefined || isRight.test(value)) return undefined
    return new BadInput(`expected ${name} ${what}, received ${JSON.stringify(value.slice(0, 80))}`)
  }
  return (
    wrong('connect-protocol-version', '1', /^1$/) ??
    wrong('connect-timeout-ms', 'of at most 10 digits', isTimeout)
  )
}
