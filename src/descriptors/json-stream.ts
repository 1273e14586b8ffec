import { type MaybePromise, whenReady } from '../core/promise.ts'
import { preferredType, variesByAccept } from '../http/accept.ts'
import type { Context } from '../http/context.ts'
import { encodedBody } from '../http/encoded-pieces.ts'
import { encodeEvent, eventHeaders, eventStream } from '../http/event-stream.ts'
import type { HttpResponse } from '../http/message.ts'
import { constantHeaders, nosniff } from '../http/response-head.ts'
import type { FormatDescription, JsonSchema } from './description.ts'

/** A result that is sent value by value, such as that of a generator. */
export type JsonPieces<T> = AsyncIterable<T> | IterableIterator<T>

const ndjson = 'application/x-ndjson'
// Tells proxies to pass values on at once instead of buffering them.
const lineHeaders = constantHeaders([
  ['content-type', ndjson],
  nosniff,
  variesByAccept,
  ['x-accel-buffering', 'no'],
])
const variedEventHeaders = constantHeaders([...eventHeaders, variesByAccept])

/** Whether a result is an async iterable or an iterator. Lists, Sets and Maps are values. */
export function isJsonStream(value: unknown): value is JsonPieces<unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  if (Symbol.asyncIterator in value) return true
  return (
    Symbol.iterator in value && typeof (value as { readonly next?: unknown }).next === 'function'
  )
}

/** `write` returns the JSON text of a value. */
export function streamResponse(
  pieces: JsonPieces<unknown>,
  write: (piece: unknown) => MaybePromise<string>,
  ctx: Context | undefined,
): HttpResponse {
  const accept = ctx?.headers.get('accept')
  const sendsEvents =
    accept !== undefined && preferredType(accept, [ndjson, eventStream]) === eventStream
  const frame = sendsEvents ? eventOf : lineOf
  return {
    headers: sendsEvents ? variedEventHeaders : lineHeaders,
    body: encodedBody(pieces, (piece) => whenReady(write(piece), frame)),
  }
}

function lineOf(json: string): string {
  // A custom encoder may write line breaks; JSON's strings contain no line breaks, so they are white space.
  return `${json.replace(/[\r\n]+/g, ' ')}\n`
}

function eventOf(json: string): string {
  return encodeEvent({ data: json })
}

/** @returns the formats of streams whose values have this schema. */
export function streamFormats(schema: JsonSchema): readonly FormatDescription[] {
  const { $defs, ...item } = schema
  // A reference to the root would then mean the whole stream.
  const isRecursive = JSON.stringify(schema).includes('"$ref":"#"')
  const isKnown = !isRecursive && Object.keys(item).length > 0
  const lines = {
    type: 'string',
    contentMediaType: ndjson,
    description: 'JSON values, one a line.',
    ...(isKnown && { contentSchema: item }),
    ...(isKnown && $defs !== undefined && { $defs }),
  }
  const events = { type: 'string', description: 'Server-sent events, whose data are JSON values.' }
  return [
    { mimeType: ndjson, schema: lines },
    { mimeType: eventStream, schema: events },
  ]
}
