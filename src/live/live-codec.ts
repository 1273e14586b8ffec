import type { LiveApi } from '../api/live-api.ts'
import { UnsupportedMediaType } from '../core/errors.ts'
import { isPromise, type MaybePromise, whenReady } from '../core/promise.ts'
import type { IODescriptor } from '../descriptors/descriptor.ts'
import { Context } from '../http/context.ts'
import { collectBody, HeaderList, HttpRequest, type HttpResponse, type RequestHeaders } from '../http/message.ts'

/** A message that a function has yielded. */
export interface LiveMessage {
  readonly content: string | Uint8Array
  readonly isText: boolean
  /** Whether a text is JSON. */
  readonly isJson: boolean
  /** @internal Called when the content was sent. */
  readonly release?: (() => void) | undefined
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
  readonly #textHeaders: RequestHeaders
  readonly #binaryHeaders: RequestHeaders
  /** Of the last content type: most functions answer with one. */
  #kind = { type: '', isText: false, isJson: false }

  constructor({ input, output }: Pick<LiveApi, 'input' | 'output'>) {
    this.#input = input
    this.#output = output
    const types = input.describe().input.map(({ mimeType }) => mimeType)
    const bytes = types.filter((type) => !isTextType(type) && !type.startsWith('multipart/'))
    this.textType = types.find(isJsonType) ?? types.find(isTextType)
    this.binaryType = bytes.includes(npyType) ? npyType : bytes[0]
    this.#textHeaders = HeaderList.from({ 'content-type': this.textType ?? '' })
    this.#binaryHeaders = HeaderList.from({ 'content-type': this.binaryType ?? '' })
  }

  /** `borrowed`: the bytes are valid during the call. **Errors**: as `fromHttpRequest`; UnsupportedMediaType. */
  decode(bytes: Uint8Array, isText: boolean, borrowed: boolean): MaybePromise<unknown> {
    if ((isText ? this.textType : this.binaryType) === undefined) {
      const [right, wrong] = isText ? ['binary', 'text'] : ['text', 'binary']
      throw new UnsupportedMediaType(
        `expected ${right} messages (${this.textType ?? this.binaryType}), received ${wrong}`,
      )
    }
    const request = HttpRequest.lend(isText ? this.#textHeaders : this.#binaryHeaders, bytes, borrowed)
    // Without the context, whose clean-ups would keep all messages until the stream's end.
    const value = this.#input.fromHttpRequest(request)
    if (isPromise(value)) request.retain()
    else request.release()
    return value
  }

  /** Returns the context for {@link encode}: the client's headers, and .npy for arrays. */
  static contextFor(headers: RequestHeaders): Context {
    const accept = { get: (name: string) => headers.get(name) ?? (name === 'accept' ? defaultAccept : undefined) }
    return new Context({ headers: { ...accept, [Symbol.iterator]: () => headers[Symbol.iterator]() } })
  }

  /** **Errors**: as `toHttpResponse`. */
  encode(result: unknown, ctx: Context): MaybePromise<LiveMessage> {
    return whenReady(this.#output.toHttpResponse(result as never, ctx), this.#messageOf)
  }

  readonly #messageOf = ({ headers, body, before, pooled }: HttpResponse): MaybePromise<LiveMessage> => {
    const type = headers.find(([name]) => name === 'content-type')?.[1] ?? ''
    if (type !== this.#kind.type) this.#kind = { type, isText: isTextType(type), isJson: isJsonType(type) }
    const { isText, isJson } = this.#kind
    if (typeof body === 'string') return { content: body, isText, isJson }
    if (!(body instanceof Uint8Array)) return collectBody(body).then((content) => ({ content, isText, isJson }))
    const content = before === undefined ? body : Buffer.concat([Buffer.from(before), body])
    const release = pooled === undefined || before !== undefined ? undefined : () => pooled.give(body)
    return { content, isText, isJson, release }
  }
}

function isJsonType(type: string): boolean {
  return /^application\/(?:[^;]*\+)?json\b/.test(type)
}

function isTextType(type: string): boolean {
  return type.startsWith('text/') || isJsonType(type)
}
