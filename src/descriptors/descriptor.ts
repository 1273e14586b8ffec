/**
 * The abstract descriptor: the base class of all built-in and custom ones.
 * @module
 */

import { BadInput } from '../core/errors.ts'
import { type MaybePromise, whenReady } from '../core/promise.ts'
import type { Context } from '../http/context.ts'
import { collectBody, HeaderList, HttpRequest, type HttpResponse, type RequestHeaders } from '../http/message.ts'
import type { ProtoField } from '../messages/messages.ts'
import { type Description, descriptionOf, type Formats } from './description.ts'

/**
 * Receives a request body piece by piece; one object per request.
 *
 * Exactly one of `end` and `abort` is the last call, after every promise of `write` has settled or one was rejected.
 */
export interface BodyReceiver<In = unknown> {
  /**
   * Takes the next piece. The bytes are borrowed: valid until this returns, not until its promise settles. Returning a
   * promise asks the server to stop reading from the socket until it settles; pieces already read may still be passed.
   * **Errors**: BadInput, as `fromHttpRequest`: the client is answered at once and the connection closed.
   */
  write(piece: Uint8Array): void | Promise<void>
  /** Called when the body is complete. Returns the value that `fromHttpRequest` would return for it. */
  end(): MaybePromise<In>
  /** Called when the body will not be complete: the client disconnected or was refused. Frees what is held. */
  abort(reason: Error): void
}

/**
 * Bodies that arrive at once, or announce at most this many bytes, go to `fromHttpRequest`; longer and chunked ones go
 * to `receive`, if the descriptor has it. **Units**: bytes.
 */
export const receiveAboveBytes = 256 * 1024

/**
 * A wire format: converts a request to the value of type `In` that the function receives, and the function's result of
 * type `Out` to a response. One object serves all requests concurrently, so conversions keep no state.
 *
 * **Source**: SPEC "IODescriptor (abstract base)".
 * **Example**: `examples/npy/`.
 */
export abstract class IODescriptor<In = unknown, Out = In> {
  /** Media type that the descriptor writes and, unless documented otherwise, reads. */
  abstract readonly mimeType: string

  /**
   * Request headers that the conversions read, in addition to `content-type`. Default: `'all'`. A short list spares the
   * server copying the rest.
   */
  readonly readsHeaders: readonly string[] | 'all' = 'all'

  /** Name of this kind of descriptor in service metadata. Default: the name of the class. */
  readonly descriptorId: string = this.constructor.name

  /**
   * Names of fields that service metadata publishes to every client, beside `mimeType`. Default: none, so that a field
   * such as an API key stays private.
   */
  readonly publicOptions: readonly string[] = []

  #description: Description | undefined

  /**
   * Describes the formats of requests and responses with their JSON Schemas, and the errors. Computed at the first call
   * and kept.
   * **Example** `new io.NumpyNdarray({ dtype: 'float32', shape: [-1, 4] }).describe().input[0].schema`
   */
  describe(): Description {
    this.#description ??= descriptionOf(this.formats())
    return this.#description
  }

  /**
   * Returns the formats that {@link IODescriptor.describe} describes; called once. Default: `mimeType`, of which
   * nothing more is known.
   */
  protected formats(): Formats {
    const format = { mimeType: this.mimeType }
    return { input: [format], output: [format] }
  }

  /** Converts a request to the function's value. **Errors**: only BadInput, whatever the client sends. */
  abstract fromHttpRequest(request: HttpRequest, ctx?: Context): MaybePromise<In>

  /**
   * Starts receiving a body that is too long to hold in memory. Optional: without it, such bodies are collected and
   * passed to `fromHttpRequest`; both ways must produce the same value. Use `ctx.onEnd` for what must be freed after
   * the request. `declared`: the Content-Length, which the body keeps to; undefined for a chunked body and a part of a
   * form. **Errors**: as `fromHttpRequest`, as far as the headers tell.
   */
  receive?(headers: RequestHeaders, ctx: Context, declared?: number): BodyReceiver<In>

  /** Converts the function's result to a response. **Errors**: BadOutput for a value that cannot be encoded. */
  abstract toHttpResponse(value: Out, ctx?: Context): MaybePromise<HttpResponse>

  /**
   * The member of the RPC messages' oneof that `fromProto` accepts in addition to serialized bytes, and that `toProto`
   * returns unless it returns bytes. **Source**: proto/serving/v1/serving.proto.
   */
  readonly protoField: ProtoField = 'serialized_bytes'

  /**
   * Converts an RPC message or serialized bytes to the function's value. The descriptor may keep the bytes. Default:
   * reads bytes as an HTTP body of the descriptor's own media type; there is no message.
   *
   * Messages are plain objects, see `ProtoMessages`: `text` is a string and `json` a JSON value.
   * **Errors**: BadInput, and nothing else, for whatever a client sends.
   */
  fromProto(message: unknown, ctx?: Context): MaybePromise<In> {
    if (!(message instanceof Uint8Array)) throw wrongContent(this.protoField, 'serialized_bytes')
    return this.fromHttpRequest(new HttpRequest(HeaderList.from({ 'content-type': this.mimeType }), message), ctx)
  }

  /**
   * Converts the function's result to an RPC message or serialized bytes. Default: the bytes of the HTTP body.
   * **Errors**: BadOutput for a value that cannot be encoded.
   */
  toProto(value: Out, ctx?: Context): MaybePromise<unknown> {
    return whenReady(this.toHttpResponse(value, ctx), ({ body }) => collectBody(body))
  }

  /**
   * Converts the function's result to a stream of messages, for streaming calls. Optional: without it, one message,
   * that of `toProto`.
   * **Errors**: as `toProto`.
   */
  toProtoStream?(value: Out, ctx?: Context): AsyncIterable<unknown>
}

/** Any descriptor, whatever its function receives and returns. */
export type AnyDescriptor = IODescriptor<unknown, never>

/** The value that a function receives from descriptor `D`. */
export type Received<D> = D extends IODescriptor<infer In, never> ? In : never

/** The value that a function may return to descriptor `D`. */
export type Returned<D> = D extends { toHttpResponse(value: infer Out, ...rest: never[]): unknown } ? Out : never

/** Returns the error for content of a kind that a descriptor does not accept. */
export function wrongContent(received: ProtoField | undefined, supported: ProtoField): BadInput {
  const choice = supported === 'serialized_bytes' ? supported : `${supported} or serialized_bytes`
  return new BadInput(`expected ${choice} for the content, received ${received ?? 'none'}`, { reason: 'media-type' })
}
