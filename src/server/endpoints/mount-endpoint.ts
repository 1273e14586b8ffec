/** Fetch handlers as endpoints: `svc.mount(path, handler)`. @module */

import type { FetchHandler, Mount } from '../../api/mount.ts'
import { abortOf, decodeFailureOf, functionFailureOf, withDeadline } from '../../api/stages.ts'
import { BadInput, expected, type ServingError } from '../../core/errors.ts'
import type { MaybePromise } from '../../core/promise.ts'
import type { Context } from '../../http/context.ts'
import type { Endpoint, EndpointReceiver, RequestTarget } from '../../http/endpoint.ts'
import type { Chunk, HeaderLine, HttpRequest, HttpResponse } from '../../http/message.ts'
import { problemResponse } from '../../http/problem.ts'

/** Returns the endpoints of fetch handlers below a prefix. */
export function mountEndpoints(mounts: Iterable<Mount>, prefix: string): Endpoint[] {
  return [...mounts].map(
    ({ path, handler }) => new MountEndpoint(path, `${prefix}${path === '/' ? '' : path}`, handler),
  )
}

/** The methods that a Request of the Fetch standard may have; it forbids CONNECT and TRACE. */
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

class MountEndpoint implements Endpoint {
  readonly name: string
  readonly path: string
  readonly methods = methods
  readonly readsHeaders = 'all'
  readonly isLimited = true
  readonly startsUnread = true
  readonly decompresses = false
  readonly problem = problemResponse
  readonly #handler: FetchHandler

  constructor(name: string, path: string, handler: FetchHandler) {
    this.name = name
    this.path = `${path}/*`
    this.#handler = handler
  }

  answer(request: HttpRequest, ctx: Context, target: RequestTarget): MaybePromise<HttpResponse> {
    const { body } = request
    return this.#run(ctx, () => requestOf(ctx, target, body.length > 0 ? body : undefined))
  }

  receive(_: number | undefined, ctx: Context, target: RequestTarget): EndpointReceiver {
    const body = new BodySource()
    if (!hasBody(target)) body.drop()
    return {
      write: (piece) => body.write(piece),
      answer: () => this.#run(ctx, () => requestOf(ctx, target, body.stream)),
      end: () => body.end(),
      abort: (reason) => body.abort(reason),
    }
  }

  #run(ctx: Context, makeRequest: () => Request): Promise<HttpResponse> {
    const fail = (error: ServingError) => problemResponse(error, ctx.id)
    return withDeadline(ctx, this.#call(ctx, makeRequest), { fail })
  }

  async #call(ctx: Context, makeRequest: () => Request): Promise<HttpResponse> {
    let request: Request
    try {
      request = makeRequest()
    } catch (error) {
      return problemResponse(decodeFailureOf(error), ctx.id)
    }
    try {
      const response = await this.#handler(request, ctx)
      if (!(response instanceof Response)) throw new TypeError(expected('a Response', 'the mounted handler', response))
      return await responseOf(response, ctx)
    } catch (error) {
      const reason = ctx.abortReason
      return problemResponse(reason === undefined ? functionFailureOf(error) : abortOf(reason), ctx.id)
    }
  }
}

function hasBody({ method }: RequestTarget): boolean {
  return method !== 'GET' && method !== 'HEAD'
}

function requestOf(ctx: Context, target: RequestTarget, body: Uint8Array | ReadableStream | undefined): Request {
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
    return new Request(url, body !== undefined && hasBody(target) ? { ...init, body: body as ReadableStream } : init)
  } catch (cause) {
    throw new BadInput('expected a Host and headers of a fetch Request, received others', { cause })
  }
}

/** Returns a Response as a response of the server; a body that is there at once is sent as one piece. */
async function responseOf(response: Response, ctx: Context): Promise<HttpResponse> {
  const { status } = response
  const headers: HeaderLine[] = [...response.headers]
  const base = { status, headers: ctx.ownResponse?.merge(headers) ?? headers }
  if (response.body === null) return { ...base, body: '' }
  const reader = response.body.getReader()
  const first = await reader.read()
  if (first.done) return { ...base, body: '' }
  const rest = reader.read()
  // What has ended already says so within this turn of the event loop.
  const next = await Promise.race([rest, new Promise<undefined>((resolve) => setImmediate(resolve, undefined))])
  if (next?.done) return { ...base, body: first.value }
  return { ...base, body: new StreamedBody(reader, [first, rest], ctx) }
}

/** The rest of a body whose beginning was read ahead. Its source is cancelled when the request is given up. */
class StreamedBody implements AsyncIterableIterator<Chunk> {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #ahead: MaybePromise<{ done: boolean; value?: Uint8Array | undefined }>[]

  constructor(
    reader: ReadableStreamDefaultReader<Uint8Array>,
    ahead: MaybePromise<{ done: boolean; value?: Uint8Array | undefined }>[],
    ctx: Context,
  ) {
    this.#reader = reader
    this.#ahead = ahead
    for (const piece of ahead) if (piece instanceof Promise) piece.catch(() => {})
    ctx.onAbort((reason) => void reader.cancel(reason).catch(() => {}))
  }

  async next(): Promise<IteratorResult<Chunk>> {
    const { done, value } = await (this.#ahead.shift() ?? this.#reader.read())
    return done ? { done, value: undefined } : { done: false, value: value as Uint8Array }
  }

  async return(): Promise<IteratorResult<Chunk>> {
    await this.#reader.cancel().catch(() => {})
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}

// What a body may be ahead of its handler. **Units**: bytes.
const aheadBytes = 256 * 1024

/** The body of a request as a stream; the client waits while its handler is behind. */
class BodySource {
  readonly stream: ReadableStream<Uint8Array>
  #controller!: ReadableStreamDefaultController<Uint8Array>
  #isOpen = true
  #room: Promise<void> | undefined
  #wake: (() => void) | undefined

  constructor() {
    const source = {
      start: (controller: ReadableStreamDefaultController<Uint8Array>) => {
        this.#controller = controller
      },
      pull: () => this.#goOn(),
      cancel: () => this.drop(),
    }
    this.stream = new ReadableStream(source, new ByteLengthQueuingStrategy({ highWaterMark: aheadBytes }))
  }

  write(piece: Uint8Array): void | Promise<void> {
    if (!this.#isOpen) return
    // Not `slice`: of a Buffer that is another view of the same bytes.
    this.#controller.enqueue(new Uint8Array(piece))
    if ((this.#controller.desiredSize ?? 0) > 0) return
    // One for all pieces that come meanwhile: a paused socket may still deliver some.
    this.#room ??= new Promise((resolve) => {
      this.#wake = resolve
    })
    return this.#room
  }

  end(): undefined {
    if (this.#isOpen) this.#controller.close()
    this.#isOpen = false
  }

  abort(reason: Error): void {
    if (this.#isOpen) this.#controller.error(reason)
    this.drop()
  }

  drop(): void {
    this.#isOpen = false
    this.#goOn()
  }

  #goOn(): void {
    this.#wake?.()
    this.#room = undefined
    this.#wake = undefined
  }
}
