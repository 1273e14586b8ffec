/** The Model Context Protocol as a protocol of a server. @module */

import type { Host } from '../../api/protocol.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import { mcpEndpoint } from './endpoint.ts'
import { ToolServer, type ToolSource } from './tool-server.ts'

/** Serves APIs as tools, prompts and resources at `/mcp`. `jobs`: undefined if no API is asynchronous. */
export function attachMcp(host: Host, service: ToolSource, jobs: Jobs | undefined): void {
  host.http(mcpEndpoint(new ToolServer(service, host, jobs), host.prefix))
  host.page({
    group: 'MCP',
    path: `${host.prefix}/mcp`,
    methods: ['POST'],
    doc: 'The APIs as tools of the Model Context Protocol.',
    example: { type: 'application/json', text: JSON.stringify(listTools, null, 2) },
  })
}

const listTools = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
