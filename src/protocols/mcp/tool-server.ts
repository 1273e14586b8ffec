/** What a service answers to the messages of agents' clients. @module */

import type { Api } from '../../api/api.ts'
import type { Host } from '../../api/protocol.ts'
import { decodeFailureOf } from '../../api/stages.ts'
import type { Visit } from '../../api/visit.ts'
import { BadInput, ClientClosed, expected, NotFound, type ServingError } from '../../core/errors.ts'
import type { MaybePromise } from '../../core/promise.ts'
import type { Context } from '../../http/context.ts'
import { HeaderList, HttpRequest } from '../../http/message.ts'
import { problemResponse } from '../../http/problem.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import { hasJobs } from '../../jobs/new-job.ts'
import {
  callerHeaders,
  callIn,
  callOf,
  contextOf,
  inTime,
  jobContextOf,
  type NamedCall,
  RunningCalls,
  textOf,
} from './calls.ts'
import {
  type ClientMessage,
  errorCodes,
  errorMessage,
  type Fault,
  messageOf,
  type Request,
  resultMessage,
  type ServerMessage,
  serverInfoKey,
  sessionVersions,
  tasksExtension,
  versions,
} from './messages.ts'
import { Resources } from './resources.ts'
import { Tasks } from './tasks.ts'
import { encodeResult, promptOf, requestOf, type Tool, type ToolResult, toolOf } from './tools.ts'

/** The parts of a Service that agents see. */
export interface ToolSource {
  readonly name: string
  readonly doc: string | undefined
  readonly version: string | undefined
  readonly apis: ReadonlyMap<string, Api>
  /** With methods beside POST, and with parameters in their paths. */
  readonly routes: ReadonlyMap<string, Api>
}

// Beyond it, progress that the client has not read is not told. **Units**: messages.
const maxUnread = 100

/** How long clients may keep a list. **Units**: milliseconds. */
const listTtlMs = 60_000

/** Answers a method. `visible`: the APIs that the caller sees, for what names no API. */
type Answer = (visible: readonly Api[], request: Request, visit: Visit) => MaybePromise<object>

/** Answers the requests of agents' clients. */
export class ToolServer {
  readonly #service: ToolSource
  readonly #host: Pick<Host, 'prefix' | 'logLate'>
  readonly #running = new RunningCalls()
  readonly #tools = new Map<Api, Tool>()
  readonly #prompts = new Set<Api>()
  readonly #resources: Resources
  readonly #tasks: Tasks | undefined
  readonly #sessionMethods: ReadonlyMap<string, Answer>
  readonly #latestMethods: ReadonlyMap<string, Answer>

