/** The Model Context Protocol: APIs as tools, over streamable HTTP. **Source**: modelcontextprotocol.io. @module */

import type { Api } from '../../api/api.ts'
import type { FetchHandler } from '../../api/mount.ts'
import { callNamed, type Protocol } from '../../api/stages.ts'
import { BadInput, expected, type ServingError } from '../../core/errors.ts'
import { whenReady } from '../../core/promise.ts'
import { parseJson, requireShort } from '../../core/text/parse-json.ts'
import type { Context, JobContext } from '../../http/context.ts'
import { problemResponse } from '../../http/problem.ts'
import { loadMcp, type ToolResult } from './mcp-package.ts'
import { requestOf, resultOf, toolOf } from './tools.ts'

/** The parts of a Service that its tools need. */
export interface ToolSource {
  readonly name: string
  readonly doc: string | undefined
  readonly version: string | undefined
  readonly apis: ReadonlyMap<string, Api>
}

/** Longest request. **Units**: bytes. */
const maxBytes = 16 * 1024 * 1024

/**
 * Returns the handler of `/mcp`. Requests have no session, so that any worker answers any of them. **Errors**:
 * MissingDependencyException without the SDK.
 */
export function mcpHandler(service: ToolSource): FetchHandler {
  const { Server, Transport, types } = loadMcp()
  const info = { name: service.name, version: service.version ?? '0.0.0' }
  const instructions = service.doc === undefined ? {} : { instructions: service.doc }
  const isOpen = (api: Api, { denial }: Context) => denial === undefined || api.auth !== undefined
  return async (request, ctx) => {
    const bytes = new Uint8Array(await request.arrayBuffer())
    requireShort(bytes, 'of a request', maxBytes)
    const message = parseJson(bytes, 'the request', { maxBytes })
    // The calls of a batch would share one context.
    if (Array.isArray(message)) throw new BadInput(expected('one message', '/mcp', message))
    const server = new Server(info, { capabilities: { tools: {} }, ...instructions })
    server.setRequestHandler(types.ListToolsRequestSchema, () => ({
      tools: [...service.apis.values()].flatMap((api) => (isOpen(api, ctx) ? (toolOf(api) ?? []) : [])),
    }))
    server.setRequestHandler(types.CallToolRequestSchema, async ({ params }, { sendNotification }) => {
      const api = service.apis.get(params.name)
      if (api === undefined || toolOf(api) === undefined)
        throw new types.McpError(types.ErrorCode.InvalidParams, `unknown tool ${params.name}`)
      const progressToken = params._meta?.progressToken
      let count = 0
      const progress: JobContext['progress'] = async (value) => {
        count++
        if (progressToken === undefined) return
        const told =
          typeof value === 'number' ? { progress: value } : { progress: count, message: JSON.stringify(value) }
        await sendNotification({ method: 'notifications/progress', params: { progressToken, ...told } })
      }
      if (api.async !== undefined) ctx.job = { id: ctx.id, attempt: 1, progress }
      return callNamed(
        api,
        () => api.input.fromHttpRequest(requestOf(api, params.arguments ?? {}), ctx),
        ctx,
        toolCall(api),
      )
    })
    const transport = new Transport({})
    ctx.onEnd(() => server.close())
    await server.connect(transport)
    return transport.handleRequest(request, { parsedBody: message })
  }
}

/** Errors of tools are results, for the model to read; they have what a problem document says. */
function toolCall(api: Api): Protocol<ToolResult | Promise<ToolResult>> {
  return {
    encode: (_, result, ctx) =>
      whenReady(api.output.toHttpResponse(result as never, ctx), (answer) => resultOf(api, answer)),
    fail: (error: ServingError, ctx) => ({
      isError: true,
      content: [{ type: 'text', text: String(problemResponse(error, ctx.id).body) }],
    }),
  }
}
