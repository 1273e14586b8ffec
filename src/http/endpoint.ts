/**
 * What a path of the HTTP port answers. A protocol is one file that implements this, and one line in `endpoints.ts`.
 * @module
 */
import type { ServingError } from '../core/errors.ts'
import type { MaybePromise } from '../core/promise.ts'
import type { Context } from './context.ts'
import type { HttpRequest, HttpResponse, RequestHeaders } from './message.ts'
import type { ProtocolName } from './outcome.ts'

/** The request line, as far as endpoints need it. */
export interface RequestTarget {
  /** As the client sent it. An endpoint that answers GET gets HEAD, too, and answers it alike: the body is not sent. */
  readonly method: string
  /** Without the query; not decoded. */
  readonly path: string
  /** Without `?`; not decoded. Empty when absent. */
  readonly query: string
  /** Values of the `{name}` segments of the endpoint's path, percent-decoded. */
  readonly params: Readonly<Record<string, string>>
}

/** Takes a request's body as it comes. `write` and `abort` are as in {@link BodyReceiver} of descriptors. */
export interface EndpointReceiver {
  write(piece: Uint8Array): void | Promise<void>
  /**
   * Called once, when the request has its slots: starts the answer, which may come before the body has ended. `end`
   * then returns undefined. Never throws, never rejects.
   */
  answer?(): Promise<HttpResponse>
  /** Called when the body is complete. Never throws, never rejects. */
  end(): MaybePromise<HttpResponse> | undefined
  abort(reason: Error): void
}

/** How many requests of an endpoint may run at a time. */
export interface EndpointSlots {
  readonly isFull: boolean
  /** Takes a slot; returns false when none is free. */
  acquire(): boolean
  /** Called exactly once for each slot that was taken. */
  release(): void
  /** Called for each refusal: returns when to come again. **Units**: whole seconds. */
  retryAfterSeconds(): number
}

/** One protocol on one path. */
export interface Endpoint {
  /** For the log. */
  readonly name: string
  /** What a document of the server says of its first method: an operation of OpenAPI. Undefined for nothing. */
  readonly operation?: Readonly<Record<string, unknown>> | undefined
  /** Default `http`. */
  readonly protocol?: ProtocolName
  /** Name of the API, where the path determines it. */
  readonly api?: string
  /** Whether every request names its API in the body, so that the API may decide for itself about auth. */
  readonly namesApi?: boolean
  /** Whether it is answered without hooks and auth. Default false; for health. */
  readonly isOpen?: boolean
  /** Whether it needs no auth, since it tells nothing of the service; hooks run. Default false. */
  readonly isPublic?: boolean
  /**
   * Absolute. A segment `{name}` matches any one segment, and a last segment `*` matches the rest, which may be empty:
   * `/v2/models/{model}/infer`, `/static/*`.
   */
  readonly path: string
  /** GET includes HEAD. None: it lends its `problem` to refusals of wrong paths and methods at its path. */
  readonly methods: readonly string[] | 'any'
  /** Request headers to copy into the context; the others read as absent. Names in lower case. */
  readonly readsHeaders: readonly string[] | 'all'
  /**
   * Whether requests need a ready server and count against `maxInFlight`. False for what must be answered under any
   * load.
   */
  readonly isLimited: boolean
  /** Slots of its own, beside those of the server. */
  readonly slots?: EndpointSlots | undefined
  /** Whether `receive` is called although nothing of a body has come yet. Default false. */
  readonly startsUnread?: boolean
  /** Whether bodies with a content-encoding are decompressed first; otherwise they come as they were sent. */
  readonly decompresses: boolean
  /**
   * Answers a request; the body of the response may be a stream. Never throws, never rejects. Owns the request: to read
   * its body after returning, keep or copy it first.
   */
  answer(request: HttpRequest, ctx: Context, target: RequestTarget): MaybePromise<HttpResponse>
  /** Returns an error in the protocol's format; its body is a string. Never throws. */
  problem(error: ServingError, requestId: string): HttpResponse
  /** Returns the client's own deadline. **Units**: milliseconds from now; undefined for none. */
  timeoutMs?(headers: RequestHeaders): number | undefined
  /**
   * Returns the place of a body, where numbers start, that is to lie at a multiple of 8 bytes in memory; undefined for
   * none. **Units**: bytes.
   */
  alignedAt?(headers: RequestHeaders): number | undefined
  /**
   * Called for a body that did not come at once and is not compressed: returns a receiver of its pieces, or undefined
   * to get it whole. `declared` is its Content-Length, undefined for a chunked one. **Errors**: as descriptors'
   * `receive`.
   */
  receive?(declared: number | undefined, ctx: Context, target: RequestTarget): EndpointReceiver | undefined
}
