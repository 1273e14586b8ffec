/** What a service answers to the messages of its tools' clients. @module */

import type { Api } from '../../api/api.ts'
import { decodeFailureOf, type Encoding } from '../../api/stages.ts'
import type { Visit } from '../../api/visit.ts'
import {
  BadInput,
  ClientClosed,
  expected,
  type ServingError,
  tellsDetail,
} from '../../core/errors.ts'
import { isRecord } from '../../core/options.ts'
import { whenReady } from '../../core/promise.ts'
import { Context, type JobContext } from '../../http/context.ts'
import { HeaderList } from '../../http/message.ts'
import { problemResponse } from '../../http/problem.ts'
import {
  type ClientMessage,
  errorCodes,
  errorMessage,
  type RequestId,
  resultMessage,
  type ServerMessage,
} from './messages.ts'
import { RunningCalls } from './running-calls.ts'
import { requestOf, resultOf, type Tool, type ToolResult, toolOf } from './tools.ts'

/** The parts of a Service that its tools need. */
export interface ToolSource {
  readonly name: string
  readonly doc: string | undefined
  readonly version: string | undefined
  readonly apis: ReadonlyMap<string, Api>
}

/** Versions of the protocol, the latest first. */
export const versions: readonly string[] = [
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
  '2024-10-07',
]

// Beyond it, progress that the client has not read is not told. **Units**: messages.
const maxUnread = 100

/** What a client asks of a tool. */
interface ToolCall {
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
  readonly progressToken: RequestId | undefined
}

/** Answers requests for the tools of a service. */
export class ToolServer {
  readonly #service: ToolSource
  readonly #onLateError: (error: ServingError, requestId: string) => void
  readonly #running = new RunningCalls()
  readonly #tools = new Map<Api, Tool | undefined>()

  constructor(service: ToolSource, onLateError: (error: ServingError, requestId: string) => void) {
    this.#service = service
    this.#onLateError = onLateError
  }

  #toolOf(api: Api): Tool | undefined {
    if (!this.#tools.has(api)) this.#tools.set(api, toolOf(api))
    return this.#tools.get(api)
  }

  /**
   * Reads a notification.
   *
   * @throws BadInput; PayloadTooLarge.
   */
  notice({ method, params }: ClientMessage, ctx: Context): void {
    if (method === 'notifications/cancelled') this.#running.cancel(ctx, params().requestId)
  }

  /** Yields the response, behind notifications of progress. Never throws. `tools`: of the caller, but for a call. */
  async *answer(
    request: ClientMessage,
    tools: readonly Tool[],
    visit: Visit,
  ): AsyncGenerator<ServerMessage> {
    const id = request.id as RequestId
    try {
      if (request.method === 'tools/call') yield* this.#call(request, id, visit)
      else if (request.method === 'initialize') yield resultMessage(id, this.#initialize(request))
      else if (request.method === 'tools/list') yield resultMessage(id, { tools })
      else if (request.method === 'ping') yield resultMessage(id, {})
      else
        yield errorMessage(
          id,
          errorCodes.method,
          `this server has no method ${JSON.stringify(request.method)}`,
        )
    } catch (error) {
      const failure = decodeFailureOf(error)
      const code = failure.status < 500 ? errorCodes.params : errorCodes.internal
      yield errorMessage(id, code, tellsDetail(failure) ? failure.message : failure.code)
    }
  }

  #initialize(request: ClientMessage): object {
    const { protocolVersion: asked } = request.params()
    const { name, version = '0.0.0', doc } = this.#service
    return {
      protocolVersion: versions.find((each) => each === asked) ?? versions[0],
      capabilities: { tools: {} },
      serverInfo: { name, version },
      ...(doc !== undefined && { instructions: doc }),
    }
  }

