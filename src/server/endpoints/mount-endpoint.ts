/** Fetch handlers as endpoints: `svc.mount(path, handler)`. @module */

import { failure } from '../../api/call.ts'
import type { Endpoint, EndpointReceiver } from '../../api/endpoint.ts'
import type { FetchHandler, Mount } from '../../api/mount.ts'
import { abortOf, functionFailureOf, withDeadline } from '../../api/stages.ts'
import type { RequestTarget } from '../../api/visit.ts'
import { BadInput, expected } from '../../core/errors.ts'
import type { Context } from '../../http/context.ts'
import { allHeaders, type Chunk, type HeaderLine, type HttpResponse } from '../../http/message.ts'
import { problemResponse } from '../../http/problem.ts'

/** The methods that a Request of the Fetch standard may have; it forbids CONNECT and TRACE. */
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
// What a body may be ahead of its handler. **Units**: bytes.
const aheadBytes = 256 * 1024

/** @returns the endpoint of a fetch handler below a prefix. */
export function mountEndpoint({ path, handler }: Mount, prefix: string): Endpoint {
  return {
    name: path,
    access: { kind: 'service' },
    origins: 'any',
    path: `${prefix}${path === '/' ? '' : path}/*`,
    methods,
    readsHeaders: allHeaders,
    isLimited: true,
    startsUnread: true,
    decompresses: false,
    problem: problemResponse,
    answer: ({ body }, { ctx, target }) =>
      run(handler, ctx, target, body.length > 0 ? body : undefined),
    receive: (_, { ctx, target }) => receiverOf(handler, ctx, target),
  }
}

/** The client waits while its handler is behind. */
function receiverOf(handler: FetchHandler, ctx: Context, target: RequestTarget): EndpointReceiver {
  const strategy = new ByteLengthQueuingStrategy({ highWaterMark: aheadBytes })
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>(undefined, strategy)
  const writer = writable.getWriter()
  return {
    write(piece) {
      // Not `slice`: of a Buffer that is another view of the same bytes.
      if (hasBody(target)) writer.write(new Uint8Array(piece)).catch(ignore)
      // Null once the handler has cancelled it.
      return (writer.desiredSize ?? 1) > 0 ? undefined : writer.ready.catch(ignore)
    },
    answer: () => run(handler, ctx, target, readable),
    end() {
      writer.close().catch(ignore)
      return undefined
    },
    abort: (reason) => void writer.abort(reason).catch(ignore),
  }
}

type RequestBody = Uint8Array | ReadableStream | undefined

function run(
  handler: FetchHandler,
  ctx: Context,
  target: RequestTarget,
  body: RequestBody,
): Promise<HttpResponse> {
  return withDeadline(ctx, callHandler(handler, ctx, target, body), { fail: failure })
}

async function callHandler(
  handler: FetchHandler,
  ctx: Context,
  target: RequestTarget,
  body: RequestBody,
): Promise<HttpResponse> {
  try {
    const response = await handler(requestOf(ctx, target, body), ctx)
    if (!(response instanceof Response))
      throw new TypeError(expected('a Response', 'the mounted handler', response))
    return await responseOf(response, ctx)
  } catch (error) {
    const reason = ctx.abortReason
    return failure(reason === undefined ? functionFailureOf(error) : abortOf(reason), ctx)
  }
}

function hasBody({ method }: RequestTarget): boolean {
  return method !== 'GET' && method !== 'HEAD'
}

function requestOf(ctx: Context, target: RequestTarget, body: RequestBody): Request {
  const { method, path, query } = target
  try {
    const url = new URL(`${ctx.scheme}://${ctx.headers.get('host') ?? 'localhost'}`)
    url.pathname = path
    url.search = query
    const init = {
      method,
      headers: [...ctx.headers] as [string, string][],
      signal: ctx.signal,
      duplex: 'half' as const,
    }
    return new Request(
      url,
      body !== undefined && hasBody(target) ? { ...init, body: body as ReadableStream } : init,
    )
  } catch (cause) {
    throw new BadInput('expected a Host and headers of a fetch Request, received others', { cause })
  }
}

/**
 * @returns a Response as a response of the server; a body that comes at once is sent as one piece.
 */
async function responseOf(response: Response, ctx: Context): Promise<HttpResponse> {
  const { status } = response
  const headers: HeaderLine[] = [...response.headers]
  const base = { status, headers: ctx.ownResponse?.merge(headers) ?? headers }
  if (response.body === null) return { ...base, body: '' }
  const reader = response.body.getReader()
  const first = await reader.read()
  if (first.done) return { ...base, body: '' }
  const rest = reader.read()
  // A body that has ended already says so within this turn of the event loop.
  const next = await Promise.race([
    rest,
    new Promise<undefined>((resolve) => setImmediate(resolve, undefined)),
  ])
  if (next?.done) return { ...base, body: first.value }
  rest.catch(ignore)
  ctx.onAbort((reason) => void reader.cancel(reason).catch(ignore))
  const ahead = [first, rest]
  const body: AsyncIterableIterator<Chunk> = {
    async next() {
      const { done, value } = await (ahead.shift() ?? reader.read())
      return done ? { done, value: undefined } : { done: false, value: value as Uint8Array }
    },
    async return() {
      await reader.cancel().catch(ignore)
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]: () => body,
  }
  return { ...base, body }
}

function ignore(): void {}
