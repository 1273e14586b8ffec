import { ClientClosed } from '../core/errors.ts'
import { performance, randomId } from '../core/platform.ts'
import { isPromise } from '../core/promise.ts'
import { type HeaderLine, HeaderList, type RequestHeaders } from './message.ts'
import type { RequestTrace } from './request-trace.ts'
import { ResponseContext } from './response-context.ts'

/** Who sends a request, as an auth hook found out. */
export interface Caller {
  /** Name of the key, or subject of the token; empty for a token without `sub`, which names nobody. */
  readonly name: string
  /** All claims of the token; undefined for keys. Callers of one name whose `iss` differs are two. */
  readonly claims?: Readonly<Record<string, unknown>>
  /** Whether they may see and end the jobs of all callers. A hook of the service says so, no key or token. */
  readonly isAdmin?: boolean
}

/**
 * Type of `ctx.state`: what hooks leave for functions. An application adds members by `declare module 'serving' {
 * interface ContextState { team?: string } }`.
 */
export interface ContextState {
  /** Set by the hooks of `serving/auth`. */
  caller?: Caller
}

/** Scheme of the URL that the client asked for. */
export type Scheme = 'http' | 'https'

/** The job that a call belongs to. */
export interface JobContext {
  readonly id: string
  /** Counts the starts of the job, from 1. */
  readonly attempt: number
  /**
   * Tells how far the job is; resolves when that is kept.
   *
   * @throws InvalidArgument for what JSON cannot write.
   */
  progress(value: unknown): Promise<void>
}

/** The protocol of a request. */
export type ProtocolName = 'http' | 'connect' | 'grpc'

/** The other end of a connection. */
export interface RequestPeer {
  readonly job?: JobContext
  /** Counts memory that the request takes until its end; undefined without a limit. */
  readonly reservation?: { reserve(bytes: number, isSpare?: boolean): boolean } | undefined
  readonly scheme?: Scheme
  readonly transport?: ProtocolName
  readonly remoteAddress?: string | undefined
}

/** Values of the `{name}` segments of a path: percent-decoded strings, or what a schema made of them. */
export type PathParams = Readonly<Record<string, unknown>>

/** The part of a request line that a context has. */
export interface RequestLine {
  readonly method?: string
  /** Without the query; not decoded. */
  readonly path?: string
  readonly params?: PathParams
}

/** What a transport knows of a request; all members are optional, for tests. */
export interface ContextInit extends RequestLine, RequestPeer {
  readonly api?: string | undefined
  readonly headers?: RequestHeaders
  /** Without `?`. */
  readonly query?: string
  /** **Units**: milliseconds since the epoch. */
  readonly deadlineMs?: number | undefined
  /** Takes precedence over `deadlineMs`. **Units**: milliseconds from now. */
  readonly timeoutMs?: number | undefined
}

/** Named values that a client sends beside its input. */
export type RequestParameters = Readonly<Record<string, string | number | boolean>>

const noParameters: RequestParameters = Object.freeze({})

/** Work at the end of a request. */
export type Cleanup = () => void | Promise<void>

const noHeaders = new HeaderList([], [])
const plainId = /^[\w.:+/=-]{1,128}$/

/** The context of one request. Its members are made when first read. `P`: the type of `params`. */
export class Context<P = PathParams> {
  /** Request headers, names in lower case. */
  readonly headers: RequestHeaders
  /** Of its calls of Runners: higher ones go first. A hook or the function sets it. */
  priority = 0
  /** Weight of its calls of Runners: time counts this many times less in the share of its API and caller. */
  share = 1
  readonly #query: string
  // A steady clock, unlike Date.now, and read once.
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
  #checked: P | undefined
  #job: JobContext | undefined
  #listeners: ((reason: Error) => void)[] | undefined

  /** @internal Undefined for a request that is not traced. */
  trace: RequestTrace | undefined
  /** @internal Whether the function has returned its result. */
  returned = false

  constructor(init: ContextInit = {}) {
    this.headers = init.headers ?? noHeaders
    this.#deadlineMs = init.deadlineMs
    this.#timeoutMs =
      init.timeoutMs ?? (init.deadlineMs === undefined ? undefined : init.deadlineMs - Date.now())
    this.#query = init.query ?? ''
    this.#line = init
    this.#peer = init
    this.#api = init.api
  }

