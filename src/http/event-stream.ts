import { BadOutput, expected } from '../core/errors.ts'
import { constantHeaders, nosniff } from './response-head.ts'

/** The media type of events. */
export const eventStream = 'text/event-stream'

/** They also tell proxies not to buffer events. */
export const eventHeaders = constantHeaders([
  ['content-type', `${eventStream}; charset=utf-8`],
  nosniff,
  ['cache-control', 'no-cache'],
  ['x-accel-buffering', 'no'],
])

/**
 * One event. **Units**: `retry` in milliseconds.
 *
 * @see WHATWG HTML, section "Server-sent events".
 */
export interface ServerSentEvent {
  /** Each line is sent as a `data:` line. */
  readonly data: string
  /** No line breaks. */
  readonly event?: string
  /** No line breaks, no NUL. */
  readonly id?: string
  readonly retry?: number
}

/**
 * Encodes an event.
 *
 * @throws BadOutput for a field that would break out of its line.
 */
export function encodeEvent(event: ServerSentEvent): string {
  const { data, event: type, id, retry } = event
  if (typeof data !== 'string') throw new BadOutput(expected('a string', 'data of an event', data))
  let text = ''
  if (type !== undefined) text += `event: ${line(type, 'event')}\n`
  if (id !== undefined) text += `id: ${line(id, 'id')}\n`
  if (retry !== undefined) {
    if (!Number.isSafeInteger(retry) || retry < 0)
      throw new BadOutput(expected('whole milliseconds', 'retry', retry))
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
