import { BadInput, BadOutput, expected, PayloadTooLarge } from '../core/errors.ts'
import { checkAtLeast, checkOneOf, checkOptions } from '../core/options.ts'
import { type MaybePromise, whenDefined } from '../core/promise.ts'
import { decodeText } from '../core/text/charset.ts'
import { defaultMaxBytes } from '../core/text/parse-json.ts'
import { decodeUtf8 } from '../core/text/utf8.ts'
import { preferredType } from '../http/accept.ts'
import type { Context } from '../http/context.ts'
import { encodedBody } from '../http/encoded-pieces.ts'
import {
  encodeEvent,
  eventHeaders,
  eventStream,
  type ServerSentEvent,
} from '../http/event-stream.ts'
import { isJsonType, type MediaType, requireMediaType } from '../http/media-type.ts'
import { type Chunk, collectBody, type HttpRequest, type HttpResponse } from '../http/message.ts'
import { constantHeaders, nosniff } from '../http/response-head.ts'
import type { Formats } from './description.ts'
import { IODescriptor } from './descriptor.ts'

/**
 * Options of {@link Text}.
 *
 * @see SPEC "Text".
 */
export interface TextOptions {
  /**
   * Media type of the response. Default: `text/event-stream` if a generator first yields an object, or nothing at all
   * where the client prefers events, else `text/plain`. For NDJSON, take `io.JSON`.
   */
  readonly contentType?: 'text/plain' | 'text/event-stream'
  /**
   * Longest body; longer ones are refused with 413. **Units**: bytes.
   *
   * @default 4 MiB
   */
  readonly maxBytes?: number
}

const textHeaders = constantHeaders([['content-type', 'text/plain; charset=utf-8'], nosniff])
const streamTypes = ['text/plain', eventStream]
const events = { mimeType: eventStream, schema: { type: 'string' }, example: 'data: text\n\n' }

/** What a function may yield: a piece of a text, or a server-sent event. */
export type TextPiece = string | ServerSentEvent

/** What a function may return to Text. */
export type TextResult = string | AsyncIterable<TextPiece> | Iterable<TextPiece>

/**
 * Decodes a body to a string; sends a string, or the strings or server-sent events that a generator
 * yields.
 *
 * **Wire**: UTF-8 unless the charset says otherwise; a byte order mark is kept. Each yielded piece
 * is a chunk of its own. If `contentType` says so or the first piece is an object, the response is
 * `text/event-stream`, where strings are events without a name. With uWebSockets.js, Python's
 * requests sees pieces of text one late; events, and engine node, are not affected.
 *
 * @throws BadInput `encoding` with the byte offset; 413 above `maxBytes`; 415 for a type that is
 * not text. BadOutput for an event after text, or under `contentType: 'text/plain'`.
 * @example
 * `svc.api({ input: new io.Text(), output: new io.Text() }, async function* words(text) { yield*
 * text.split(' ') })`
 * @see SPEC "Text"; WHATWG HTML, "Server-sent events".
 */
export class Text extends IODescriptor<string, TextResult> {
  readonly mimeType: string
  override readonly readsHeaders: readonly string[]
  override readonly protoField = 'text'
  override readonly descriptorId: string = 'serving.io.Text'
  override readonly publicOptions: readonly string[] = ['contentType', 'maxBytes']
  readonly contentType: 'text/plain' | 'text/event-stream'
  readonly maxBytes: number
  readonly sample: string | undefined
  /** Undefined: the generator's first piece decides. */
  readonly #sendsEvents: boolean | undefined

  constructor(given: TextOptions = {}, sample?: string) {
    super()
    const options = checkOptions('Text', given, ['contentType', 'maxBytes'])
    this.contentType = checkOneOf('contentType', options.contentType ?? 'text/plain', [
      'text/plain',
      eventStream,
    ])
    this.mimeType = this.contentType
    this.maxBytes = checkAtLeast('maxBytes', options.maxBytes ?? defaultMaxBytes, 1)
    this.sample = sample
    this.#sendsEvents = whenDefined(options.contentType, (type) => type === eventStream)
    this.readsHeaders = this.#sendsEvents === undefined ? ['accept'] : []
  }

