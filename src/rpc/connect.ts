/** Unary calls of the Connect protocol over HTTP. **Source**: connectrpc.com/docs/protocol. @module */

import type { RpcRequest } from '../api/call-rpc.ts'
import { encodeContentJson } from '../api/content-json.ts'
import { encodeServiceMetadata, type MetadataSource } from '../api/service-metadata.ts'
import { BadInput, type GrpcStatusName, PayloadTooLarge, ServingError } from '../core/errors.ts'
import { isPromise, type MaybePromise } from '../core/promise.ts'
import { measureJson } from '../core/text/json-scan.ts'
import { defaultMaxBytes, maxParsedValues, parseJson } from '../core/text/parse-json.ts'
import type { Context } from '../http/context.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { joinHeaderNames } from '../http/header-names.ts'
import { mediaTypeOf } from '../http/media-type.ts'
import type { HeaderLine, HttpRequest, HttpResponse, RequestHeaders } from '../http/message.ts'
import { problemHeaders } from '../http/problem.ts'
import { requestFromJson } from '../messages/envelope.ts'
import { errorInfoType, rpcErrorOf } from '../messages/rpc-error.ts'
import { type BytesAnswer, callBytes, callEncoded, metadataFor, rpcServices } from './rpc.ts'

/** **Source**: connectrpc.com/docs/protocol, "Error Codes". */
const statusOf: Readonly<Record<GrpcStatusName, number>> = {
  CANCELLED: 499,
  UNKNOWN: 500,
  INVALID_ARGUMENT: 400,
  DEADLINE_EXCEEDED: 504,
  NOT_FOUND: 404,
  PERMISSION_DENIED: 403,
  RESOURCE_EXHAUSTED: 429,
  FAILED_PRECONDITION: 400,
  ABORTED: 409,
  UNIMPLEMENTED: 501,
  INTERNAL: 500,
  UNAVAILABLE: 503,
  UNAUTHENTICATED: 401,
}

const connectHeaders = [
  'content-type',
  'content-encoding',
  'connect-protocol-version',
  'connect-timeout-ms',
  'x-request-id',
]

type Answer = (body: Uint8Array, isJson: boolean, ctx: Context) => MaybePromise<BytesAnswer>

/** `Call` and, with introspection, `ServiceMetadata`, under each name of the service. */
export function connectEndpoints(service: MetadataSource, prefix: string, introspection: boolean): Endpoint[] {
  const { apis } = service
  const call: Answer = (body, isJson, ctx) =>
    isJson
      ? callEncoded(
          apis,
          () => decodeJson(body),
          ctx,
          (content) => ({ bytes: encodeContentJson(content) }),
        )
      : callBytes(apis, body, ctx)
  const metadata =
    (name: (typeof rpcServices)[number]): Answer =>
    (_, isJson) => {
      const message = metadataFor(name, service)
      return { bytes: isJson ? Buffer.from(JSON.stringify(message)) : encodeServiceMetadata(message) }
    }
  // The body names the API.
  const headers = joinHeaderNames(connectHeaders, ...[...apis.values()].map(({ readsHeaders }) => readsHeaders))
  return rpcServices.flatMap((name) => [
    new ConnectEndpoint(`${name}/Call`, prefix, headers, call),
    ...(introspection ? [new ConnectEndpoint(`${name}/ServiceMetadata`, prefix, connectHeaders, metadata(name))] : []),
  ])
}

const anyMessage = {
  'application/json': { schema: { type: 'object', additionalProperties: true } },
  'application/proto': { schema: { type: 'string', format: 'binary' } },
}

function operationOf(name: string): Endpoint['operation'] {
  const summary = name.endsWith('/Call') ? 'Calls an API by its name.' : 'Tells of all APIs.'
  const failed = {
    description: 'An error of Connect.',
    content: { 'application/json': anyMessage['application/json'] },
  }
  return {
    operationId: name.replaceAll(/[./]/g, '_'),
    tags: ['Connect'],
    summary: `${summary} The messages are those of proto/${name.split('.')[0]}.`,
    requestBody: { required: true, content: anyMessage },
    responses: { 200: { description: 'The answer.', content: anyMessage }, '4XX': failed, '5XX': failed },
  }
}

