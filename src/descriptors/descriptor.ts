/**
 * The abstract descriptor: what every built-in and every custom one implements.
 * @module
 */

import { BadInput } from '../errors.ts'
import type { Context } from '../http/context.ts'
import { collectBody, HeaderList, HttpRequest, type HttpResponse, type RequestHeaders } from '../http/message.ts'
import { type MaybePromise, whenReady } from '../promise.ts'
import type { ProtoField } from '../proto/messages.ts'

/**
 * A body on its way in, piece by piece; one object a request.
 *
 * Exactly one of `end` and `abort` is the last call, after every promise of `write` has settled or one was rejected.
 */
export interface BodyReceiver<In = unknown> {
  /**
   * Takes the next piece. The bytes are borrowed: valid until this returns, not until its promise settles. A promise
   * asks the server to read no more from the socket until it settles; pieces that were read already may still come.
   * **Errors**: BadInput, as `fromHttpRequest`: the client is answered at once and the connection closed.
   */
  write(piece: Uint8Array): void | Promise<void>
  /** The body is complete: gives the value that `fromHttpRequest` would give for it. */
  end(): MaybePromise<In>
  /** The body will not be complete: the client went away, or was refused. Frees what is held. */
  abort(reason: Error): void
}

/**
 * Bodies that are complete at once, or announce at most this many bytes, go to `fromHttpRequest`; longer ones and
 * chunked ones go to `receive`, where the descriptor has it. **Units**: bytes.
 */
export const receiveAboveBytes = 256 * 1024

/**
 * A wire format: turns a request into the value of type `In` that the function receives, and the function's result of
 * type `Out` into a response. One object serves all requests at once, so conversions keep no state.
 *
 * **Source**: SPEC "IODescriptor (abstract base)".
 * **Example**: `examples/npy/`.
 */
export abstract class IODescriptor<In = unknown, Out = In> {
  /** Media type that the descriptor writes and, unless it says otherwise, reads. */
  abstract readonly mimeType: string

  /**
   * Request headers that the conversions look at, beside `content-type`; `'all'` when left as it is. A narrow list
   * spares the server from copying the rest.
   */
  readonly readsHeaders: readonly string[] | 'all' = 'all'

  /** What service metadata calls this kind of descriptor. Default: the name of the class. */
  readonly descriptorId: string = this.constructor.name

  /**
   * Names of fields that service metadata publishes to every client, beside `mimeType`. Default: none, so that a field
   * such as an API key stays private.
   */
  readonly publicOptions: readonly string[] = []

  /** A request becomes the function's value. **Errors**: BadInput, and nothing else, for whatever a client sends. */
  abstract fromHttpRequest(request: HttpRequest, ctx?: Context): MaybePromise<In>

  /**
   * Begins to receive a body that is too long to be held, where a descriptor can. Left out, such bodies are held whole
   * and given to `fromHttpRequest`; both ways must make the same value. What must be freed when the request is over
   * goes to `ctx.onEnd`. **Errors**: as `fromHttpRequest`, by the headers alone.
   */
  receive?(headers: RequestHeaders, ctx: Context): BodyReceiver<In>

  /** The function's result becomes a response. **Errors**: BadOutput for a value that has no encoding. */
  abstract toHttpResponse(value: Out, ctx?: Context): MaybePromise<HttpResponse>

  /**
   * The member of the RPC messages' oneof that `fromProto` takes beside serialized bytes, and that `toProto` gives
   * unless it gives bytes. **Source**: proto/serving/v1/serving.proto.
   */
  readonly protoField: ProtoField = 'serialized_bytes'

  /**
   * An RPC message, or serialized bytes, become the function's value. The bytes are the descriptor's to keep. Left as
   * it is, bytes are read as an HTTP body of the descriptor's own media type, and there is no message.
   *
   * Messages are plain objects, see `ProtoMessages`: `text` is a string and `json` a JSON value.
   * **Errors**: BadInput, and nothing else, for whatever a client sends.
   */
  fromProto(message: unknown, ctx?: Context): MaybePromise<In> {
    if (!(message instanceof Uint8Array)) throw wrongContent(this.protoField, 'serialized_bytes')
    return this.fromHttpRequest(new HttpRequest(HeaderList.from({ 'content-type': this.mimeType }), message), ctx)
  }

  /**
   * The function's result becomes an RPC message, or serialized bytes. Left as it is: the bytes of the HTTP body.
   * **Errors**: BadOutput for a value that has no encoding.
   */
  toProto(value: Out, ctx?: Context): MaybePromise<unknown> {
    return whenReady(this.toHttpResponse(value, ctx), ({ body }) => collectBody(body))
  }

  /**
   * The function's result becomes messages, one by one, for calls that stream. Left out: one message, that of
   * `toProto`.
   * **Errors**: as `toProto`.
   */
  toProtoStream?(value: Out, ctx?: Context): AsyncIterable<unknown>
}

/** Any descriptor at all: of a function that takes what comes and returns what it may. */
export type AnyDescriptor = IODescriptor<unknown, never>

/** The value that a function receives from descriptor `D`. */
export type Received<D> = D extends IODescriptor<infer In, never> ? In : never

/** The value that a function may return to descriptor `D`. */
export type Returned<D> = D extends { toHttpResponse(value: infer Out, ...rest: never[]): unknown } ? Out : never

/** The error for content that a descriptor does not take. */
export function wrongContent(received: ProtoField | undefined, wanted: ProtoField): BadInput {
  const choice = wanted === 'serialized_bytes' ? wanted : `${wanted} or serialized_bytes`
  return new BadInput(`expected ${choice} for the content, received ${received ?? 'none'}`, { reason: 'media-type' })
}
