import { endIterator } from '../api/stages.ts'
import { ClientClosed, InternalError } from '../core/errors.ts'
import { concat } from '../core/platform.ts'
import type { AnyDescriptor } from '../descriptors/descriptor.ts'
import type { ContextState } from '../http/context.ts'
import { exactly } from '../http/encoded-pieces.ts'
import {
  bytesOfChunk,
  type Chunk,
  chunksOf,
  discardBody,
  type HeaderLine,
  HeaderList,
  type HttpResponse,
  isAsyncBody,
  isFramingHeader,
  lastingChunk,
  lengthOf,
  parseLength,
  requireChunk,
} from '../http/message.ts'
import { isBodyless } from '../http/response-head.ts'
import { BodyRest } from '../http/transfer-clock.ts'
import {
  type BodySource,
  HandledRequest,
  type HandlerFunction,
  type HandlerOptions,
  handlerOf,
} from './handler.ts'

/** Options of {@link fetchHandler}. `P`: what the platform gives beside the request. */
export interface FetchHandlerOptions<
  I extends AnyDescriptor,
  O extends AnyDescriptor,
  P extends readonly unknown[],
> extends HandlerOptions<I, O> {
  /**
   * @returns what `ctx.state` begins with, from the request and from what the platform gives beside
   * it.
   */
  readonly state?: (request: Request, ...platform: P) => ContextState
}

/**
 * Makes a function with descriptors a handler of the Fetch standard, for Hono, H3, Next, SvelteKit, Bun, Deno and
 * Workers. Bodies and answers are streamed where their descriptors can.
 * @param options - The descriptors, the limits, and what belongs to `ctx.state`.
 * @param fn - Called with the value of the request's body; its result is the answer.
 * @returns A handler that always resolves: failures are answers of `application/problem+json`.
 * @throws InvalidArgument for wrong options.
 * @example
 * ```ts
 * app.post('/scale', (c) => scale(c.req.raw))
 * ```
 */
export function fetchHandler<
  I extends AnyDescriptor,
  O extends AnyDescriptor,
  P extends readonly unknown[] = [],
>(
  options: FetchHandlerOptions<I, O, P>,
  fn: HandlerFunction<I, O>,
): (request: Request, ...platform: P) => Promise<Response> {
  const handler = handlerOf('fetchHandler', options, fn)
  const { state } = options
  return async (request, ...platform) => {
    const { method, headers, signal, url } = request
    const { pathname, protocol, search } = new URL(url)
    const scheme = protocol === 'https:' ? 'https' : 'http'
    const handled = new HandledRequest(handler, {
      method,
      path: pathname,
      query: search.slice(1),
      headers: HeaderList.of([...headers]),
      scheme,
    })
    const leave = () => handled.ctx.abort(new ClientClosed())
    signal.addEventListener('abort', leave, { once: true })
    if (signal.aborted) leave()
    handled.ctx.onEnd(() => signal.removeEventListener('abort', leave))
    const body = new FetchBody(request)
    const response = await handled.answer(body, () => state?.(request, ...platform))
    body.drop()
    return responseOf(response, handled, method === 'HEAD')
  }
}

/** The body of a Request, read piece by piece. */
class FetchBody implements BodySource {
  readonly declared: number | undefined
  readonly readBy: string | undefined
  readonly #stream: ReadableStream<Uint8Array> | null
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  #isComplete = false

  constructor({ body, headers, bodyUsed }: Request) {
    const length = headers.get('content-length')
    this.readBy = bodyUsed ? 'request.json()' : undefined
    this.#stream = bodyUsed ? null : body
    this.declared = this.#stream === null ? 0 : parseLength(length)
  }

  async read(): Promise<Uint8Array | undefined> {
    this.#reader ??= this.#stream?.getReader()
    const next = await this.#reader?.read()
    if (next?.value !== undefined) return next.value
    this.#isComplete = true
    return undefined
  }

  /** Reads and drops what the answer did not wait for, within bounds: to cancel it at once may reset the answer. */
  drop(): void {
    if (this.#isComplete || this.#stream === null) return
    this.#reader ??= this.#stream.getReader()
    void dropRest(this.#reader)
  }
}

async function dropRest(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  let isOver = false
  const rest = new BodyRest(() => {
    isOver = true
    reader.cancel().catch(() => {})
  })
  try {
    while (!isOver) {
      const { done, value } = await reader.read()
      if (done) break
      rest.drop(value.length, false)
    }
  } catch {}
  rest.stop()
}

/** Converts an answer. The request ends with the last byte that the platform has taken. */
function responseOf(response: HttpResponse, handled: HandledRequest, isHead: boolean): Response {
  const { body, status = 200 } = response
  const init = { status, headers: headersOf(response.headers) }
  if (isBodyless(status) || isHead) {
    discardBody(response)
    handled.end()
    return new Response(null, init)
  }
  if (isAsyncBody(body)) return new Response(streamOf(response, body, handled), init)
  const chunks = chunksOf(body)
  // A Response copies bytes, so that their memory is free again.
  const whole = new Response(
    chunks.length === 1
      ? (chunks[0] as string)
      : (concat(chunks.map(bytesOfChunk)) as Uint8Array<ArrayBuffer>),
    init,
  )
  for (const chunk of chunks) response.pooled?.give(chunk)
  handled.end()
  return whole
}

function headersOf(lines: readonly HeaderLine[]): Headers {
  const headers = new Headers()
  for (const [name, value] of lines) {
    if (name === 'content-length' || !isFramingHeader(name)) headers.append(name, value)
  }
  return headers
}

function streamOf(
  response: HttpResponse,
  body: AsyncIterable<Chunk>,
  handled: HandledRequest,
): ReadableStream<Uint8Array> {
  const length = lengthOf(response.headers)
  const source = exactly(body, length)[Symbol.asyncIterator]()
  let sent = 0
  const end = () => {
    clock?.pause()
    forget()
    handled.end()
    return endIterator(source)
  }
  const breakOff = (error: Error) => {
    if (!(error instanceof ClientClosed)) handled.failed(error)
    controller?.error(error)
    void end()
    handled.ctx.abort(error)
  }
  const forget = handled.ctx.onAbort(breakOff)
  const clock = handled.sendClock(() => sent, breakOff)
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  const next = async (): Promise<Uint8Array | undefined> => {
    for (;;) {
      const { done, value } = await source.next()
      if (done) return undefined
      const bytes = bytesOfChunk(lastingChunk(response, requireChunk(value)))
      if (bytes.length > 0) return bytes
    }
  }
  // Nothing is read ahead: a stream that breaks drops what it has queued.
  return new ReadableStream<Uint8Array>(
    {
      start(own) {
        controller = own
      },
      async pull(own) {
        clock?.pause()
        try {
          const bytes = await next()
          if (bytes !== undefined) {
            sent += bytes.length
            own.enqueue(bytes)
            clock?.start()
            return
          }
          own.close()
          void end()
        } catch (cause) {
          breakOff(new InternalError('the stream failed', { cause }))
        }
      },
      cancel() {
        handled.ctx.abort(new ClientClosed())
        return end()
      },
    },
    { highWaterMark: 0 },
  )
}
