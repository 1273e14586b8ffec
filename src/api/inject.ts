/** Requests answered in process, without a socket. @module */
import { InternalError } from '../core/errors.ts'
import type { RequestHeaders } from '../http/message.ts'

/** A value that JSON can write, as a body. */
export type InjectJson =
  | null
  | boolean
  | number
  | string
  | readonly InjectJson[]
  | { readonly [key: string]: InjectJson }

/** A request to answer in process. */
export interface InjectRequest {
  /** Path and query: `/classify?top=3`. */
  readonly path: string
  /** Default: `POST` with a body, `GET` without one. */
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /**
   * Strings and bytes are sent as they are, a FormData as multipart/form-data, anything else as JSON. FormData and JSON
   * bring their `content-type`, unless `headers` has one.
   */
  readonly body?: Uint8Array | ArrayBuffer | FormData | InjectJson
}

/** The whole response to an {@link InjectRequest}. */
export interface InjectResponse {
  readonly status: number
  readonly headers: RequestHeaders
  /** All bytes; of a streamed response, too. */
  readonly body: Uint8Array
  /** Why the request failed, with the causes, which clients do not receive; undefined for a success. */
  readonly error: Error | undefined
  text(): string
  /** Returns the body as JSON; NDJSON as a list of its values. **Errors**: SyntaxError for other text. */
  json<T = unknown>(): T
}

/** Answers a request to a service of class `S`. */
export type Inject<S> = (service: S, request: InjectRequest) => Promise<InjectResponse>

let provided: Inject<never> | undefined

/** Called by the server when it is loaded: it owns routing, and this room must not import it. */
export function provideInject<S>(inject: Inject<S>): void {
  provided = inject
}

/** Answers a request by the routing of the server. **Errors**: as `Service.inject`. */
export function inject<S>(service: S, request: InjectRequest): Promise<InjectResponse> {
  if (provided === undefined) throw new InternalError('expected the server to be loaded before inject')
  return (provided as Inject<S>)(service, request)
}
