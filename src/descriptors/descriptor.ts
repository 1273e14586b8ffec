import { BadInput } from '../core/errors.ts'
import { type MaybePromise, whenReady } from '../core/promise.ts'
import type { Context } from '../http/context.ts'
import {
  allHeaders,
  collectBody,
  HeaderList,
  type HeaderNames,
  HttpRequest,
  type HttpResponse,
  type RequestHeaders,
} from '../http/message.ts'
import type { ProtoField } from '../messages/messages.ts'
import { type Description, descriptionOf, type Formats } from './description.ts'

/** Receives a request body piece by piece. After all promises of `write`, one call of `end` or `abort` is the last. */
export interface BodyReceiver<In = unknown> {
  /**
   * Takes a piece, borrowed until this returns. A promise asks the server to pause reading until it
   * settles; pieces already read may still come.
   *
   * @throws BadInput; the server answers at once and closes the connection.
   */
  write(piece: Uint8Array): void | Promise<void>
  /** @returns the value that `fromHttpRequest` would return. */
  end(): MaybePromise<In>
  /** Called if the client disconnected or was refused. Frees its memory. */
  abort(reason: Error): void
}

/** Longest announced body that goes to `fromHttpRequest` although there is a `receive`. **Units**: bytes. */
export const receiveAboveBytes = 256 * 1024

/**
 * A wire format: converts a request to the function's input `In`, and its result `Out` to a
 * response. One object serves all requests at the same time, so conversions keep no state.
 *
 * @example
 * `examples/npy/`.
 */
export abstract class IODescriptor<In = unknown, Out = In> {
  /** Media type of responses and, unless documented otherwise, of requests. */
  abstract readonly mimeType: string

  /**
   * Headers that the conversions read beside `content-type`; the server copies only these.
   *
   * @default all of them, with which an API with `cache` keeps no answers
   */
  readonly readsHeaders: HeaderNames = allHeaders

  /**
   * Name of this kind of descriptor in metadata.
   *
   * @default the name of the class
   */
  readonly descriptorId: string = this.constructor.name

  /** Fields that metadata publishes to every client beside `mimeType`. Empty by default: an API key stays private. */
  readonly publicOptions: readonly string[] = []

  #description: Description | undefined

  /** Describes the formats of requests and responses with their JSON Schemas, and the errors. Computed once. */
  describe(): Description {
    this.#description ??= descriptionOf(this.formats())
    return this.#description
  }

  /**
   * @default `mimeType` alone
   * @returns the formats for `describe`; called once.
   */
  protected formats(): Formats {
    const format = { mimeType: this.mimeType }
    return { input: [format], output: [format] }
  }

  /**
   * Converts a request to the function's value.
   *
   * @throws only BadInput, whatever the client sends.
   */
  abstract fromHttpRequest(request: HttpRequest, ctx?: Context): MaybePromise<In>

  /**
   * Starts to receive a long body; the value must be that of `fromHttpRequest`. Without this
   * method, the server collects such bodies. Free resources in `ctx.onEnd`. `declared`: the
   * Content-Length; undefined for a chunked body or a form's part.
   *
   * @throws as `fromHttpRequest`, as far as the headers tell.
   */
  receive?(headers: RequestHeaders, ctx: Context, declared?: number): BodyReceiver<In>

  /**
   * Converts the function's result to a response.
   *
   * @throws BadOutput for a value that cannot be encoded.
   */
  abstract toHttpResponse(value: Out, ctx?: Context): MaybePromise<HttpResponse>

  /**
   * Default: that of `toHttpResponse` for a value as the function receives it. Called once, when
   * the API is made.
   *
   * @returns a request body for an example of `svc.api`.
   * @throws any, if it is no such value.
   */
  encodeExample(example: never): MaybePromise<HttpResponse> {
    return this.toHttpResponse(example)
  }

  /**
   * The RPC message that `fromProto` reads and `toProto` returns, unless it is bytes.
   *
   * @see service.proto.
   */
  readonly protoField: ProtoField = 'serialized_bytes'

  /**
   * Converts an RPC message (a plain object, see `ProtoMessages`) or serialized bytes, which it may
   * keep.
   *
   * @default reads bytes as an HTTP body of the descriptor's own media type
   * @throws only BadInput, whatever the client sends.
   */
  fromProto(message: unknown, ctx?: Context): MaybePromise<In> {
    if (!(message instanceof Uint8Array)) throw wrongContent(this.protoField, 'serialized_bytes')
    return this.fromHttpRequest(
      new HttpRequest(HeaderList.from({ 'content-type': this.mimeType }), message),
      ctx,
    )
  }

  /**
   * Converts the result to an RPC message or bytes.
   *
   * @default bytes of the HTTP body
   * @throws BadOutput.
   */
  toProto(value: Out, ctx?: Context): MaybePromise<unknown> {
    return whenReady(this.toHttpResponse(value, ctx), (response) =>
      collectBody(response.body, response.pooled),
    )
  }

  /** Converts the result to messages of a streaming call. Without it, the stream is one message, that of `toProto`. */
  toProtoStream?(value: Out, ctx?: Context): AsyncIterable<unknown>
}

/** Any descriptor, whatever its function receives and returns. */
export type AnyDescriptor = IODescriptor<unknown, never>

/** The input of a function with descriptor `D`. */
export type Received<D> = D extends IODescriptor<infer In, never> ? In : never

/** The result of a function with descriptor `D`. */
export type Returned<D> = D extends { toHttpResponse(value: infer Out, ...rest: never[]): unknown }
  ? Out
  : never

/** An example of the input of descriptor `D`. */
export type ExampleOf<D> = D extends { encodeExample(example: infer E): unknown }
  ? [E] extends [never]
    ? Received<D>
    : E
  : never

/** @returns the error for a message that a descriptor does not accept. */
export function wrongContent(received: ProtoField | undefined, supported: ProtoField): BadInput {
  const choice = supported === 'serialized_bytes' ? supported : `${supported} or serialized_bytes`
  return new BadInput(`expected ${choice} for the content, received ${received ?? 'none'}`, {
    reason: 'media-type',
  })
}
