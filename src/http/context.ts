/** The context of a request: what a function may read of it and set on its response. @module */
import { randomBytes } from 'node:crypto'
// The global of this name is a slow getter.
import { performance } from 'node:perf_hooks'
import { ClientClosed, type ServingError } from '../core/errors.ts'
import { isPromise } from '../core/promise.ts'
import { type HeaderLine, HeaderList, type RequestHeaders } from './message.ts'
import { ResponseContext } from './response-context.ts'

/** Who sends a request, as an auth hook found out. */
export interface Caller {
  /** Name of the key, or subject of the token. */
  readonly name: string
  /** All claims of the token; undefined for keys. */
  readonly claims?: Readonly<Record<string, unknown>>
}

/**
 * The type of `ctx.state`: what hooks leave there for functions. An application declares further members.
 *
 * **Example**
 * ```ts
 * declare module 'serving' { interface ContextState { team?: string } }
 * ```
 */
export interface ContextState {
  /** Set by the hooks of `serving/auth`. */
  caller?: Caller
}

/** Of the URL that the client asked for. */
export type Scheme = 'http' | 'https'

/** The other end of a connection, and what it may take. */
export interface RequestPeer {
  /** Counts memory that the request takes until its end; undefined without a limit. */
  readonly reservation?: { reserve(bytes: number, isSpare?: boolean): boolean } | undefined
  /** Default `http`. */
  readonly scheme?: Scheme
  /** Undefined where it is not known, or not known any more. */
  readonly remoteAddress?: string | undefined
}

/** The part of a request line that a context has. */
export interface RequestLine {
  readonly method?: string
  /** Without the query; not decoded. */
  readonly path?: string
}

/** What a transport knows of a request. Every member is optional, so that tests need none. */
export interface ContextInit extends RequestLine, RequestPeer {
  /** Name of the API. */
  readonly api?: string | undefined
  readonly headers?: RequestHeaders
  /** The raw query string without `?`. */
  readonly query?: string
  /** **Units**: milliseconds since the epoch. */
  readonly deadlineMs?: number | undefined
  /** The same as time from now, which takes precedence. **Units**: milliseconds. */
  readonly timeoutMs?: number | undefined
}

/** Named values that a client sends beside its input. */
export type RequestParameters = Readonly<Record<string, string | number | boolean>>

const noParameters: RequestParameters = Object.freeze({})

/** Work at the end of a request. */
export type Cleanup = () => void | Promise<void>

const noHeaders = new HeaderList([], [])
// Ids are unique, not secret.
const idPrefix = randomBytes(8).toString('hex')
let idCount = 0
const plainId = /^[\w.:+/=-]{1,128}$/

/** The context of one request. Members are made when they are first read: those that are not read cost nothing. */
export class Context {
  /** Request headers, names in lower case. */
  readonly headers: RequestHeaders
  readonly #query: string
  // One look at the clock for all that is timed: Date.now takes longer, and jumps when the system's time is set.
  readonly #begunAt = performance.now()
  readonly #timeoutMs: number | undefined
  #deadlineMs: number | undefined
  #response: ResponseContext | undefined
  #line: RequestLine
  #peer: RequestPeer
  #api: string | undefined
  #remoteAddress: string | undefined
  #state: ContextState | undefined
  #id: string | undefined
  #params: URLSearchParams | undefined
  #controller: AbortController | undefined
  #reason: Error | undefined
  #cleanups: Cleanup[] | undefined
  #over = false
  #parameters: RequestParameters = noParameters
  #listeners: ((reason: Error) => void)[] | undefined

  /** @internal Why the request is refused, unless its API turns out to be for everybody. */
  denial: ServingError | undefined
  /** @internal Whether the function has returned its result: no work for it runs on unawaited. */
  returned = false

  constructor(init: ContextInit = {}) {
    this.headers = init.headers ?? noHeaders
    this.#deadlineMs = init.deadlineMs
    this.#timeoutMs = init.timeoutMs ?? (init.deadlineMs === undefined ? undefined : init.deadlineMs - Date.now())
    this.#query = init.query ?? ''
    this.#line = init
    this.#peer = init
    this.#api = init.api
  }

