/** The Model Context Protocol as a protocol of a server. @module */

import type { Host } from '../../api/protocol.ts'
import { mcpEndpoint } from './endpoint.ts'

/** Serves APIs as tools at `/mcp`. */
export function attachMcp(host: Host): void {
  host.http(
    mcpEndpoint(host.service, host.prefix, (error, requestId) => host.logLate(error, requestId)),
  )
}
