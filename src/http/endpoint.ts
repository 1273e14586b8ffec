/** What a path of the HTTP port answers. A protocol is one such file, and one line in `endpoints.ts`. @module */

import { expected, Overloaded, PayloadTooLarge, type ServingError } from '../core/errors.ts'
import type { MaybePromise } from '../core/promise.ts'
import type { Context } from './context.ts'
import type { HeaderNames, HttpRequest, HttpResponse, RequestHeaders } from './message.ts'
import type { ProtocolName } from './outcome.ts'
import { problemResponse } from './problem.ts'

/** The request line, as far as endpoints need it. */
export interface RequestTarget {
  /** Endpoints that answer GET also get HEAD; the body is not sent. */
  readonly method: string
  /** Without the query; not decoded. */
  readonly path: string
  /** Without `?`; not decoded. */
  readonly query: string
  /** Values of the path's `{name}` segments, percent-decoded. */
  readonly params: Readonly<Record<string, string>>
}

/** Receives a body in pieces. `write` and `abort`: see {@link BodyReceiver} of descriptors. */
export interface EndpointReceiver {
  write(piece: Uint8Array): void | Promise<void>
  /** Called once the request has its slots: may answer before the body's end; `end` then returns undefined. */
  answer?(): Promise<HttpResponse>
  /** Called when the body is complete. Never throws, never rejects. */
  end(): MaybePromise<HttpResponse> | undefined
  abort(reason: Error): void
}

/** How many requests of an endpoint may run at a time. */
export interface EndpointSlots {
  readonly isFull: boolean
  /** False if all are taken. */
  acquire(): boolean
  /** Called exactly once for each slot taken. */
  release(): void
  /** Called for each refusal. **Units**: whole seconds. */
  retryAfterSeconds(): number
}

/** Returns the refusal of a request when all of these slots are taken. */
export function tooMany(slots: EndpointSlots): Overloaded {
  const retryAfterSeconds = slots.retryAfterSeconds()
  return new Overloaded('too many requests in flight', { limit: 'in_flight', retryAfterSeconds })
}

/** Returns the refusal of a request that needs more memory than is left. */
export function noMemory(): Overloaded {
  return new Overloaded('too little memory for another large body or answer', { limit: 'memory' })
}

/** Returns the refusal of a body that is too large. `declared`: Content-Length, if it has one. */
export function tooLarge(limits: { readonly maxBodyBytes: number }, declared?: number): PayloadTooLarge {
  const limit = `at most ${limits.maxBodyBytes} bytes`
  return new PayloadTooLarge(
    declared === undefined ? `expected ${limit} for the body, received more` : expected(limit, 'the body', declared),
  )
}

/** One protocol on one path. */
export interface Endpoint {
  readonly name: string
  /** Its OpenAPI operation; undefined leaves it out of documents. */
  readonly operation?: Readonly<Record<string, unknown>> | undefined
  readonly protocol?: ProtocolName
  /** Undefined if the path does not tell the API. */
  readonly api?: string
  /** Whether the body names the API, which then decides about auth. */
  readonly namesApi?: boolean
  /** Answered without hooks and auth, as health is. Default false. */
  readonly isOpen?: boolean
  /** Answered without auth, but with hooks. Default false. */
  readonly isPublic?: boolean
  /**
   * `{name}` matches one segment, `*` at the end the rest, which may be empty: `/v2/models/{model}/infer`, `/static/*`.
   */
  readonly path: string
  /** GET includes HEAD. An empty list only lends its `problem` to refusals at its path. */
  readonly methods: readonly string[] | 'any'
  /** Headers to copy, in lower case; others read as absent. */
  readonly readsHeaders: HeaderNames
  /** Whether requests need a ready server and count against `maxInFlight`; false for health. */
  readonly isLimited: boolean
  /** Its own, beside those of the server. */
  readonly slots?: EndpointSlots | undefined
  /** Whether `receive` is called before any byte of the body. Default false. */
  readonly startsUnread?: boolean
  /** Whether compressed bodies are decompressed first. */
  readonly decompresses: boolean
  /**
   * Answers a request, which it owns: keep or copy a body that is read after returning. Never throws, never rejects.
   */
  answer(request: HttpRequest, ctx: Context, target: RequestTarget): MaybePromise<HttpResponse>
  /** Returns an error in the protocol's format, with a string body. Never throws. */
  problem(error: ServingError, requestId: string): HttpResponse
  /** Returns the client's deadline. **Units**: milliseconds from now. */
  timeoutMs?(headers: RequestHeaders): number | undefined
  /** Returns where the body has numbers that must be aligned to 8 bytes; undefined for nowhere. **Units**: bytes. */
  alignedAt?(headers: RequestHeaders): number | undefined
  /**
   * Returns a receiver for an uncompressed body that did not come at once; undefined collects it. `declared`: its
   * Content-Length, undefined if chunked. **Errors**: as descriptors' `receive`.
   */
  receive?(declared: number | undefined, ctx: Context, target: RequestTarget): EndpointReceiver | undefined
}

/** Returns the endpoint of a server page, answered under any load. `readsHeaders`: beside the request's id. */
export function getPage(path: string, readsHeaders: readonly string[], answer: Endpoint['answer']): Endpoint {
  return {
    name: path,
    path,
    methods: ['GET'],
    readsHeaders: [...readsHeaders, 'x-request-id'],
    isLimited: false,
    decompresses: false,
    answer,
    problem: problemResponse,
  }
}