  /** When the answer is due; undefined without a deadline. **Units**: milliseconds since the epoch. */
  get deadlineMs(): number | undefined {
    if (this.#timeoutMs === undefined) return undefined
    this.#deadlineMs ??= Math.round(Date.now() - this.elapsedMs + this.#timeoutMs)
    return this.#deadlineMs
  }

  /** @internal Time since the context was made. **Units**: milliseconds. */
  get elapsedMs(): number {
    return performance.now() - this.#begunAt
  }

  /** The request's id: the client's `x-request-id` when it is short and plain, else a new one. */
  get id(): string {
    this.#id ??= this.clientId ?? idPrefix + (++idCount).toString(16).padStart(8, '0')
    return this.#id
  }

  /** What the function says about its response. */
  get response(): ResponseContext {
    this.#response ??= new ResponseContext()
    return this.#response
  }

  /** @internal The client's own `x-request-id`, which every answer repeats; undefined if absent, long or malformed. */
  get clientId(): string | undefined {
    const value = this.headers.get('x-request-id')
    return value !== undefined && plainId.test(value) ? value : undefined
  }

  /** The parameters of a request of the Open Inference Protocol; none for others. */
  get parameters(): RequestParameters {
    return this.#parameters
  }

  /** @internal */
  set parameters(parameters: RequestParameters) {
    this.#parameters = parameters
  }

  /** The HTTP method; `POST` for gRPC, empty without a request. */
  get method(): string {
    return this.#line.method ?? ''
  }

  /** The path of the request, without its query; not decoded. `/package.Service/Method` for gRPC. */
  get path(): string {
    return this.#line.path ?? ''
  }

  /** Name of the API. Over Connect and gRPC it is known when the body has been read; undefined before. */
  get api(): string | undefined {
    return this.#api
  }

  /** @internal */
  set api(name: string) {
    this.#api = name
  }

  /**
   * Address of the client, without a port; that of a proxy in front, unless the option `trustProxy` says how many there
   * are. Undefined where there is no socket, and when it is first read after the client has gone.
   */
  get remoteAddress(): string | undefined {
    this.#remoteAddress ??= this.#peer.remoteAddress
    return this.#remoteAddress
  }

  /**
   * `https` over TLS, also that of a proxy in front, where the option `trustProxy` lets it say so by X-Forwarded-Proto
   * or Forwarded.
   */
  get scheme(): Scheme {
    return this.#peer.scheme ?? 'http'
  }

  /** What hooks leave for the function, and for later hooks. Its type is declared by the application. */
  get state(): ContextState {
    this.#state ??= {}
    return this.#state
  }

  /** The query parameters of the URL. */
  get query(): URLSearchParams {
    this.#params ??= new URLSearchParams(this.#query)
    return this.#params
  }

  /** Aborted when the client goes away (reason ClientClosed) or the deadline passes (reason DeadlineExceeded). */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#reason !== undefined) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  /** Time left until the deadline, never below 0; Infinity without one. **Units**: milliseconds. */
  get remainingMs(): number {
    return this.#timeoutMs === undefined ? Number.POSITIVE_INFINITY : Math.max(0, this.#timeoutMs - this.elapsedMs)
  }

  /** @internal Gives the request up; the first reason stays. */
  abort(reason: Error = new ClientClosed()): void {
    if (this.#reason !== undefined) return
    this.#reason = reason
    this.#controller?.abort(reason)
    const listeners = this.#listeners
    if (listeners === undefined) return
    for (let listener = listeners.shift(); listener !== undefined; listener = listeners.shift()) listener(reason)
  }

  /** @internal Why the request was given up; undefined while it was not. */
  get abortReason(): Error | undefined {
    return this.#reason
  }

  /**
   * @internal Calls `listener` once when the request is given up, never for one that is given up already. Returns a
   * function that removes the listener. Cheaper than a listener of `signal`.
   */
  onAbort(listener: (reason: Error) => void): () => void {
    this.#listeners ??= []
    const listeners = this.#listeners
    listeners.push(listener)
    return () => {
      const at = listeners.indexOf(listener)
      if (at !== -1) listeners.splice(at, 1)
    }
  }

  /**
   * Adds work for when the response has been sent or the request was given up: closing files, freeing memory of native
   * code. Each runs exactly once, the last added first; what is added later than that runs at once. The function may
   * still be running then: after its deadline, or when the client has gone.
   */
  onEnd(cleanup: Cleanup): void {
    if (this.#over) {
      runCleanup(cleanup, ignore)
      return
    }
    this.#cleanups ??= []
    this.#cleanups.push(cleanup)
  }

  /** @internal Runs the clean-ups of `onEnd`, once; `onError` is called with what they throw. */
  end(onError: (error: unknown) => void = ignore): void {
    if (this.#over) return
    this.#over = true
    const cleanups = this.#cleanups
    if (cleanups === undefined) return
    this.#cleanups = undefined
    for (let cleanup = cleanups.pop(); cleanup !== undefined; cleanup = cleanups.pop()) runCleanup(cleanup, onError)
  }

  /** @internal Tells the context of its request. Called by transports. */
  bind(line: RequestLine, api: string | undefined, peer: RequestPeer): void {
    this.#line = line
    this.#api = api
    this.#peer = peer
  }

  /**
   * @internal Counts more memory of the request; returns false, and counts none, if the server has too little left.
   * `isSpare`: the request can do without, so that the server keeps three quarters for others. **Units**: bytes.
   */
  reserve(bytes: number, isSpare?: boolean): boolean {
    return this.#over || (this.#peer.reservation?.reserve(bytes, isSpare) ?? true)
  }

  /** @internal What the function has set on its response; undefined if it has set nothing. */
  get ownResponse(): ResponseContext | undefined {
    return this.#response?.touched ? this.#response : undefined
  }

  /** @internal Moves the headers and cookies that were set so far to those of every answer, errors as well. */
  saveHeaders(): void {
    this.#response?.save()
  }

  /** @internal Drops the headers and cookies that were set since. */
  dropHeaders(): void {
    this.#response?.drop()
  }

  /** @internal Adds lines to every answer, errors as well. */
  addHeaders(lines: readonly HeaderLine[]): void {
    this.response.addSaved(lines)
  }

  /** @internal Returns a response with the lines of every answer; the response itself if there are none. */
  withHeaders<R extends { readonly headers: readonly HeaderLine[] }>(response: R): R {
    return this.#response?.withSaved(response) ?? response
  }
}

function ignore(): void {}

function runCleanup(cleanup: Cleanup, onError: (error: unknown) => void): void {
  try {
    const result = cleanup()
    if (isPromise(result)) Promise.resolve(result).catch(onError)
  } catch (error) {
    onError(error)
  }
}
