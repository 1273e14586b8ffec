import { InternalError } from '../core/errors.ts'
import type { RequestHeaders } from '../http/message.ts'

/** A body that JSON can write. */
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
   * A FormData is sent as multipart/form-data, objects as JSON, each with its `content-type` unless `headers` has one.
   */
  readonly body?: Uint8Array | ArrayBuffer | FormData | InjectJson
}

/** The whole response to an {@link InjectRequest}. */
export interface InjectResponse {
  readonly status: number
  readonly headers: RequestHeaders
  /** All bytes, also of a stream. */
  readonly body: Uint8Array
  /** The failure with its causes, which clients do not receive. */
  readonly error: Error | undefined
  text(): string
  /** Returns JSON, or NDJSON as a list. **Errors**: SyntaxError. */
  json<T = unknown>(): T
}

/** Answers a request to a service of class `S`. */
export type Inject<S> = (service: S, request: InjectRequest) => Promise<InjectResponse>

let provided: Inject<never> | undefined

/** The server provides its routing here when it loads: this room must not import it. */
export function provideInject<S>(inject: Inject<S>): void {
  provided = inject
}

/** Answers a request by the server's routing. **Errors**: as `Service.inject`. */
export function inject<S>(service: S, request: InjectRequest): Promise<InjectResponse> {
  if (provided === undefined) throw new InternalError('expected the server to be loaded before inject')
  return (provided as Inject<S>)(service, request)
}
