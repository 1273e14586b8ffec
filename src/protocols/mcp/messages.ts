/**
 * Messages of JSON-RPC 2.0, and versions of the protocol. What messages hold beside what a tool needs is not looked at.
 *
 * @module
 */

import {
  BadInput,
  checkInput,
  expected,
  type ServingError,
  tellsDetail,
} from '../../core/errors.ts'
import { isRecord } from '../../core/options.ts'
import { cutJson } from '../../core/text/json-cut.ts'
import { parseJson } from '../../core/text/parse-json.ts'
import type { RequestHeaders } from '../../http/message.ts'
import { problemMembers } from '../../http/problem.ts'

/** The identifier of a request, which its response repeats. */
export type RequestId = string | number

/** A message of a client. */
export interface ClientMessage {
  /** Undefined for a notification, which gets no response. */
  readonly id: RequestId | undefined
  readonly method: string
  /**
   * Reads the parameters.
   *
   * @throws BadInput; PayloadTooLarge.
   */
  params(): Readonly<Record<string, unknown>>
}

/** A message to a client. */
export type ServerMessage = Readonly<Record<string, unknown>>

/** Longest message. **Units**: bytes. */
const maxBytes = 16 * 1024 * 1024
const maxBatch = 100
// Both are repeated in answers. **Units**: characters.
const maxIdLength = 256
const maxMethodLength = 80

/**
 * Codes of errors.
 *
 * @see JSON-RPC 2.0, "Error object".
 */
export const errorCodes = {
  syntax: -32_700,
  request: -32_600,
  method: -32_601,
  params: -32_602,
  internal: -32_603,
  refused: -32_000,
  /** Of versions before 2026-07-28; since then `params`. */
  resource: -32_002,
  headers: -32_020,
  capability: -32_021,
  version: -32_022,
} as const

/** Why a request is refused before anybody answers it. */
export interface Fault {
  readonly status: 400 | 404
  readonly code: number
  readonly message: string
  readonly data?: object
}

/**
 * @returns one message or those of a batch; responses are left out.
 * @throws BadInput; PayloadTooLarge.
 */
export function readMessages(bytes: Uint8Array): {
  readonly messages: readonly ClientMessage[]
  readonly isBatch: boolean
} {
  const { value, cuts, indexOf } = cutJson(bytes, { of: 'text', names: ['params'] })
  const read = (params: unknown) => {
    const extent = cuts[indexOf(params)]
    if (extent === undefined) return params
    return parseJson(bytes.subarray(...extent), 'params', { maxBytes })
  }
  const isBatch = Array.isArray(value)
  const list = [value].flat()
  const isShort = list.length > 0 && list.length <= maxBatch
  checkInput(isShort, `1 to ${maxBatch} messages`, 'a batch', list.length)
  return { messages: list.flatMap((each) => messagesIn(each, read)), isBatch }
}

function messagesIn(value: unknown, read: (params: unknown) => unknown): readonly ClientMessage[] {
  const isMessage = isRecord(value) && value.jsonrpc === '2.0'
  checkInput(isMessage, 'a message of JSON-RPC 2.0', '/mcp', value)
  const { id, method, params } = value
  // The server asks nothing that a client could answer.
  if (method === undefined && ('result' in value || 'error' in value)) return []
  checkInput(typeof method === 'string', 'a text', 'method', method)
  const isId =
    id === undefined ||
    Number.isSafeInteger(id) ||
    (typeof id === 'string' && id.length <= maxIdLength)
  checkInput(isId, `a whole number or a text of at most ${maxIdLength} characters`, 'id', id)
  const objectOf = (given: unknown = {}) => {
    checkInput(isRecord(given), 'an object', 'params', given)
    return given
  }
  return [
    {
      id: id as RequestId | undefined,
      method: method.slice(0, maxMethodLength),
      params: () => objectOf(read(params)),
    },
  ]
}

/** @returns the response to a request. */
export function resultMessage(id: RequestId, result: object): ServerMessage {
  return { jsonrpc: '2.0', id, result }
}

/** @returns the response that tells of an error of the protocol. */
export function errorMessage(
  id: RequestId | null,
  code: number,
  message: string,
  data?: object,
): ServerMessage {
  return { jsonrpc: '2.0', id, error: { code, message, data } }
}

/** @returns what a client sees of an error. */
export function messageOf(error: ServingError): string {
  return tellsDetail(error) ? error.message : error.code
}

function codeOf(error: ServingError): number {
  if (!(error instanceof BadInput)) return errorCodes.refused
  const isUnread = error.reason === 'syntax' || error.reason === 'encoding'
  return isUnread ? errorCodes.syntax : errorCodes.request
}

/** @returns the response that tells of a request that was refused as a whole. */
export function refusalMessage(error: ServingError, requestId: string): ServerMessage {
  return errorMessage(null, codeOf(error), messageOf(error), problemMembers(error, requestId))
}

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
export function latestRequest(message: Request, headers: RequestHeaders): Request | Fault {
  const { method } = message
  const params = message.params()
  const { _meta: meta } = params
  const [version, capabilities] = ['protocolVersion', 'clientCapabilities'].map(
    (name): unknown => Object(meta)[metaKey(name)],
  )
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
