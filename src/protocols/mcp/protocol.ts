/** The Model Context Protocol as a protocol of a server. @module */

import type { Host } from '../../api/protocol.ts'
import { mcpEndpoint } from './endpoint.ts'

/** Serves APIs as tools at `/mcp`. */
export function attachMcp(host: Host): void {
  host.http(
    mcpEndpoint(host.service, host.prefix, (error, requestId) => host.logLate(error, requestId)),
  )
  host.page({
    group: 'MCP',
    path: `${host.prefix}/mcp`,
    methods: ['POST'],
    doc: 'The APIs as tools of the Model Context Protocol.',
    example: { type: 'application/json', text: JSON.stringify(listTools, null, 2) },
  })
}

const listTools = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