  /**
   * Makes a descriptor from a string or UTF-8 bytes.
   *
   * @throws BadInput for anything else.
   */
  static fromSample(sample: string | Uint8Array, options: TextOptions = {}): Text {
    if (sample instanceof Uint8Array)
      return new Text(options, decodeUtf8(sample, 'Text.fromSample'))
    if (typeof sample === 'string') return new Text(options, sample)
    throw new BadInput(expected('a string or bytes', 'Text.fromSample', sample))
  }

  protected override formats(): Formats {
    const plain = {
      mimeType: 'text/plain',
      schema: { type: 'string' },
      example: this.sample ?? 'text',
    }
    const output = [this.contentType === 'text/plain' ? plain : events]
    return {
      input: [plain],
      output,
      stream: this.#sendsEvents === undefined ? [plain, events] : output,
      reasons: ['encoding'],
    }
  }

  fromHttpRequest(request: HttpRequest): MaybePromise<string> {
    const type = requireMediaType(request.headers, isTextType, 'text/plain', 'Text')
    const charset = type?.parameters.get('charset')?.toLowerCase()
    return this.#decode(request.peek(), charset)
  }

  #decode(bytes: Uint8Array, charset?: string): string {
    if (bytes.length <= this.maxBytes) return decodeText(bytes, charset, 'Text')
    throw new PayloadTooLarge(
      `expected at most ${this.maxBytes} bytes for Text (maxBytes), received ${bytes.length}`,
    )
  }

  toHttpResponse(value: TextResult, ctx?: Context): MaybePromise<HttpResponse> {
    if (typeof value !== 'string') return this.#stream(value, ctx)
    return {
      headers: this.#sendsEvents === true ? eventHeaders : textHeaders,
      body: this.#whole(value),
    }
  }

  #whole(value: string): string {
    if (this.#sendsEvents === true) return encodeEvent({ data: value })
    return value
  }

  #stream(value: Exclude<TextResult, string>, ctx?: Context) {
    if (
      typeof value !== 'object' ||
      value === null ||
      !(Symbol.asyncIterator in value || Symbol.iterator in value)
    ) {
      throw new BadOutput(expected('a string or an async generator of strings', 'Text', value))
    }
    let isEvents = this.#sendsEvents
    // Read here: a context that the closures below hold stays in memory until V8 collects all of it.
    const accept = ctx?.headers.get('accept')
    const encode = (piece: TextPiece): Chunk => {
      isEvents ??= typeof piece !== 'string'
      if (isEvents) return encodeEvent(typeof piece === 'string' ? { data: piece } : eventOf(piece))
      return textOf(piece)
    }
    return {
      get headers() {
        // Of a stream without pieces: an EventSource gives up at another type.
        if (isEvents ?? prefersEvents(accept)) return eventHeaders
        return textHeaders
      },
      body: encodedBody(value, encode),
    }
  }

  override fromProto(message: string | Uint8Array): MaybePromise<string> {
    if (typeof message === 'string') return message
    return this.#decode(message)
  }

  /** Joins all that a generator yields. */
  override toProto(value: TextResult): MaybePromise<string> {
    if (typeof value === 'string') return this.#whole(value)
    return collectBody(this.#stream(value).body).then((bytes) => decodeUtf8(bytes, 'Text'))
  }

  override async *toProtoStream(value: TextResult): AsyncGenerator<string> {
    if (typeof value === 'string') yield this.#whole(value)
    else for await (const piece of this.#stream(value).body) yield piece as string
  }
}

function prefersEvents(accept: string | undefined): boolean {
  return accept !== undefined && preferredType(accept, streamTypes) === eventStream
}

function eventOf(piece: unknown): ServerSentEvent {
  if (typeof piece === 'object' && piece !== null && 'data' in piece)
    return piece as ServerSentEvent
  throw new BadOutput(expected('a string or {data, event?, id?, retry?}', 'a piece of Text', piece))
}

function textOf(piece: TextPiece): string {
  if (typeof piece === 'string') return piece
  const { data } = eventOf(piece)
  throw new BadOutput(
    `expected strings alone for a response of text/plain, received the event ${JSON.stringify(data)?.slice(0, 80)}: ` +
      "io.Text({ contentType: 'text/event-stream' }) makes events of strings, too",
  )
}

/** Whether a media type is text: `text/*`, JSON, XML. */
function isTextType(type: MediaType): boolean {
  const { essence } = type
  return (
    essence.startsWith('text/') ||
    isJsonType(type) ||
    essence === 'application/xml' ||
    essence.endsWith('+xml')
  )
}
