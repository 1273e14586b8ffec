/**
 * The WebSocket subprotocol `serving.v1`. A text message that starts with `{"$":` is a control message; all others, and
 * binary ones, are values. A value whose text starts so is sent as `{"$":"value","value":…}`.
 * @module
 */

import { BadInput, type ServingError } from '../core/errors.ts'
import { problemResponse } from '../http/problem.ts'

/** Offered by clients that know control messages, credit and half close; others send and get plain values. */
export const subprotocol = 'serving.v1'

/**
 * What each message costs of the credit beside its bytes. A client may send while its credit is above 0, whatever the
 * length of the message; it starts with 0, and the server's first message gives it `maxBuffered`.
 */
export const messageCost = 64

/** A control message of a client. */
export type ClientControl =
  | { readonly $: 'end' }
  | { readonly $: 'ping' }
  | { readonly $: 'value'; readonly text: string }

const start = Buffer.from('{"$":')
const valueStart = '{"$":"value","value":'

/** Whether the bytes of a text message are a control message. */
export function isControl(bytes: Uint8Array): boolean {
  if (bytes.length < start.length) return false
  for (let i = 0; i < start.length; i++) if (bytes[i] !== start[i]) return false
  return true
}

/**
 * Reads a client's control message. `isJson`: whether a value is JSON, else a text.
 *
 * @throws BadInput.
 */
export function parseControl(bytes: Uint8Array, isJson: boolean): ClientControl {
  const text = Buffer.from(bytes).toString()
  if (text.startsWith(valueStart) && text.endsWith('}')) {
    // JSON as it was written: a number may have more digits than JavaScript holds.
    const value = text.slice(valueStart.length, -1)
    const plain = isJson ? value : textOf(value)
    if (plain !== undefined) return { $: 'value', text: plain }
  }
  if (text === '{"$":"end"}') return { $: 'end' }
  if (text === '{"$":"ping"}') return { $: 'ping' }
  const kinds = '{"$":"end"}, {"$":"ping"} or {"$":"value","value":…}'
  throw new BadInput(
    `expected ${kinds} for a control message of ${subprotocol}, received another`,
    {
      reason: 'syntax',
    },
  )
}

function textOf(json: string): string | undefined {
  // Whatever else a client wrote in place of a text is not parsed, since it may have any number of values.
  if (!/^[ \t\r\n]*"/.test(json)) return undefined
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}

/**
 * `isJson`: as JSON, else as text.
 *
 * @returns a text value as a message that no client takes for a control message.
 */
export function escapeText(text: string, isJson: boolean): string {
  if (!text.startsWith('{"$":')) return text
  return `${valueStart}${isJson ? text : JSON.stringify(text)}}`
}

/** @returns the message that tells of an error: the members of its problem (RFC 9457). */
export function errorMessage(error: ServingError, requestId: string): string {
  return `{"$":"error",${(problemResponse(error, requestId).body as string).slice(1)}`
}

/** The message that lets a client send more. **Units**: bytes. */
export function creditMessage(bytes: number): string {
  return `{"$":"credit","bytes":${bytes}}`
}

/** The answer to a client's ping. */
export const pongMessage = '{"$":"pong"}'

/**
 * Close codes.
 *
 * @see RFC 6455 section 7.4.1; the registry of IANA for 1012 and 1013.
 */
export const closeCodes = { done: 1000, idle: 1001, policy: 1008, restart: 1012 } as const

/** The close code of an error, which an `error` message comes before: 4000 and its status, unless there is a code. */
export function closeCodeOf({ status }: ServingError): number {
  return codeOfStatus[status] ?? 4000 + status
}

const codeOfStatus: Readonly<Record<number, number>> = {
  413: 1009,
  415: 1003,
  500: 1011,
  503: 1013,
}

/** @returns a text as the reason of a close frame: at most 123 bytes of UTF-8. */
export function closeReason(text: string): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= 123) return text
  // A cut character would decode to U+FFFD.
  return bytes
    .subarray(0, 120)
    .toString()
    .replace(/\ufffd+$/, '')
}