  /**
   * @returns the tools whose auth admits the caller.
   * @throws why, if there are only others.
   */
  async toolsFor(visit: Visit): Promise<Tool[]> {
    const apis = [...this.#service.apis.values()].filter((api) => this.#toolOf(api) !== undefined)
    const visible = await visit.visible(apis, (api) => contextOf(api, visit.ctx))
    return visible.flatMap((api) => this.#toolOf(api) ?? [])
  }

  async *#call(request: ClientMessage, id: RequestId, visit: Visit): AsyncGenerator<ServerMessage> {
    let asked: ToolCall
    try {
      asked = toolCallOf(request.params())
    } catch (error) {
      yield resultMessage(id, this.#failed(decodeFailureOf(error), visit.ctx))
      return
    }
    const api = this.#service.apis.get(asked.name)
    if (api !== undefined && this.#toolOf(api) !== undefined)
      yield* this.#run(api, asked, id, visit)
    else if (visit.denial !== undefined)
      yield resultMessage(id, this.#failed(visit.denial, visit.ctx))
    else yield errorMessage(id, errorCodes.params, `unknown tool ${asked.name.slice(0, 80)}`)
  }

  async *#run(
    api: Api,
    { args, progressToken }: ToolCall,
    id: RequestId,
    visit: Visit,
  ): AsyncGenerator<ServerMessage> {
    const { ctx } = visit
    // For the server's metrics and hooks.
    ctx.api = api.name
    const call = contextOf(api, ctx)
    const forget = [ctx.onAbort((reason) => call.abort(reason)), this.#running.add(ctx, id, call)]
    const messages = new ReadableStream<ServerMessage>(
      {
        start: (to) => {
          const end = (...last: ServerMessage[]) => {
            try {
              for (const each of last) to.enqueue(each)
              to.close()
            } catch {
              // The client is gone.
            }
          }
          call.onAbort((reason) => {
            // Nobody waits for the response.
            if (reason instanceof ClientClosed) end()
          })
          if (api.async !== undefined) call.job = jobContextOf(call.id, progressToken, to)
          const decode = () => api.input.fromHttpRequest(requestOf(api, args), call)
          const result = visit.call(api, decode, this.#encodingOf(api), call)
          void Promise.resolve(result).then((answer) => end(resultMessage(id, answer)))
        },
      },
      { highWaterMark: maxUnread },
    )
    try {
      yield* messages
    } finally {
      for (const each of forget) each()
      call.end()
    }
  }

  #encodingOf(api: Api): Encoding<ToolResult | Promise<ToolResult>> {
    return {
      protocol: 'mcp',
      encode: (_, result, call) =>
        whenReady(api.output.toHttpResponse(result as never, call), (answer) =>
          resultOf(api, answer, call),
        ),
      fail: (error, call) => this.#failed(error, call),
    }
  }

  /** Errors of tools are results, for the model to read; they have what a problem document says. */
  #failed(error: ServingError, { id }: Context): ToolResult {
    this.#onLateError(error, id)
    return {
      isError: true,
      content: [{ type: 'text', text: String(problemResponse(error, id).body) }],
    }
  }
}

/** @throws BadInput. */
function toolCallOf({
  name,
  arguments: args = {},
  _meta: meta,
}: Readonly<Record<string, unknown>>): ToolCall {
  if (typeof name !== 'string') throw new BadInput(expected('the name of a tool', 'name', name))
  if (!isRecord(args)) throw new BadInput(expected('an object', 'arguments', args))
  const token = isRecord(meta) ? meta.progressToken : undefined
  const isToken = (typeof token === 'string' && token.length <= 256) || Number.isSafeInteger(token)
  return { name, args, progressToken: isToken ? (token as RequestId) : undefined }
}

function jobContextOf(
  id: string,
  progressToken: RequestId | undefined,
  to: ReadableStreamDefaultController<ServerMessage>,
): JobContext {
  let count = 0
  return {
    id,
    attempt: 1,
    async progress(value) {
      count++
      if (progressToken === undefined || (to.desiredSize ?? 0) <= 0) return
      const told =
        typeof value === 'number'
          ? { progress: value }
          : { progress: count, message: JSON.stringify(value) }
      to.enqueue({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken, ...told },
      })
    },
  }
}

// Of the transport: descriptors would take them for those of the tool's input and answer.
const ofTransport = new Set([
  'accept',
  'content-type',
  'content-length',
  'content-encoding',
  'x-request-id',
])

/** @returns the context of one call, which may end before that of its request. */
function contextOf(api: Api, asked: Context): Context {
  const lines = [...asked.headers].filter(([name]) => !ofTransport.has(name))
  lines.push(['x-request-id', asked.id])
  const names = lines.map(([name]) => name)
  const headers = new HeaderList(
    names,
    lines.map(([, value]) => value),
  )
  const { method, path, remainingMs } = asked
  const call = new Context({
    headers,
    timeoutMs: remainingMs === Number.POSITIVE_INFINITY ? undefined : remainingMs,
  })
  call.bind({ method, path }, api.name, {
    get scheme() {
      return asked.scheme
    },
    get remoteAddress() {
      return asked.remoteAddress
    },
    reservation: { reserve: (bytes, isSpare) => asked.reserve(bytes, isSpare) },
  })
  Object.assign(call.state, asked.state)
  return call
}
