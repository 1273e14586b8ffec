import type { LiveRoute } from '../api/live-route.ts'
import { UnsupportedMediaType } from '../core/errors.ts'
import type { PooledBody } from '../core/memory/buffer-pool.ts'
import { isPromise, type MaybePromise } from '../core/promise.ts'
import type { IODescriptor } from '../descriptors/descriptor.ts'
import { Context } from '../http/context.ts'
import {
  collectBody,
  type HeaderLine,
  HeaderList,
  HttpRequest,
  type HttpResponse,
  headerOf,
  type RequestHeaders,
} from '../http/message.ts'

interface MessageKind {
  readonly isText: boolean
  /** Whether a text is JSON. */
  readonly isJson: boolean
}

/** A message that a function has yielded. */
export interface LiveMessage extends MessageKind {
  readonly content: string | Uint8Array
  /** @internal Takes the content's memory back once it is sent. */
  readonly pooled?: PooledBody | undefined
}

/** Arrays are sent as .npy, unless the client says what it accepts. */
const defaultAccept = 'application/x-npy, */*;q=0.5'
const npyType = 'application/x-npy'

/**
 * Converts the messages of a live stream by the descriptors of its API. Text messages are JSON, or text where the
 * descriptor takes no JSON; binary ones are .npy where it takes that, else its first media type of bytes.
 */
export class LiveCodec {
  readonly #input: IODescriptor
  readonly #output: IODescriptor
  /** Undefined if the descriptor takes no such messages. */
  readonly textType: string | undefined
  readonly binaryType: string | undefined
  /** Whether the input asks for the context of a message. */
  readonly takesContext: boolean
  readonly #textHeaders: RequestHeaders
  readonly #binaryHeaders: RequestHeaders
  /** Of the last headers that cannot change: most descriptors answer with one list. */
  #last: { readonly headers: readonly HeaderLine[]; readonly kind: MessageKind } | undefined

  constructor({ input, output }: Pick<LiveRoute, 'input' | 'output'>) {
    this.#input = input
    this.#output = output
    this.takesContext = input.fromHttpRequest.length > 1
    const types = input.describe().input.map(({ mimeType }) => mimeType)
    const bytes = types.filter((type) => !isTextType(type) && !type.startsWith('multipart/'))
    this.textType = types.find(isJsonType) ?? types.find(isTextType)
    this.binaryType = bytes.includes(npyType) ? npyType : bytes[0]
    this.#textHeaders = HeaderList.from({ 'content-type': this.textType ?? '' })
    this.#binaryHeaders = HeaderList.from({ 'content-type': this.binaryType ?? '' })
  }

  /**
   * `borrowed`: the bytes are valid during the call. `ctx`: of this message, needed if `takesContext`. Its clean-ups do
   * not wait for the stream's end.
   *
   * @throws as `fromHttpRequest`; UnsupportedMediaType.
   */
  decode(
    bytes: Uint8Array,
    isText: boolean,
    borrowed: boolean,
    ctx?: Context,
  ): MaybePromise<unknown> {
    if ((isText ? this.textType : this.binaryType) === undefined) {
      const [right, wrong] = isText ? ['binary', 'text'] : ['text', 'binary']
      throw new UnsupportedMediaType(
        `expected ${right} messages (${this.textType ?? this.binaryType}), received ${wrong}`,
      )
    }
    const request = HttpRequest.lend(
      isText ? this.#textHeaders : this.#binaryHeaders,
      bytes,
      borrowed,
    )
    return request.releaseAfter(this.#input.fromHttpRequest(request, ctx))
  }

  /** @returns the context for {@link encode}: the client's headers, and .npy for arrays. */
  static contextFor(headers: RequestHeaders): Context {
    const accept = {
      get: (name: string) => headers.get(name) ?? (name === 'accept' ? defaultAccept : undefined),
    }
    return new Context({
      headers: { ...accept, [Symbol.iterator]: () => headers[Symbol.iterator]() },
    })
  }

  /** @throws as `toHttpResponse`. */
  encode(result: unknown, ctx: Context): MaybePromise<LiveMessage> {
    const response = this.#output.toHttpResponse(result as never, ctx)
    if (isPromise(response))
      return Promise.resolve(response).then((later) => this.#messageOf(later))
    return this.#messageOf(response)
  }

  #messageOf({ headers, body, before, pooled }: HttpResponse): MaybePromise<LiveMessage> {
    const { isText, isJson } = this.#kindOf(headers)
    if (typeof body === 'string') return { content: body, isText, isJson }
    if (!(body instanceof Uint8Array))
      return collectBody(body).then((content) => ({ content, isText, isJson }))
    if (before === undefined) return { content: body, isText, isJson, pooled }
    return { content: Buffer.concat([Buffer.from(before), body]), isText, isJson }
  }

  #kindOf(headers: readonly HeaderLine[]): MessageKind {
    if (headers === this.#last?.headers) return this.#last.kind
    const type = headerOf(headers, 'content-type') ?? ''
    const kind = { isText: isTextType(type), isJson: isJsonType(type) }
    if (Object.isFrozen(headers)) this.#last = { headers, kind }
    return kind
  }
}

function isJsonType(type: string): boolean {
  return /^application\/(?:[^;]*\+)?json\b/.test(type)
}

function isTextType(type: string): boolean {
  return type.startsWith('text/') || isJsonType(type)
}
