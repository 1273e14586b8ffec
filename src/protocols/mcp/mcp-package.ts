import type { Server as McpServer } from '@modelcontextprotocol/sdk/server/index.js'
import type * as transports from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import type * as types from '@modelcontextprotocol/sdk/types.js'
import { loadOptional } from '../../core/modules/optional.ts'

/** The parts of the SDK that are used. */
export interface McpPackage {
  readonly Server: typeof McpServer
  readonly Transport: typeof transports.WebStandardStreamableHTTPServerTransport
  readonly types: typeof types
}

/** A member of a tool's result. */
export type ToolContent = types.ContentBlock

/** What a tool answers. */
export type ToolResult = types.CallToolResult

/** What a client knows of a tool. */
export type Tool = types.Tool

/** Loads the SDK. **Errors**: MissingDependencyException. */
export function loadMcp(): McpPackage {
  const load = <T>(below: string) => loadOptional<T>('@modelcontextprotocol/sdk', '^1.32.2', 'mcp of a Service', below)
  const { Server } = load<Pick<McpPackage, 'Server'>>('/server/index.js')
  const { WebStandardStreamableHTTPServerTransport: Transport } = load<{
    readonly WebStandardStreamableHTTPServerTransport: McpPackage['Transport']
  }>('/server/webStandardStreamableHttp.js')
  return { Server, Transport, types: load('/types.js') }
}
