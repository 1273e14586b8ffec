/** Versions of the protocol, and what requests of the latest one say of themselves. @module */

import { expected } from '../../core/errors.ts'
import { isRecord } from '../../core/options.ts'
import type { RequestHeaders } from '../../http/message.ts'
import { type ClientMessage, errorCodes, type Fault, type RequestId } from './messages.ts'

/** The version without sessions: each request says what its client speaks. */
export const latest = '2026-07-28'

/** Versions that begin with `initialize`, the latest first. */
export const sessionVersions: readonly string[] = [
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
  '2024-10-07',
]

/** All of them, the latest first. */
export const versions: readonly string[] = [latest, ...sessionVersions]

/** A message that wants an answer. */
export interface Request extends ClientMessage {
  readonly id: RequestId
  /** What its client understands; undefined before the latest version. */
  readonly client?: { readonly takesTasks: boolean }
}

const metaKey = (name: string) => `io.modelcontextprotocol/${name}`

/** The extension by which calls become tasks. */
export const tasksExtension = metaKey('tasks')

/** The member of `_meta` that names the server in results. */
export const serverInfoKey = metaKey('serverInfo')

/** The parameter that the header `mcp-name` repeats. */
const nameMembers: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
}

/**
 * Reads a request of the latest version, whose headers repeat what its body says.
 *
 * @returns the request, or why it is refused.
 * @throws BadInput; PayloadTooLarge.
 */
export function latestRequest(
  message: ClientMessage & { readonly id: RequestId },
  headers: RequestHeaders,
): Request | Fault {
  const { method } = message
  const params = message.params()
  const { _meta: meta } = params
  const version = isRecord(meta) ? meta[metaKey('protocolVersion')] : undefined
  const capabilities = isRecord(meta) ? meta[metaKey('clientCapabilities')] : undefined
  const refuse = (code: number, text: string): Fault => ({ status: 400, code, message: text })
  const name = params[nameMembers[method]]
  const repeated = { 'mcp-protocol-version': version, 'mcp-method': method, 'mcp-name': name }
  if (version === undefined || !isRecord(capabilities)) {
    const wanted = `${metaKey('protocolVersion')} and ${metaKey('clientCapabilities')}`
    return refuse(errorCodes.params, expected(wanted, 'params._meta', meta))
  }
  for (const [header, value] of Object.entries(repeated))
    if (typeof value === 'string' && plainValue(headers.get(header)) !== value)
      return refuse(
        errorCodes.headers,
        expected(
          `${JSON.stringify(value.slice(0, 80))}, as the body says,`,
          header,
          headers.get(header)?.slice(0, 80),
        ),
      )
  const { extensions } = capabilities
  const takesTasks = isRecord(extensions) && isRecord(extensions[tasksExtension])
  return { ...message, params: () => params, client: { takesTasks } }
}

/** Texts that a header cannot have come in base64. */
function plainValue(value: string | undefined): string | undefined {
  const encoded = /^=\?base64\?([A-Za-z0-9+/=]*)\?=$/.exec(value ?? '')?.[1]
  return encoded === undefined ? value : Buffer.from(encoded, 'base64').toString()
}
