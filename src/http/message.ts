/** Requests and responses, and parts of forms, as plain values that descriptors read and write. @module */
import { BadOutput, expected } from '../core/errors.ts'
import { type BufferPool, joinInPool, PooledBody } from '../core/memory/buffer-pool.ts'
import { byteLength, concat, utf8Bytes } from '../core/platform.ts'
import { isPromise, type MaybePromise } from '../core/promise.ts'

/** Read access to request headers. Names are lower-case. */
export interface RequestHeaders extends Iterable<readonly [name: string, value: string]> {
  /** Joins several lines of one name by `, ` (RFC 9110 section 5.3). Undefined if absent or empty. */
  get(name: string): string | undefined
}

/** Headers in two parallel lists, so that requests can share the names. */
export class HeaderList implements RequestHeaders {
  readonly #names: readonly string[]
  readonly #values: readonly string[]

  constructor(names: readonly string[], values: readonly string[]) {
    this.#names = names
    this.#values = values
  }

  get(name: string): string | undefined {
    const names = this.#names
    let found: string | undefined
    for (let i = 0; i < names.length; i++) {
      if (names[i] !== name) continue
      const value = this.#values[i]
      if (value === '') continue
      found = found === undefined ? value : `${found}${name === 'cookie' ? '; ' : ', '}${value}`
    }
    return found
  }

