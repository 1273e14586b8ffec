/**
 * What a function may know of its request and say about its response.
 * @module
 */
import { randomBytes } from 'node:crypto'
import { type SerializeOptions, serialize } from 'cookie'
import { ClientClosed, expected, InvalidArgument } from '../errors.ts'
import { isPromise } from '../promise.ts'
import { type HeaderLine, HeaderList, isHeaderName, isHeaderValue, type RequestHeaders } from './message.ts'

/** Attributes of a cookie. **Units**: `maxAge` in seconds. **Source**: RFC 6265. */
export type CookieOptions = SerializeOptions

/** What the transport tells about a request; every member is optional so that `call` also runs without one. */
export interface ContextInit {
  readonly headers?: RequestHeaders
  /** The raw query string without `?`. */
  readonly query?: string
  /** **Units**: milliseconds since the epoch. */
  readonly deadlineMs?: number
}

/** Work at the end of a request. */
export type Cleanup = () => void | Promise<void>

const noHeaders = new HeaderList([], [])
// Ids are unique, not secret: a random prefix for the process and a counter cost a tenth of randomUUID.
const idPrefix = randomBytes(8).toString('hex')
let idCount = 0
const plainId = /^[\w.:+/=-]{1,128}$/

/**
 * One request's context. Members are made when they are first read, so a function that does not look pays nothing.
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
  #listeners: ((reason: Error) => void)[] | undefined

  constructor(init: ContextInit = {}) {
    this.headers = init.headers ?? noHeaders
    this.deadlineMs = init.deadlineMs
    this.response = new ResponseContext()
    this.#query = init.query ?? ''
  }

  /** The request's id: the client's `x-request-id` when it is short and plain, else a new one. */
  get id(): string {
    this.#id ??= this.clientId ?? idPrefix + (++idCount).toString(16).padStart(8, '0')
    return this.#id
  }

  /** The client's own `x-request-id`, sent back on every answer; undefined when absent, long or odd. */
  get clientId(): string | undefined {
    const given = this.headers.get('x-request-id')
    return given !== undefined && plainId.test(given) ? given : undefined
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

  /** Why the request was given up, if it was. */
  get aborted(): Error | undefined {
    return this.#reason
  }

  /** Gives the request up. Called by transports and by the deadline; the first reason stays. */
  abort(reason: Error = new ClientClosed()): void {
    if (this.#reason !== undefined) return
    this.#reason = reason
    this.#controller?.abort(reason)
    const listeners = this.#listeners
    if (listeners === undefined) return
    for (let listener = listeners.shift(); listener !== undefined; listener = listeners.shift()) listener(reason)
  }

  /**
   * Calls once when the request is given up; the returned function calls it off. Not for one that is given up already.
   * **Cost**: 0.1 µs; `signal` with a listener takes 3.5.
   */
  onAbort(listener: (reason: Error) => void): () => void {
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
   * Adds work for the time when the response has been sent or the request given up, whichever way that comes about: to
   * close files, to free memory of native code. The last one added runs first, each exactly once; what is added too late
   * runs at once. A function may still run then: after its deadline, or when the client has gone.
   */
  onEnd(cleanup: Cleanup): void {
    if (this.#over) {
      runCleanup(cleanup, () => {})
      return
    }
    this.#cleanups ??= []
    this.#cleanups.push(cleanup)
  }

  /** Runs what `onEnd` was given. Called by transports; `onError` hears of clean-ups that fail. Idempotent. */
  end(onError: (error: unknown) => void = () => {}): void {
    if (this.#over) return
    this.#over = true
    const cleanups = this.#cleanups
    if (cleanups === undefined) return
    this.#cleanups = undefined
    for (let cleanup = cleanups.pop(); cleanup !== undefined; cleanup = cleanups.pop()) runCleanup(cleanup, onError)
  }
}

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
    if (framing.has(key)) throw new InvalidArgument(`header ${key} is set by the server itself`)
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

const framing = new Set(['content-length', 'transfer-encoding', 'connection', 'keep-alive', 'upgrade', 'trailer', 'te'])