class ConnectEndpoint implements Endpoint {
  readonly name: string
  readonly operation: Endpoint['operation']
  readonly path: string
  readonly protocol = 'connect'
  readonly namesApi: boolean
  readonly methods = ['POST']
  readonly readsHeaders: readonly string[] | 'all'
  readonly isLimited = true
  readonly decompresses = false
  readonly #answer: Answer

  constructor(name: string, prefix: string, readsHeaders: readonly string[] | 'all', answer: Answer) {
    this.name = name
    this.operation = operationOf(name)
    this.namesApi = name.endsWith('/Call')
    this.path = `${prefix}/${name}`
    this.readsHeaders = readsHeaders
    this.#answer = answer
  }

  answer(request: HttpRequest, ctx: Context): MaybePromise<HttpResponse> {
    const { headers } = request
    try {
      const type = headers.get('content-type')
      const essence = type === 'application/proto' ? type : mediaTypeOf(type ?? '')?.essence
      if (essence !== 'application/proto' && essence !== 'application/json') return unsupported
      const fault = headerFault(headers)
      // Not peek: files and arrays are views of the body.
      const answer =
        fault === undefined ? this.#answer(request.body, essence === 'application/json', ctx) : { error: fault }
      if (isPromise(answer)) return answer.then((later) => this.#respond(later, essence, ctx))
      return this.#respond(answer, essence, ctx)
    } finally {
      request.release()
    }
  }

  #respond(answer: BytesAnswer, type: string, ctx: Context): HttpResponse {
    if ('error' in answer) return this.problem(answer.error, ctx.id)
    const headers: readonly HeaderLine[] = [['content-type', type]]
    return { headers: ctx.ownResponse?.mergeEncoded(headers) ?? headers, body: answer.bytes }
  }

  problem(error: ServingError, requestId: string): HttpResponse {
    const { status, message, info } = rpcErrorOf(error, requestId)
    const value = Buffer.from(info).toString('base64').replace(/=+$/, '')
    const code = status === 'CANCELLED' ? 'canceled' : status.toLowerCase()
    const body = { code, message, details: [{ type: errorInfoType, value }] }
    const headers = problemHeaders(error, requestId, 'application/json')
    return { status: statusOf[status], headers, body: JSON.stringify(body), error }
  }

  timeoutMs(headers: RequestHeaders): number | undefined {
    const value = headers.get('connect-timeout-ms')
    return value !== undefined && /^\d{1,10}$/.test(value) ? Number(value) : undefined
  }
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

function headerFault(headers: RequestHeaders): ServingError | undefined {
  const encoding = headers.get('content-encoding')
  if (encoding !== undefined && encoding !== 'identity') {
    const message = `expected content-encoding identity, received ${JSON.stringify(encoding.slice(0, 80))}`
    return new ServingError('unsupported_media_type', message, { reason: 'encoding' }, { grpc: 'UNIMPLEMENTED' })
  }
  const version = headers.get('connect-protocol-version')
  if (version !== undefined && version !== '1') {
    return new BadInput(`expected connect-protocol-version 1, received ${JSON.stringify(version.slice(0, 80))}`)
  }
  const timeout = headers.get('connect-timeout-ms')
  if (timeout !== undefined && !/^\d{1,10}$/.test(timeout)) {
    return new BadInput(
      `expected connect-timeout-ms of at most 10 digits, received ${JSON.stringify(timeout.slice(0, 80))}`,
    )
  }
  return undefined
}

function decodeJson(body: Uint8Array): RpcRequest {
  const fault = (what: string, received: number) =>
    new PayloadTooLarge(
      `expected at most ${what} for a request in JSON (application/proto takes more), received ${received}`,
    )
  if (body.length > defaultMaxBytes) throw fault(`${defaultMaxBytes} bytes`, body.length)
  const { values } = measureJson(body)
  if (values > maxParsedValues) throw fault(`${maxParsedValues} values`, values)
  return requestFromJson(parseJson(body, 'the request'))
}
