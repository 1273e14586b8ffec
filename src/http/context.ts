/**
 * The context of a request: what a function may read of it and set on its response.
 * @module
 */
import { randomBytes } from 'node:crypto'
import { type SerializeOptions, serialize } from 'cookie'
import { ClientClosed, expected, InvalidArgument } from '../errors.ts'
import { isPromise } from '../promise.ts'
import {
  type HeaderLine,
  HeaderList,
  isFramingHeader,
  isHeaderName,
  isHeaderValue,
  type RequestHeaders,
} from './message.ts'

/** Attributes of a cookie. **Units**: `maxAge` in seconds. **Source**: RFC 6265. */
export type CookieOptions = SerializeOptions

/** What a transport knows of a request. Every member is optional, so that tests need none. */
export interface ContextInit {
  readonly headers?: RequestHeaders
  /** The raw query string without `?`. */
  readonly query?: string
  /** **Units**: milliseconds since the epoch. */
  readonly deadlineMs?: number
}

/** Named values that a client sends beside its input. */
export type RequestParameters = Readonly<Record<string, string | number | boolean>>

const noParameters: RequestParameters = Object.freeze({})

/** Work at the end of a request. */
export type Cleanup = () => void | Promise<void>

/**
 * What transports, the pipeline and Runners do with a context. Kept off the class, so that functions see what is
 * theirs.
 */
export interface RequestLifecycle {
  /** Whether a value is a Context of this copy of the package. */
  has(value: object): value is Context
  /** Gives the request up; the first reason stays. Default reason: ClientClosed. */
  abort(ctx: Context, reason?: Error): void
  /** Why the request was given up; undefined while it was not. */
  abortReason(ctx: Context): Error | undefined
  /**
   * Calls `listener` once when the request is given up, never for one that is given up already. Returns a function that
   * removes the listener. **Cost**: 0.1 µs; a listener of `signal` takes 3.5.
   */
  onAbort(ctx: Context, listener: (reason: Error) => void): () => void
  /** Runs the clean-ups of `onEnd`, once; `onError` is called with what they throw. */
  end(ctx: Context, onError?: (error: unknown) => void): void
  /** Sets {@link Context.parameters}. */
  setParameters(ctx: Context, parameters: RequestParameters): void
  /** The client's own `x-request-id`, which every answer repeats; undefined when absent, long or malformed. */
  clientId(ctx: Context): string | undefined
}

/** See {@link RequestLifecycle}. */
export let lifecycle: RequestLifecycle

const noHeaders = new HeaderList([], [])
// Ids are unique, not secret: a random prefix for the process and a counter cost a tenth of randomUUID.
const idPrefix = randomBytes(8).toString('hex')
let idCount = 0
const plainId = /^[\w.:+/=-]{1,128}$/

/**
 * The context of one request. Members are made when they are first read: those that are not read cost nothing.
 */
export class Context {
  /** Request headers, names in lower case. */
  readonly headers: RequestHeaders
  /** When the answer is due; undefined without a deadline. **Units**: milliseconds since the epoch. */
  readonly deadlineMs: number | undefined
  /** What the function says about its response. */
  readonly response: ResponseContext
  readonly #query: string
  #id: string | undefined
  #params: URLSearchParams | undefined
  #controller: AbortController | undefined
  #reason: Error | undefined
  #cleanups: Cleanup[] | undefined
  #over = false
  #parameters: RequestParameters = noParameters
  #listeners: ((reason: Error) => void)[] | undefined

  constructor(init: ContextInit = {}) {
    this.headers = init.headers ?? noHeaders
    this.deadlineMs = init.deadlineMs
    this.response = new ResponseContext()
    this.#query = init.query ?? ''
  }

  /** The request's id: the client's `x-request-id` when it is short and plain, else a new one. */
  get id(): string {
    this.#id ??= this.#clientId ?? idPrefix + (++idCount).toString(16).padStart(8, '0')
    return this.#id
  }

