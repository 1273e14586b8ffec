/** Server-sent events: the lines of `text/event-stream`. @module */
import { BadOutput, expected } from '../core/errors.ts'
import { constantHeaders, nosniff } from './constant-headers.ts'

/** The media type of events. */
export const eventStream = 'text/event-stream'

/** Headers of a response of events. Two of them tell proxies to pass events on at once instead of buffering them. */
export const eventHeaders = constantHeaders([
  ['content-type', `${eventStream}; charset=utf-8`],
  nosniff,
  ['cache-control', 'no-cache'],
  ['x-accel-buffering', 'no'],
])

/** One event. **Units**: `retry` in milliseconds. **Source**: WHATWG HTML, section "Server-sent events". */
export interface ServerSentEvent {
  /** The payload; each of its lines is sent as a `data:` line. */
  readonly data: string
  /** The event's type; no line breaks. */
  readonly event?: string
  /** The event's id; no line breaks, no NUL. */
  readonly id?: string
  readonly retry?: number
}

/**
 * Encodes an event: the lines event, id, retry and data, and an empty line.
 * **Errors**: BadOutput when a field would break out of its line.
 */
export function encodeEvent(event: ServerSentEvent): string {
  const { data, event: type, id, retry } = event
  if (typeof data !== 'string') throw new BadOutput(expected('a string', 'data of an event', data))
  let text = ''
  if (type !== undefined) text += `event: ${line(type, 'event')}\n`
  if (id !== undefined) text += `id: ${line(id, 'id')}\n`
  if (retry !== undefined) {
    if (!Number.isSafeInteger(retry) || retry < 0) throw new BadOutput(expected('whole milliseconds', 'retry', retry))
    text += `retry: ${retry}\n`
  }
  for (const part of data.split(/\r\n|\r|\n/)) text += `data: ${part}\n`
  return `${text}\n`
}

function line(value: unknown, name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: line breaks end the field, NUL voids an id
  if (typeof value === 'string' && !/[\r\n\u0000]/.test(value)) return value
  throw new BadOutput(expected('a string without line breaks', `${name} of an event`, value))
}
