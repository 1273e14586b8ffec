/** What of an answer to GET a client needs: nothing, a part, or all of it (RFC 9110 sections 13 and 14). @module */

import {
  BadInput,
  BadOutput,
  expected,
  PreconditionFailed,
  type ServingError,
} from '../core/errors.ts'
import { digestOf } from '../core/platform.ts'
import type { Context } from './context.ts'
import {
  bytesOfChunk,
  type Chunk,
  discardBody,
  type HeaderLine,
  type HttpResponse,
  headerOf,
  isChunk,
  lengthOf,
  type RequestHeaders,
  type Revision,
} from './message.ts'
import { responseFault } from './response-head.ts'

/** The request headers that decide. */
export const selectingHeaders: readonly string[] = [
  'if-match',
  'if-unmodified-since',
  'if-none-match',
  'if-modified-since',
  'if-range',
  'range',
]

/** The function may have worked for longer than a digest of so many bytes takes. **Units**: bytes. */
const maxDigestBytes = 1024 * 1024

/** @returns the tag of a state that some text or bytes tell from all others. */
export function etagOf(state: string | Uint8Array): string | undefined {
  const digest = digestOf(state)
  return digest && `"${digest}"`
}

/**
 * Called where answers are written, for every protocol.
 *
 * @param response - Its body must be new.
 * @returns the whole answer, or for GET 304, or 206 with a part; or why it, or the state or the part that is asked for,
 * cannot be sent.
 */
export function sendable(
  response: HttpResponse,
  { method, headers }: Pick<Context, 'method' | 'headers'>,
): HttpResponse | ServingError {
  const fault = responseFault(response)
  if (fault !== undefined) {
    discardBody(response)
    return new BadOutput(fault)
  }
  const { status = 200, revision } = response
  if ((method !== 'GET' && method !== 'HEAD') || status !== 200) return response
  const whole = revision === undefined ? response : withValidators(response, revision)
  const other = otherState(whole.headers, headers)
  if (other !== undefined) {
    drop(whole)
    return other
  }
  if (isKnown(whole.headers, headers)) {
    drop(whole)
    const lines = whole.headers.filter(([name]) => !/^content-(?:type|length|dis)/i.test(name))
    return { status: 304, headers: lines, body: '' }
  }
  const range = method === 'GET' && revision !== undefined ? headers.get('range') : undefined
  return range !== undefined && mayCut(whole.headers, headers) ? cut(whole, range) : whole
}

function withValidators(response: HttpResponse, { etag, modifiedAt }: Revision): HttpResponse {
  const { headers, body } = response
  const lines: HeaderLine[] = [...headers, ['accept-ranges', 'bytes']]
  if (headerOf(headers, 'etag') === undefined) {
    const isShort = body instanceof Uint8Array && body.length <= maxDigestBytes
    const tag = etag ?? (isShort ? etagOf(body) : undefined)
    if (tag !== undefined) lines.push(['etag', tag])
  }
  if (modifiedAt !== undefined) lines.push(['last-modified', new Date(modifiedAt).toUTCString()])
  return { ...response, headers: lines }
}

/** @returns a refusal where the client asks for another state alone. */
function otherState(
  lines: readonly HeaderLine[],
  asked: RequestHeaders,
): PreconditionFailed | undefined {
  const tags = asked.get('if-match')
  if (tags !== undefined) {
    const tag = headerOf(lines, 'etag')
    if (tagsIn(tags).some((t) => t === '*' || (t === tag && !t.startsWith('W/')))) return undefined
    return new PreconditionFailed(expected(`the state ${tag ?? 'without a tag'}`, 'if-match', tags))
  }
  const until = asked.get('if-unmodified-since')
  const modified = until && headerOf(lines, 'last-modified')
  if (!modified || !(Date.parse(modified) > Date.parse(until))) return undefined
  return new PreconditionFailed(expected(`${modified} or later`, 'if-unmodified-since', until))
}

function tagsIn(line: string): readonly string[] {
  return line.match(/(?:W\/)?"[^"]*"|\*/g) ?? []
}

/** Whether the client has this state. */
function isKnown(lines: readonly HeaderLine[], asked: RequestHeaders): boolean {
  const tags = asked.get('if-none-match')
  if (tags !== undefined) {
    const strong = (tag: string) => tag.replace(/^W\//, '')
    const tag = headerOf(lines, 'etag')
    return tag !== undefined && tagsIn(tags).some((t) => t === '*' || strong(t) === strong(tag))
  }
  const since = asked.get('if-modified-since')
  const modified = since && headerOf(lines, 'last-modified')
  return modified !== undefined && Date.parse(modified) <= Date.parse(since as string)
}

/** Whether the client has other parts of this very state, or asks for a part of any. */
function mayCut(lines: readonly HeaderLine[], asked: RequestHeaders): boolean {
  const state = asked.get('if-range')
  return (
    state === undefined ||
    state === headerOf(lines, 'last-modified') ||
    (state.startsWith('"') && state === headerOf(lines, 'etag'))
  )
}

/** Several ranges are answered by the whole, as a server may. */
function cut(response: HttpResponse, range: string): HttpResponse | ServingError {
  const { headers, body, pooled, revision } = response
  const isBytes = body instanceof Uint8Array
  const length = isBytes ? body.length : lengthOf(headers)
  const match = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(range)
  if (match === null || !length) return response
  const [, first, last] = match
  const start = first === '' ? Math.max(0, length - Number(last)) : Number(first)
  const end = first === '' || last === '' ? length : Math.min(length, Number(last) + 1)
  const isMalformed = first === '' ? last === '' : last !== '' && Number(last) < start
  if (isMalformed) return response
  if (start >= length) {
    drop(response)
    const what = `a part of ${length} bytes`
    return new BadInput(
      expected(what, 'range', range),
      { reason: 'size', contentRange: `bytes */${length}` },
      { status: 416 },
    )
  }
  const lines: HeaderLine[] = headers.filter(([name]) => name !== 'content-length')
  lines.push(['content-range', `bytes ${start}-${end - 1}/${length}`])
  if (isBytes) {
    // A copy: a part that waits for its client would hold the memory of all.
    const part = new Uint8Array(body.subarray(start, end))
    drop(response)
    return { status: 206, headers: lines, body: part }
  }
  lines.push(['content-length', String(end - start)])
  if (revision?.slice === undefined)
    return { status: 206, headers: lines, body: between(body, start, end), pooled }
  drop(response)
  return { status: 206, headers: lines, body: revision.slice(start, end), pooled }
}

/** Reads a body, and passes on what lies between two of its bytes. */
async function* between(
  body: HttpResponse['body'],
  start: number,
  end: number,
): AsyncGenerator<Uint8Array> {
  let at = 0
  for await (const piece of body as AsyncIterable<Chunk>) {
    const bytes = bytesOfChunk(piece)
    const part = bytes.subarray(Math.max(0, start - at), Math.max(0, end - at))
    if (part.length > 0) yield part
    at += bytes.length
    if (at >= end) return
  }
}

function drop(response: HttpResponse): void {
  const { body, pooled } = response
  if (isChunk(body)) pooled?.give(body)
  else discardBody(response)
}