  *[Symbol.iterator](): IterableIterator<readonly [string, string]> {
    for (let i = 0; i < this.#names.length; i++)
      if (this.#values[i] !== '') yield [this.#names[i], this.#values[i]]
  }

  static of(lines: readonly HeaderLine[]): HeaderList {
    return new HeaderList(
      lines.map(([name]) => name),
      lines.map(([, value]) => value),
    )
  }

  static from(record: Readonly<Record<string, string>>): HeaderList {
    return HeaderList.of(
      Object.entries(record).map(([name, value]) => [name.toLowerCase(), value] as const),
    )
  }
}

/** A body that stays. */
export interface LastingBody {
  readonly bytes: Uint8Array
  /** Whether nobody else can reach its memory meanwhile. */
  readonly isPrivate: boolean
}

/** Headers and a body on the way to a descriptor. */
export class HttpRequest {
  readonly headers: RequestHeaders
  #bytes: Uint8Array | undefined
  #borrowed: boolean | BufferPool = false

  constructor(headers: RequestHeaders, bytes: Uint8Array) {
    this.headers = headers
    this.#bytes = bytes
  }

  /** @internal `owner`: `true` for a socket's bytes, valid during its callback; a pool's, valid until `release`. */
  static lend(
    headers: RequestHeaders,
    bytes: Uint8Array,
    owner: boolean | BufferPool,
  ): HttpRequest {
    const request = new HttpRequest(headers, bytes)
    request.#borrowed = owner
    return request
  }

  /** @internal Whether the bytes lie in a pool's buffer, exclusive until `release`. */
  get isPooled(): boolean {
    return typeof this.#borrowed === 'object'
  }

  /**
   * The whole body, yours to keep. Copies bytes of a socket, and of a pooled buffer that is more than a sixteenth free.
   */
  get body(): Uint8Array {
    const borrowed = this.#borrowed
    const bytes = this.peek()
    if (borrowed === false) return bytes
    const { buffer, byteOffset, length } = bytes
    if (borrowed !== true && buffer.byteLength - length <= length / 16)
      this.#bytes = new Uint8Array(youngOf(buffer), byteOffset, length)
    else {
      // A Buffer's `slice` would share the bytes.
      this.#bytes = new Uint8Array(bytes)
      if (borrowed !== true) borrowed.give(buffer as ArrayBuffer)
    }
    this.#borrowed = false
    return this.#bytes
  }

  /** The body without a copy: valid until `fromHttpRequest` returns or awaits; the value must not alias it. */
  peek(): Uint8Array {
    if (this.#bytes === undefined)
      throw new Error('the body was read after fromHttpRequest had returned')
    return this.#bytes
  }

  /**
   * The body for a decoder that reads it after `fromHttpRequest` has returned: valid until its promise is settled.
   *
   * @internal
   * @param from - Shorter bodies are decoded before it returns. **Units**: bytes.
   */
  lasting(from = 0): LastingBody {
    const isCopied = this.#borrowed === true && this.peek().length >= from
    if (isCopied) this.retain()
    return { bytes: this.peek(), isPrivate: isCopied || this.isPooled }
  }

  /** @internal Keeps the bytes, if there are any, beyond the socket's callback. Called before anything is awaited. */
  retain(): void {
    if (this.#borrowed !== true || this.#bytes === undefined) return
    this.#bytes = new Uint8Array(this.#bytes)
    this.#borrowed = false
  }

  /**
   * @returns lent bytes to their owner, once the descriptor has its value; `peek` and `body` throw
   * afterwards.
   * @internal
   */
  release(): void {
    if (this.#borrowed === false) return
    if (this.#borrowed !== true) this.#borrowed.give(this.peek().buffer as ArrayBuffer)
    this.#borrowed = true
    this.#bytes = undefined
  }

  /**
   * Releases the bytes now, or when a promise of the value is settled.
   *
   * @internal
   * @returns the value.
   */
  releaseAfter<T>(value: MaybePromise<T>): MaybePromise<T> {
    if (!isPromise(value)) {
      this.release()
      return value
    }
    this.retain()
    return this.isPooled ? Promise.resolve(value).finally(() => this.release()) : value
  }
}

/**
 * @returns the memory under a new object: the old one is in the old generation, which only full
 * collections free.
 */
function youngOf(buffer: ArrayBufferLike): ArrayBuffer {
  return structuredClone(buffer as ArrayBuffer, { transfer: [buffer as ArrayBuffer] })
}

/** A piece of a streamed body; strings are sent as UTF-8. */
export type Chunk = string | Uint8Array

/** Bytes and texts have a content-length; iterables are chunks, unless an async one has that header. */
export type ResponseBody = Chunk | readonly Chunk[] | AsyncIterable<Chunk>

/** A header line. */
export type HeaderLine = readonly [name: string, value: string]

/** One state of what a GET reads. */
export interface Revision {
  /**
   * With its quotes.
   *
   * @default a digest of bytes up to 1 MiB
   */
  readonly etag?: string | undefined
  /** **Units**: milliseconds of the wall clock. */
  readonly modifiedAt?: number
  /**
   * @returns the bytes from one offset to another.
   * @default the whole body is read
   */
  readonly slice?: (start: number, end: number) => AsyncIterable<Uint8Array>
}

/** What an output descriptor makes of a value. */
export interface HttpResponse {
  /** @default 200 */
  readonly status?: number
  /** Lower-case names. Read when a stream's first piece has come: a getter may decide by it. */
  readonly headers: readonly HeaderLine[]
  readonly body: ResponseBody
  /** Set on error responses, for the log. */
  readonly error?: Error
  /** @internal The pooled memory of the body, used again once it is sent. Such a response is sent once. */
  readonly pooled?: PooledBody
  /** @internal Lets a GET ask for a part, or whether there is a new state. */
  readonly revision?: Revision | undefined
  /** @internal Text in front of a large body of borrowed bytes, which must be sent or copied at once. */
  readonly before?: string
}

/** @returns a response whose text in front of its body is part of the body, in pooled memory. */
export function joinedResponse(response: HttpResponse): HttpResponse {
  const { before = '', body, ...rest } = response
  return {
    ...rest,
    body: joinInPool([utf8Bytes(before), body as Uint8Array]),
    pooled: new PooledBody(),
  }
}

/**
 * **Units**: bytes.
 *
 * @returns a Content-Length; undefined for another text, and without one.
 */
export function parseLength(text: string | null | undefined): number | undefined {
  return /^\d{1,15}$/.test(text ?? '') ? Number(text) : undefined
}

/** @returns the first value of a header among lines, whose names are in lower case. */
export function headerOf(headers: readonly HeaderLine[], name: string): string | undefined {
  return headers.find(([each]) => each === name)?.[1]
}

/**
 * **Units**: bytes.
 *
 * @returns the Content-Length that a response states.
 */
export function lengthOf(headers: readonly HeaderLine[]): number | undefined {
  return parseLength(headerOf(headers, 'content-length'))
}

/**
 * **Units**: bytes.
 *
 * @returns the length of a body, if it is known before reading.
 */
export function bodyLength({ headers, body }: HttpResponse): number | undefined {
  return isChunk(body) ? byteLength(body) : lengthOf(headers)
}

/** Whether a value is a text or bytes. */
export function isChunk(value: unknown): value is Chunk {
  return typeof value === 'string' || value instanceof Uint8Array
}

/**
 * @returns what a stream has yielded.
 * @throws BadOutput for a value that is no chunk.
 */
export function requireChunk(value: unknown): Chunk {
  if (isChunk(value)) return value
  throw new BadOutput(expected('a string or bytes', 'a chunk of the response', value))
}

/**
 * @internal
 * @returns a chunk that may be kept: pooled memory is copied, and given back.
 */
export function lastingChunk({ pooled }: Pick<HttpResponse, 'pooled'>, chunk: Chunk): Chunk {
  if (pooled === undefined || typeof chunk === 'string') return chunk
  const copy = new Uint8Array(chunk)
  pooled.give(chunk)
  return copy
}

/** @returns the chunk as bytes, a text as UTF-8. */
export function bytesOfChunk(chunk: Chunk): Uint8Array {
  return typeof chunk === 'string' ? utf8Bytes(chunk) : chunk
}

/** @returns the chunks of a body that is not streamed from an async source. */
export function chunksOf(body: Chunk | readonly Chunk[]): readonly Chunk[] {
  return isChunk(body) ? [body] : body
}

/** Ends the source of a body that will not be sent. */
export function discardBody({ body }: HttpResponse): void {
  try {
    if (typeof body !== 'object' || body === null || !isAsyncBody(body)) return
    Promise.resolve(body[Symbol.asyncIterator]().return?.()).catch(() => {})
  } catch {}
}

/** Whether a body is streamed from an async source. */
export function isAsyncBody(body: ResponseBody): body is AsyncIterable<Chunk> {
  return typeof body === 'object' && Symbol.asyncIterator in body
}

// RFC 9110 section 5.5: no control characters but tab. Checked for every value that is sent: uWebSockets.js does not.
// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly those are refused
const unsafeValue = /[\u0000-\u0008\u000a-\u001f\u007f]|[^\u0000-\u00ff]/
const tokenName = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/i

/** Whether a header value can be sent as one line. */
export function isHeaderValue(value: string): boolean {
  return !unsafeValue.test(value)
}

const framingNames: ReadonlySet<string> = new Set([
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'upgrade',
  'trailer',
  'te',
])

/** Whether only the server writes this header, which frames the message or connection. */
export function isFramingHeader(name: string): boolean {
  return framingNames.has(name.toLowerCase())
}

/** RFC 9110 section 5.6.2. */
export function isHeaderName(name: string): boolean {
  return tokenName.test(name)
}

/** Collects a body of any kind, and gives its memory back. */
export async function collectBody(body: ResponseBody, pooled?: PooledBody): Promise<Uint8Array> {
  const chunks: Chunk[] = []
  if (isChunk(body)) chunks.push(body)
  else for await (const chunk of body) chunks.push(chunk)
  const copy = concat(chunks.map(bytesOfChunk))
  if (pooled !== undefined) for (const chunk of chunks) pooled.give(chunk)
  return copy
}

/**
 * Collects the body of a response, also of a stream, and gives its memory back.
 *
 * @param response - What a descriptor has made. It must not be sent afterwards.
 * @throws what a stream throws.
 */
export async function wholeBody(response: HttpResponse): Promise<Uint8Array> {
  // Not in the parameter list: the declaration would name members that it leaves out.
  const { before = '', body, pooled } = response
  const bytes = await collectBody(body, pooled)
  return before === '' ? bytes : Buffer.concat([Buffer.from(before), bytes])
}

/** Names of request headers that are read, in lower case, or all of them. */
export type HeaderNames = readonly string[] | AllHeaders

/** Says that all request headers are read. No list, so that nobody takes it for one. */
export interface AllHeaders {
  readonly all: true
}

/** All request headers. */
export const allHeaders: AllHeaders = Object.freeze({ all: true })

/** Whether all request headers are read. */
export function readsAll(names: HeaderNames): names is AllHeaders {
  return !Array.isArray(names)
}

/** @returns the headers that any of several reads. */
export function joinHeaderNames(...several: readonly HeaderNames[]): HeaderNames {
  const joined = new Set<string>()
  for (const names of several) {
    if (readsAll(names)) return allHeaders
    for (const name of names) joined.add(name)
  }
  return [...joined]
}
