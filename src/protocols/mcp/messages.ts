/** Messages of JSON-RPC 2.0. What they hold beside what a tool needs is not looked at. @module */

import { BadInput, expected, type ServingError, tellsDetail } from '../../core/errors.ts'
import { isRecord } from '../../core/options.ts'
import { cutJson } from '../../core/text/json-cut.ts'
import { parseJson } from '../../core/text/parse-json.ts'
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
    return extent === undefined
      ? params
      : parseJson(bytes.subarray(...extent), 'params', { maxBytes })
  }
  const isBatch = Array.isArray(value)
  const list: readonly unknown[] = isBatch ? value : [value]
  if (list.length === 0 || list.length > maxBatch)
    throw new BadInput(expected(`1 to ${maxBatch} messages`, 'a batch', list.length))
  return { messages: list.flatMap((each) => messagesIn(each, read)), isBatch }
}

function messagesIn(value: unknown, read: (params: unknown) => unknown): readonly ClientMessage[] {
  if (!isRecord(value) || value.jsonrpc !== '2.0')
    throw new BadInput(expected('a message of JSON-RPC 2.0', '/mcp', value))
  const { id, method, params } = value
  // The server asks nothing that a client could answer.
  if (method === undefined && ('result' in value || 'error' in value)) return []
  if (typeof method !== 'string') throw new BadInput(expected('a text', 'method', method))
  const isId = typeof id === 'string' ? id.length <= maxIdLength : Number.isSafeInteger(id)
  if (id !== undefined && !isId)
    throw new BadInput(
      expected(`a whole number or a text of at most ${maxIdLength} characters`, 'id', id),
    )
  return [
    {
      id: id as RequestId | undefined,
      method: method.slice(0, maxMethodLength),
      params: () => objectOf(read(params)),
    },
  ]
}

function objectOf(params: unknown = {}): Readonly<Record<string, unknown>> {
  if (isRecord(params)) return params
  throw new BadInput(expected('an object', 'params', params))
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

/** @returns the response that tells of a request that was refused as a whole. */
export function refusalMessage(error: ServingError, requestId: string): ServerMessage {
  const isUnread = error.reason === 'syntax' || error.reason === 'encoding'
  const wrong = isUnread ? errorCodes.syntax : errorCodes.request
  const code = error instanceof BadInput ? wrong : errorCodes.refused
  return errorMessage(null, code, messageOf(error), problemMembers(error, requestId))
}
