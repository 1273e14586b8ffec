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
  /** @default `POST` with a body, `GET` without one */
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
  /**
   * @returns JSON, or NDJSON as a list.
   * @throws SyntaxError.
   */
  json<T = unknown>(): T
}

/** A live stream to open in process. */
export interface InjectLiveRequest extends Pick<InjectRequest, 'path' | 'headers'> {
  /** The client's messages: strings are texts, bytes are binary, other values JSON. The client ends with them. */
  readonly inputs?: AsyncIterable<InjectMessage> | Iterable<InjectMessage>
}

/** A message of an {@link InjectLiveRequest}. */
export type InjectMessage = Uint8Array | InjectJson

/** A message that a function has yielded. */
export interface InjectedMessage {
  readonly isText: boolean
  readonly body: Uint8Array
  text(): string
  /** @throws SyntaxError. */
  json<T = unknown>(): T
}

/** The stream of an {@link InjectLiveRequest}: what the function yields. It throws the ServingError that ends it. */
export interface InjectedLive extends AsyncIterable<InjectedMessage> {
  /** The answer if the stream was refused. */
  readonly refusal: InjectResponse | undefined
}

/** `svc.inject`. */
export interface Injector {
  (request: InjectRequest): Promise<InjectResponse>
  /**
   * Opens a live stream in process, behind the same hooks and auth.
   *
   * @example
   * `for await (const each of await svc.inject.live({ path: '/upper', inputs: ['a', 'b'] }))
   * console.log(each.text())`
   */
  live(request: InjectLiveRequest): Promise<InjectedLive>
}