  get #clientId(): string | undefined {
    const value = this.headers.get('x-request-id')
    return value !== undefined && plainId.test(value) ? value : undefined
  }

  /** The parameters of a request of the Open Inference Protocol; none for others. */
  get parameters(): RequestParameters {
    return this.#parameters
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
    return this.deadlineMs === undefined ? Number.POSITIVE_INFINITY : Math.max(0, this.deadlineMs - Date.now())
  }

  #abort(reason: Error): void {
    if (this.#reason !== undefined) return
    this.#reason = reason
    this.#controller?.abort(reason)
    const listeners = this.#listeners
    if (listeners === undefined) return
    for (let listener = listeners.shift(); listener !== undefined; listener = listeners.shift()) listener(reason)
  }

  #onAbort(listener: (reason: Error) => void): () => void {
    // A list of one is made and emptied in half the time of a Set.
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

  #end(onError: (error: unknown) => void): void {
    if (this.#over) return
    this.#over = true
    const cleanups = this.#cleanups
    if (cleanups === undefined) return
    this.#cleanups = undefined
    for (let cleanup = cleanups.pop(); cleanup !== undefined; cleanup = cleanups.pop()) runCleanup(cleanup, onError)
  }

  static {
    lifecycle = {
      has: (value): value is Context => #over in value,
      abort: (ctx, reason = new ClientClosed()) => ctx.#abort(reason),
      abortReason: (ctx) => ctx.#reason,
      onAbort: (ctx, listener) => ctx.#onAbort(listener),
      end: (ctx, onError = ignore) => ctx.#end(onError),
      setParameters: (ctx, parameters) => {
        ctx.#parameters = parameters
      },
      clientId: (ctx) => ctx.#clientId,
    }
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

/** Status, headers and cookies that a function adds to its response; dropped when it fails. */
export class ResponseContext {
  #status: number | undefined
  #headers: Map<string, string> | undefined
  #cookies: string[] | undefined

  /** HTTP status; undefined leaves it to the descriptor (200). **Errors**: InvalidArgument outside 200 to 599. */
  get status(): number | undefined {
    return this.#status
  }

  set status(value: number | undefined) {
    if (value !== undefined && !(Number.isInteger(value) && value >= 200 && value <= 599)) {
      throw new InvalidArgument(expected('an HTTP status from 200 to 599', 'ctx.response.status', value))
    }
    this.#status = value
  }

  /**
   * Sets a header; a second value replaces the first, and a `content-type` replaces the descriptor's.
   * **Errors**: InvalidArgument for a name or value that cannot be sent as one line, and for the framing headers.
   */
  setHeader(name: string, value: string): void {
    const key = name.toLowerCase()
    if (!isHeaderName(key)) throw new InvalidArgument(expected('a token', 'header name', name))
    if (isFramingHeader(key)) throw new InvalidArgument(`header ${key} is set by the server itself`)
    if (key === 'set-cookie') throw new InvalidArgument('use ctx.response.setCookie for cookies')
    if (!isHeaderValue(value)) {
      throw new InvalidArgument(expected('a value without line breaks or control characters', `header ${key}`, value))
    }
    this.#headers ??= new Map()
    this.#headers.set(key, value)
  }

  /** Adds a cookie; several of one name are all sent. **Errors**: InvalidArgument for what RFC 6265 does not allow. */
  setCookie(name: string, value: string, options?: CookieOptions): void {
    try {
      const line = serialize(name, value, { path: '/', ...options })
      this.#cookies ??= []
      this.#cookies.push(line)
    } catch (cause) {
      throw new InvalidArgument(expected('a cookie name and attributes of RFC 6265', 'setCookie', name), { cause })
    }
  }

  /** Whether anything was set. */
  get touched(): boolean {
    return this.#status !== undefined || this.#headers !== undefined || this.#cookies !== undefined
  }

  /** A descriptor's header lines with the function's own on top. */
  merge(lines: readonly HeaderLine[]): readonly HeaderLine[] {
    const merged = lines.filter(([name]) => !this.#headers?.has(name))
    if (this.#headers !== undefined) merged.push(...this.#headers)
    for (const cookie of this.#cookies ?? []) merged.push(['set-cookie', cookie])
    return merged
  }
}
