/** What a service answers to the messages of agents' clients. @module */

import type { Api } from '../../api/api.ts'
import { decodeFailureOf, type Encoding } from '../../api/stages.ts'
import type { Visit } from '../../api/visit.ts'
import { BadInput, ClientClosed, expected, NotFound, type ServingError } from '../../core/errors.ts'
import type { MaybePromise } from '../../core/promise.ts'
import type { Context } from '../../http/context.ts'
import { HeaderList, HttpRequest } from '../../http/message.ts'
import { problemResponse } from '../../http/problem.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import { hasJobs } from '../../jobs/new-job.ts'
import { callerHeaders, callIn, contextOf, inTime } from './call-context.ts'
import {
  type ClientMessage,
  errorCodes,
  errorMessage,
  type Fault,
  messageOf,
  resultMessage,
  type ServerMessage,
} from './messages.ts'
import { callOf, jobContextOf, type NamedCall, textOf } from './named-call.ts'
import { Resources } from './resources.ts'
import {
  type Request,
  serverInfoKey,
  sessionVersions,
  tasksExtension,
  versions,
} from './revisions.ts'
import { RunningCalls } from './running-calls.ts'
import { Tasks } from './tasks.ts'
import {
  encodeResult,
  promptOf,
  promptResult,
  requestOf,
  type Tool,
  type ToolResult,
  toolOf,
} from './tools.ts'

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

/** Answers the requests of agents' clients. */
export class ToolServer {
  readonly #service: ToolSource
  readonly #onLateError: (error: ServingError, requestId: string) => void
  readonly #running = new RunningCalls()
  readonly #tools = new Map<Api, Tool>()
  readonly #prompts = new Set<Api>()
  readonly #resources: Resources
  readonly #tasks: Tasks | undefined

  /**
   * @param prefix - In front of the paths of the service.
   * @param jobs - Undefined if no API is asynchronous.
   * @param onLateError - Called for an error that is told by a tool's result.
   */
  constructor(
    service: ToolSource,
    prefix: string,
    jobs: Jobs | undefined,
    onLateError: (error: ServingError, requestId: string) => void,
  ) {
    this.#service = service
    this.#onLateError = onLateError
    const { name, apis, routes } = service
    for (const api of apis.values()) {
      const tool = api.mcp && toolOf(api)
      if (tool === undefined) continue
      if (api.mcp?.prompt) this.#prompts.add(api)
      else this.#tools.set(api, tool)
    }
    this.#resources = new Resources(name, routes.values(), prefix)
    this.#tasks = jobs && new Tasks(jobs, apis, name)
  }

  /**
   * Reads a notification.
   *
   * @throws BadInput; PayloadTooLarge.
   */
  notice({ method, params }: ClientMessage, ctx: Context): void {
    if (method === 'notifications/cancelled') this.#running.cancel(ctx, params().requestId)
  }

  /** @returns why a request of the latest version is refused; undefined if it has an answer. */
  refusalOf({ method, client }: Request): Fault | undefined {
    const isOfTasks = method.startsWith('tasks/')
    if (!latestMethods.has(method) || (isOfTasks && this.#tasks === undefined))
      return { status: 404, code: errorCodes.method, message: absent(method) }
    if (!isOfTasks || client?.takesTasks) return undefined
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
    const { id, method } = request
    try {
      if (method === 'tools/call') {
        yield* this.#call(request, visit)
        return
      }
      const result = await inTime(visit.ctx, this.#resultFor(request, visible, visit))
      if (result !== undefined) yield this.#response(request, result)
      else yield errorMessage(id, errorCodes.method, absent(method))
    } catch (error) {
      const failure = decodeFailureOf(error)
      const isAbsent = failure instanceof NotFound && method === 'resources/read'
      const refused =
        isAbsent && request.client === undefined ? errorCodes.resource : errorCodes.params
      const code = failure.status < 500 ? refused : errorCodes.internal
      yield errorMessage(id, code, messageOf(failure))
    }
  }

  /** @returns undefined for a method that the version does not have. */
  #resultFor(
    request: Request,
    visible: readonly Api[],
    visit: Visit,
  ): MaybePromise<object | undefined> {
    const { method, client } = request
    const cached = client === undefined ? {} : { ttlMs: listTtlMs, cacheScope: 'private' }
    if (method === 'tools/list')
      return { tools: visible.flatMap((api) => this.#tools.get(api) ?? []), ...cached }
    if (method === 'prompts/list') {
      const prompts = visible.filter((api) => this.#prompts.has(api))
      return { prompts: prompts.map(promptOf), ...cached }
    }
    if (method === 'resources/list')
      return { resources: this.#resources.list(visible, 'uri'), ...cached }
    if (method === 'resources/templates/list')
      return { resourceTemplates: this.#resources.list(visible, 'uriTemplate'), ...cached }
    if (method === 'resources/read') return this.#read(request, visit)
    if (method === 'prompts/get') return this.#prompt(request, visit)
    if (client === undefined) {
      if (method === 'initialize') return this.#initialize(request)
      return method === 'ping' ? {} : undefined
    }
    if (method === 'server/discover')
      return { supportedVersions: versions, ...this.#about(true), ...cached }
    return this.#task(method, textOf(request.params(), 'taskId'), visit)
  }

  async #task(method: string, id: string, visit: Visit): Promise<object | undefined> {
    if (method === 'tasks/get') return this.#tasks?.get(id, visit)
    if (method === 'tasks/cancel') await this.#tasks?.cancel(id, visit)
    else await this.#tasks?.update(id, visit)
    return {}
  }

  async #read(request: Request, visit: Visit): Promise<object> {
    const uri = textOf(request.params(), 'uri')
    const read = (await this.#tasks?.read(uri, visit)) ?? (await this.#resources.read(uri, visit))
    return request.client === undefined ? read : { ...read, ttlMs: 0, cacheScope: 'private' }
  }

  async #prompt(request: Request, visit: Visit): Promise<object> {
    const { name, args } = callOf(request.params())
    const api = this.#service.apis.get(name)
    if (api === undefined || !this.#prompts.has(api))
      throw (
        visit.denial ?? new BadInput(expected('the name of a prompt', 'name', name.slice(0, 80)))
      )
    const call = contextOf(api, visit.ctx)
    const decode = () => api.input.fromHttpRequest(requestOf(api, args), call)
    return callIn(call, api, visit, decode, async (result) =>
      promptResult(api, await encodeResult(api, result, call)),
    )
  }

  /** @returns the response to a request. */
  #response({ id, client }: Request, result: object): ServerMessage {
    if (client === undefined) return resultMessage(id, result)
    const _meta = { [serverInfoKey]: this.#info }
    return resultMessage(id, { resultType: 'complete', ...result, _meta })
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
        const { headers, body } = requestOf(api, asked.args)
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
    const forget = [
      ctx.onAbort((reason) => call.abort(reason)),
      this.#running.add(ctx, request.id, call),
    ]
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
          void Promise.resolve(result).then((answer) => end(this.#response(request, answer)))
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

  #encodingOf(api: Api): Encoding<MaybePromise<ToolResult>> {
    return {
      protocol: 'mcp',
      encode: (_, result, call) => encodeResult(api, result, call),
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

/** Methods of the latest version. */
const latestMethods = new Set([
  'server/discover',
  'tools/list',
  'tools/call',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'tasks/get',
  'tasks/update',
  'tasks/cancel',
])

function absent(method: string): string {
  return `this server has no method ${JSON.stringify(method)}`
}