  /**
   * @param host - Logs errors that results of tools tell.
   * @param jobs - Undefined if no API is asynchronous.
   */
  constructor(service: ToolSource, host: Pick<Host, 'prefix' | 'logLate'>, jobs: Jobs | undefined) {
    this.#service = service
    this.#host = host
    const { name, apis, routes } = service
    for (const api of apis.values()) {
      const tool = api.mcp && toolOf(api)
      if (tool === undefined) continue
      if (api.mcp?.prompt) this.#prompts.add(api)
      else this.#tools.set(api, tool)
    }
    this.#resources = new Resources(name, routes.values(), host.prefix)
    this.#tasks = jobs && new Tasks(jobs, apis, name)
    const methods: Record<string, Answer> = {
      'tools/list': (visible) => ({
        tools: visible.flatMap((api) => this.#tools.get(api) ?? []),
      }),
      'prompts/list': (visible) => ({
        prompts: visible.filter((api) => this.#prompts.has(api)).map(promptOf),
      }),
      'prompts/get': (_, ...asked) => this.#prompt(...asked),
      'resources/list': (visible) => ({ resources: this.#resources.list(visible, 'uri') }),
      'resources/templates/list': (visible) => ({
        resourceTemplates: this.#resources.list(visible, 'uriTemplate'),
      }),
      'resources/read': (_, ...asked) => this.#read(...asked),
    }
    this.#sessionMethods = new Map(
      Object.entries({
        ...methods,
        initialize: (_: unknown, request: Request) => this.#initialize(request),
        ping: () => ({}),
      }),
    )
    this.#latestMethods = new Map(
      Object.entries({
        ...methods,
        'server/discover': () => ({ supportedVersions: versions, ...this.#about(true) }),
        ...this.#tasks?.methods,
      }),
    )
  }

  /**
   * Reads a notification.
   *
   * @throws BadInput; PayloadTooLarge.
   */
  notice({ method, params }: ClientMessage, ctx: Context): void {
    if (method === 'notifications/cancelled') this.#running.cancel(ctx, params().requestId)
  }

  /** @returns why a request of the latest version is refused; undefined for others, and if it has an answer. */
  refusalOf({ method, client }: Request): Fault | undefined {
    if (client === undefined) return undefined
    if (method !== 'tools/call' && !this.#latestMethods.has(method))
      return { status: 404, code: errorCodes.method, message: absent(method) }
    if (!method.startsWith('tasks/') || client.takesTasks) return undefined
    return {
      status: 400,
      code: errorCodes.capability,
      message: `expected the capability ${tasksExtension} of the client`,
      data: { requiredCapabilities: { extensions: { [tasksExtension]: {} } } },
    }
  }

  /**
   * Yields the response, behind notifications of progress. Never throws. `visible`: of the caller, for what names no
   * API.
   */
  async *answer(
    request: Request,
    visible: readonly Api[],
    visit: Visit,
  ): AsyncGenerator<ServerMessage> {
    const { id, method, client } = request
    try {
      if (method === 'tools/call') {
        yield* this.#call(request, visit)
        return
      }
      const methods = client === undefined ? this.#sessionMethods : this.#latestMethods
      const answer = methods.get(method)
      if (answer === undefined) yield errorMessage(id, errorCodes.method, absent(method))
      else {
        const result = await inTime(visit.ctx, answer(visible, request, visit))
        yield this.#response(request, result)
      }
    } catch (error) {
      const failure = decodeFailureOf(error)
      const isAbsent = failure instanceof NotFound && method === 'resources/read'
      const refused = isAbsent && client === undefined ? errorCodes.resource : errorCodes.params
      const code = failure.status < 500 ? refused : errorCodes.internal
      yield errorMessage(id, code, messageOf(failure))
    }
  }

  async #read(request: Request, visit: Visit): Promise<object> {
    const uri = textOf(request.params(), 'uri')
    return (await this.#tasks?.read(uri, visit)) ?? this.#resources.read(uri, visit)
  }

  async #prompt(request: Request, visit: Visit): Promise<object> {
    const { name, args } = callOf(request.params())
    const api = this.#service.apis.get(name)
    if (api === undefined || !this.#prompts.has(api))
      throw (
        visit.denial ?? new BadInput(expected('the name of a prompt', 'name', name.slice(0, 80)))
      )
    const { content } = await callTool(api, args, contextOf(api, visit.ctx), visit)
    const messages = content.map((part) => ({ role: 'user', content: part }))
    return { description: api.doc, messages }
  }

  /** @returns the response to a request. */
  #response({ id, method, client }: Request, result: object): ServerMessage {
    if (client === undefined) return resultMessage(id, result)
    const _meta = { [serverInfoKey]: this.#info }
    const ttlMs = method === 'resources/read' ? 0 : listTtlMs
    const cached = /\/(list|discover|read)$/.test(method) && { ttlMs, cacheScope: 'private' }
    return resultMessage(id, { resultType: 'complete', ...result, ...cached, _meta })
  }

  #initialize(request: Request): object {
    const { protocolVersion: asked } = request.params()
    const protocolVersion = sessionVersions.find((each) => each === asked) ?? sessionVersions[0]
    return { protocolVersion, ...this.#about(false) }
  }

  get #info() {
    const { name, version = '0.0.0' } = this.#service
    return { name, version }
  }

  #about(isLatest: boolean): object {
    const hasTasks = isLatest && this.#tasks !== undefined
    return {
      capabilities: {
        tools: {},
        ...((this.#resources.apis.length > 0 || hasTasks) && { resources: {} }),
        ...(this.#prompts.size > 0 && { prompts: {} }),
        ...(hasTasks && { extensions: { [tasksExtension]: {} } }),
      },
      serverInfo: this.#info,
      instructions: this.#service.doc,
    }
  }

  /**
   * @returns the APIs whose auth admits the caller.
   * @throws why, if there are only others.
   */
  visibleTo(visit: Visit): Promise<readonly Api[]> {
    const apis = [...this.#tools.keys(), ...this.#prompts, ...this.#resources.apis]
    return visit.visible(apis, (api) => contextOf(api, visit.ctx))
  }

  async *#call(request: Request, visit: Visit): AsyncGenerator<ServerMessage> {
    const { ctx, denial } = visit
    try {
      const asked = callOf(request.params())
      const api = this.#service.apis.get(asked.name)
      if (api === undefined || !this.#tools.has(api)) {
        if (denial !== undefined) throw denial
        const message = `unknown tool ${asked.name.slice(0, 80)}`
        yield errorMessage(request.id, errorCodes.params, message)
      } else if (request.client?.takesTasks && this.#tasks !== undefined && hasJobs(api)) {
        const { headers, body } = requestOf(api, asked.args, ctx)
        const own = new HttpRequest(HeaderList.of([...headers, ...callerHeaders(ctx)]), body)
        yield this.#response(request, await inTime(ctx, this.#tasks.begin(api, own, visit)))
      } else yield* this.#run(api, asked, request, visit)
    } catch (error) {
      yield this.#response(request, this.#failed(decodeFailureOf(error), ctx))
    }
  }

  async *#run(
    api: Api,
    { args, progressToken }: NamedCall,
    request: Request,
    visit: Visit,
  ): AsyncGenerator<ServerMessage> {
    const { ctx } = visit
    // For the server's metrics and hooks.
    ctx.api = api.name
    const call = contextOf(api, ctx)
    this.#running.add(ctx, request.id, call)
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
          void callTool(api, args, call, visit)
            .catch((error) => this.#failed(decodeFailureOf(error), call))
            .then((result) => end(this.#response(request, result)))
        },
      },
      { highWaterMark: maxUnread },
    )
    try {
      yield* messages
    } finally {
      call.end()
    }
  }

  /** Errors of tools are results, for the model to read; they have what a problem document says. */
  #failed(error: ServingError, { id }: Context): ToolResult {
    this.#host.logLate(error, id)
    return {
      isError: true,
      content: [{ type: 'text', text: String(problemResponse(error, id).body) }],
    }
  }
}

function callTool(
  api: Api,
  args: NamedCall['args'],
  call: Context,
  visit: Visit,
): Promise<ToolResult> {
  return callIn(
    call,
    api,
    visit,
    () => api.input.fromHttpRequest(requestOf(api, args, call), call),
    (result) => encodeResult(api, result, call),
  )
}

function absent(method: string): string {
  return `this server has no method ${JSON.stringify(method)}`
}
