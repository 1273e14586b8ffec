/**
 * The Connect protocol's unary calls, as paths of the HTTP engines.
 *
 * **Source**: connectrpc.com/docs/protocol, "Unary-Request" and "Unary-Response".
 * @module
 */

import { IODescriptor } from '../descriptors/descriptor.ts'
import { BadInput, type GrpcStatusName, ServingError } from '../errors.ts'
import type { Context } from '../http/context.ts'
import { mediaTypeOf } from '../http/media-type.ts'
import type { HeaderLine, HttpRequest, HttpResponse, RequestHeaders } from '../http/message.ts'
import type { MaybePromise } from '../promise.ts'
import type { encodeResponse } from '../proto/envelope.ts'
import { requestFromJson, responseToJson } from '../proto/json.ts'
import { errorInfoType, rpcErrorOf } from '../proto/rpc-error.ts'
import type { Api, PathProtocol } from '../service/api.ts'
import { encodeServiceMetadata, type MetadataSource, serviceMetadata } from '../service/service-metadata.ts'
import { tooDeepAt } from '../text/json-syntax.ts'
import { decodeUtf8 } from '../text/utf8.ts'
import { type Apis, type BytesAnswer, callBytes, callEncoded, noMessage, type requestOf, rpcServices } from './rpc.ts'

/** HTTP status of each code. **Source**: connectrpc.com/docs/protocol, "Error Codes". */
const statusOf: Readonly<Record<GrpcStatusName, number>> = {
  CANCELLED: 499,
  UNKNOWN: 500,
  INVALID_ARGUMENT: 400,
  DEADLINE_EXCEEDED: 504,
  NOT_FOUND: 404,
  PERMISSION_DENIED: 403,
  RESOURCE_EXHAUSTED: 429,
  FAILED_PRECONDITION: 400,
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

/** A service becomes the paths that answer its RPCs: `Call` and `ServiceMetadata` under each name of the service. */
export function connectPaths(service: MetadataSource): Api[] {
  const { apis } = service
  const call: Answer = (body, isJson, ctx) =>
    isJson ? callEncoded(apis, () => jsonRequestOf(body), ctx, encodeJson) : callBytes(apis, body, ctx)
  const metadata: Answer = (_, isJson) => {
    const told = serviceMetadata(service)
    return { bytes: isJson ? Buffer.from(JSON.stringify(told)) : encodeServiceMetadata(told) }
  }
  return rpcServices.flatMap((name) => [
    pathOf(`${name}/Call`, call, headersOf(apis)),
    pathOf(`${name}/ServiceMetadata`, metadata, connectHeaders),
  ])
}

/** The functions behind a path are not known before its body is read: all that any of them may look at. */
function headersOf(apis: Apis): readonly string[] | 'all' {
  const names = new Set(connectHeaders)
  for (const { readsHeaders } of apis.values()) {
    if (readsHeaders === 'all') return 'all'
    for (const name of readsHeaders) names.add(name)
  }
  return [...names]
}

function pathOf(route: string, answer: Answer, readsHeaders: readonly string[] | 'all'): Api {
  return {
    name: route,
    route,
    doc: undefined,
    input: nothing,
    output: nothing,
    fn: () => undefined,
    readsHeaders,
    protocol: new ConnectProtocol(answer),
  }
}

/** In the place of a path's descriptors, which nobody asks. */
class Nothing extends IODescriptor {
  readonly mimeType = 'application/proto'
  fromHttpRequest(): never {
    throw new TypeError('a path of RPC has no descriptors')
  }
  toHttpResponse(): never {
    throw new TypeError('a path of RPC has no descriptors')
  }
}

const nothing = new Nothing()

class ConnectProtocol implements PathProtocol {
  readonly #answer: Answer

  constructor(answer: Answer) {
    this.#answer = answer
  }

  answer(request: HttpRequest, ctx: Context): MaybePromise<HttpResponse> {
    const { headers } = request
    const type = headers.get('content-type')
    const essence = type === 'application/proto' ? type : mediaTypeOf(type ?? '')?.essence
    if (essence !== 'application/proto' && essence !== 'application/json') return unsupported
    try {
      const fault = headerFault(headers)
      // Not peek: files and arrays are views of the body.
      const answer =
        fault === undefined ? this.#answer(request.body, essence === 'application/json', ctx) : { error: fault }
      if (answer instanceof Promise) return answer.then((later) => this.#respond(later, essence, ctx))
      return this.#respond(answer, essence, ctx)
    } finally {
      request.release()
    }
  }

  #respond(answer: BytesAnswer, type: string, ctx: Context): HttpResponse {
    if ('error' in answer) return this.problem(answer.error, ctx.id)
    const headers: readonly HeaderLine[] = [['content-type', type]]
    const own = ctx.response
    // The function's own content-type would be that of its HTTP body.
    return {
      headers: own.touched
        ? own.merge(headers).filter(([name, value]) => name !== 'content-type' || value === type)
        : headers,
      body: answer.bytes,
    }
  }

  problem(error: ServingError, requestId: string): HttpResponse {
    const { status, message, info } = rpcErrorOf(error, requestId)
    const value = Buffer.from(info).toString('base64').replace(/=+$/, '')
    const body = { code: codeOf(status), message, details: [{ type: errorInfoType, value }] }
    const headers: HeaderLine[] = [
      ['content-type', 'application/json'],
      ['x-request-id', requestId],
    ]
    if (error.retryAfterSeconds !== undefined) headers.push(['retry-after', String(error.retryAfterSeconds)])
    return { status: statusOf[status], headers, body: JSON.stringify(body), error }
  }

  timeoutMs(headers: RequestHeaders): number | undefined {
    const value = headers.get('connect-timeout-ms')
    return value !== undefined && /^\d{1,10}$/.test(value) ? Number(value) : undefined
  }
}

/** A code as Connect spells it. */
function codeOf(status: GrpcStatusName): string {
  return status === 'CANCELLED' ? 'canceled' : status.toLowerCase()
}

// Clients tell this from an answer of a server that speaks no Connect by the status alone.
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

function jsonRequestOf(body: Uint8Array): ReturnType<typeof requestOf> {
  let json: unknown
  const text = decodeUtf8(body, 'the request')
  const deep = tooDeepAt(body)
  if (deep !== -1) {
    throw new BadInput(`expected at most 128 levels for the request, received more at byte ${deep}`, {
      reason: 'syntax',
      offset: deep,
    })
  }
  try {
    json = JSON.parse(text)
  } catch (cause) {
    throw new BadInput('expected JSON for the request, received other text', { reason: 'syntax', cause })
  }
  const { apiName, content } = requestFromJson(json)
  return content === undefined
    ? { apiName, field: undefined, message: noMessage }
    : { apiName, field: content.field, message: () => content.message }
}

function encodeJson(content: Parameters<typeof encodeResponse>[0]): Uint8Array {
  return Buffer.from(JSON.stringify(responseToJson(content)))
}
