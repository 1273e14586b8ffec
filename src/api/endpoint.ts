/** What a path of the HTTP port answers. @module */

import type { ServingError } from '../core/errors.ts'
import type { MaybePromise } from '../core/promise.ts'
import type { EndpointSlots } from '../http/limits.ts'
import type { HeaderNames, HttpRequest, HttpResponse, RequestHeaders } from '../http/message.ts'
import type { ProtocolName } from '../http/outcome.ts'
import { problemResponse } from '../http/problem.ts'
import type { Access, Origins, Visit } from './visit.ts'

/** Receives a body in pieces. `write` and `abort`: see `BodyReceiver` of descriptors. */
export interface EndpointReceiver {
  write(piece: Uint8Array): void | Promise<void>
  /** Called once the request has its slots: may answer before the body's end; `end` then returns undefined. */
  answer?(): Promise<HttpResponse>
  /** Called when the body is complete. Never throws, never rejects. */
  end(): MaybePromise<HttpResponse> | undefined
  abort(reason: Error): void
}

/** One path of the HTTP port. */
export interface Endpoint {
  readonly name: string
  /** Its OpenAPI operation; undefined leaves it out of documents. */
  readonly operation?: Readonly<Record<string, unknown>> | undefined
  readonly protocol?: ProtocolName
  readonly access: Access
  readonly origins: Origins
  /**
   * `{name}` matches one segment, `*` at the end the rest, which may be empty: `/v2/models/{model}/infer`, `/static/*`.
   */
  readonly path: string
  /** GET includes HEAD. An empty list only lends its `problem` to refusals at its path. */
  readonly methods: readonly string[] | 'any'
  /** Headers to copy, in lower case; others read as absent. */
  readonly readsHeaders: HeaderNames
  /** Whether requests need a ready server and count against `maxInFlight`; false for health. Memory counts anyway. */
  readonly isLimited: boolean
  /** @returns its own slots, beside those of the server. */
  slots?(headers: RequestHeaders): EndpointSlots | undefined
  /** Whether `receive` is called before any byte of the body. Default false. */
  readonly startsUnread?: boolean
  /** Whether compressed bodies are decompressed first. */
  readonly decompresses: boolean
  /**
   * Answers a request, which it owns: keep or copy a body that is read after returning. Never throws, never rejects.
   */
  answer(request: HttpRequest, visit: Visit): MaybePromise<HttpResponse>
  /**
   * Never throws.
   *
   * @returns an error in the protocol's format, with a string body.
   */
  problem(error: ServingError, requestId: string): HttpResponse
  /**
   * **Units**: milliseconds from now.
   *
   * @returns the client's deadline.
   */
  timeoutMs?(headers: RequestHeaders): number | undefined
  /**
   * **Units**: bytes.
   *
   * @returns where the body has numbers that must be aligned to 8 bytes; undefined for nowhere.
   */
  alignedAt?(headers: RequestHeaders): number | undefined
  /**
   * `declared`: its Content-Length, undefined if chunked.
   *
   * @returns a receiver for an uncompressed body that did not come at once; undefined collects it.
   * @throws as descriptors' `receive`.
   */
  receive?(declared: number | undefined, visit: Visit): EndpointReceiver | undefined
}

/**
 * `readsHeaders`: beside the request's id.
 *
 * @returns the endpoint of a server page, answered under any load.
 */
export function getPage(
  path: string,
  access: Access,
  readsHeaders: readonly string[],
  answer: Endpoint['answer'],
): Endpoint {
  return {
    name: path,
    access,
    origins: 'any',
    path,
    methods: ['GET'],
    readsHeaders: [...readsHeaders, 'x-request-id'],
    isLimited: false,
    decompresses: false,
    answer,
    problem: problemResponse,
  }
}