  /** **Units**: milliseconds since the epoch; undefined without a deadline. */
  get deadlineMs(): number | undefined {
    if (this.#timeoutMs === undefined) return undefined
    this.#deadlineMs ??= Math.round(Date.now() - this.elapsedMs + this.#timeoutMs)
    return this.#deadlineMs
  }

  /** @internal Since the context was made. **Units**: milliseconds. */
  get elapsedMs(): number {
    return performance.now() - this.#begunAt
  }

  /** The client's `x-request-id` if it is short and plain, else a new id. */
  get id(): string {
    this.#id ??= this.clientId ?? randomId()
    return this.#id
  }

  /** What the function sets on its response. */
  get response(): ResponseContext {
    this.#response ??= new ResponseContext()
    return this.#response
  }

  /** @internal The client's own `x-request-id`; undefined if absent, long or malformed. */
  get clientId(): string | undefined {
    const value = this.headers.get('x-request-id')
    return value !== undefined && plainId.test(value) ? value : undefined
  }

  /** Values of the `{name}` segments of the route; checked by the schema `params` of the API, if it has one. */
  get params(): P {
    return this.#checked ?? ((this.#line.params ?? noParameters) as P)
  }

  /** @internal */
  set params(params: P) {
    this.#checked = params
  }

  /** Parameters of a request of the Open Inference Protocol; empty for others. */
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

  /** Without the query; not decoded. `/package.Service/Method` for gRPC. */
  get path(): string {
    return this.#line.path ?? ''
  }

  /** Name of the API. Over Connect and gRPC undefined until the body has been read. */
  get api(): string | undefined {
    return this.#api
  }

  /** @internal */
  set api(name: string) {
    this.#api = name
  }

  /**
   * The client's address without a port, or that of a proxy without option `trustProxy`. Undefined without a socket,
   * and if first read after the client has gone.
   */
  get remoteAddress(): string | undefined {
    this.#remoteAddress ??= this.#peer.remoteAddress
    return this.#remoteAddress
  }

  /** `https` over TLS, or if a proxy says so and option `trustProxy` trusts it. */
  get scheme(): Scheme {
    return this.#peer.scheme ?? 'http'
  }

  /** @internal */
  get transport(): ProtocolName {
    return this.#peer.transport ?? 'http'
  }

  /** Set if the call runs as a job. */
  get job(): JobContext | undefined {
    return this.#job ?? this.#peer.job
  }

  /** @internal */
  set job(job: JobContext) {
    this.#job = job
  }

  /** What hooks leave for the function and later hooks; the application declares its type. */
  get state(): ContextState {
    this.#state ??= {}
    return this.#state
  }

  /** @internal */
  get caller(): Caller | undefined {
    return this.#state?.caller
  }

  get query(): URLSearchParams {
    this.#params ??= new URLSearchParams(this.#query)
    return this.#params
  }

  /** Aborted if the client goes away (reason ClientClosed) or the deadline passes (DeadlineExceeded). */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#reason !== undefined) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  /** Time left until the deadline, at least 0; Infinity without one. **Units**: milliseconds. */
  get remainingMs(): number {
    return Math.max(0, (this.#timeoutMs ?? Number.POSITIVE_INFINITY) - this.elapsedMs)
  }

  /** @internal Aborts the request; the first reason stays. */
  abort(reason: Error = new ClientClosed()): void {
    if (this.#reason !== undefined) return
    this.#reason = reason
    this.#controller?.abort(reason)
    const listeners = this.#listeners
    if (listeners === undefined) return
    for (let listener = listeners.shift(); listener !== undefined; listener = listeners.shift())
      listener(reason)
  }

  /** @internal Undefined while the request is not aborted. */
  get abortReason(): Error | undefined {
    return this.#reason
  }

  /** @internal Calls `listener` once on abort, never if already aborted. Returns a function that removes it. */
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
   * Adds work for the end of the request, such as closing files. Each runs exactly once, the last added first; at once
   * if the request has ended. A function may still be running then: after its deadline, or if the client has gone.
   */
  onEnd(cleanup: Cleanup): void {
    if (this.#over) {
      runCleanup(cleanup, ignore)
      return
    }
    this.#cleanups ??= []
    this.#cleanups.push(cleanup)
  }

  /** @internal Runs the clean-ups of `onEnd` once; `onError` gets what they throw. */
  end(onError: (error: unknown) => void = ignore): void {
    if (this.#over) return
    this.#over = true
    const cleanups = this.#cleanups
    if (cleanups === undefined) return
    this.#cleanups = undefined
    for (let cleanup = cleanups.pop(); cleanup !== undefined; cleanup = cleanups.pop())
      runCleanup(cleanup, onError)
  }

  /** @internal Called by transports with the request. */
  bind(line: RequestLine, api: string | undefined, peer: RequestPeer): void {
    this.#line = line
    this.#api = api
    this.#peer = peer
  }

  /**
   * @internal Counts memory of the request; false if the server has too little. `isSpare`: three quarters stay for
   * others. **Units**: bytes.
   */
  reserve(bytes: number, isSpare?: boolean): boolean {
    return this.#over || (this.#peer.reservation?.reserve(bytes, isSpare) ?? true)
  }

  /** @internal Undefined if the function has set nothing. */
  get ownResponse(): ResponseContext | undefined {
    return this.#response?.touched ? this.#response : undefined
  }

  /** @internal Moves the headers and cookies set so far to those of every answer, errors included. */
  saveHeaders(): void {
    this.#response?.save()
  }

  /** @internal Drops the headers and cookies set since. */
  dropHeaders(): void {
    this.#response?.drop()
  }

  /** @internal Adds lines to every answer, errors included. */
  addHeaders(lines: readonly HeaderLine[]): void {
    this.response.addSaved(lines)
  }

  /**
   * @returns the response with the lines of every answer.
   * @internal
   */
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
