import type { ApiMethod } from '../api/api.ts'
import { acceptedTypes } from './decode.ts'
import type { EncodedBody } from './encode.ts'
import { errorOf, ServingError } from './serving-error.ts'
import type { WebSocketClass } from './web-socket.ts'

/** A secret, or what returns one for each request. */
export type Secret = string | (() => string | Promise<string>)

/** Options of a call. */
export interface CallOptions {
  readonly signal?: AbortSignal
  /**
   * Time for the whole call, retries included; of a stream, until it starts. **Units**:
   * milliseconds.
   *
   * @default that of the client, else no limit
   */
  readonly timeoutMs?: number
  /**
   * How often to try again safely: requests that the server refused before its function ran (429,
   * 503 with `retry-after`), and connections that were refused.
   *
   * @default that of the client, else 2
   */
  readonly retries?: number
  /** Whether calling twice does no harm, so that broken connections, 502, 503 and 504 are tried again, too. */
  readonly isIdempotent?: boolean
  readonly headers?: Readonly<Record<string, string>>
}

/** Options of a client. */
export interface ClientOptions extends Omit<CallOptions, 'signal'> {
  /** Sent as `x-api-key`. */
  readonly apiKey?: Secret
  /** Sent as `authorization: Bearer`. */
  readonly token?: Secret
  readonly fetch?: typeof fetch
  /**
   * For live streams.
   *
   * @default that of the platform, which browsers and Node from 22 on have
   */
  readonly WebSocket?: WebSocketClass
}

/** @returns the options of a call: those of the client, and its own. */
export function joined<O extends CallOptions>(
  options: ClientOptions,
  given?: O,
): ClientOptions & O {
  return { ...options, ...given, headers: { ...options.headers, ...given?.headers } } as O
}

/** The end of a call: its signal, its timer, and what listens to the signal of the caller. */
export interface Limit {
  readonly signal: AbortSignal
  remainingMs(): number
  /** Ends the time of a stream, which has started; the signal of the caller still counts. */
  started(): void
  release(): void
}

/** Starts the clock of a call. */
export function limitOf({ signal, timeoutMs = Number.POSITIVE_INFINITY }: CallOptions): Limit {
  const own = new AbortController()
  const end = Date.now() + timeoutMs
  const late = () =>
    own.abort(new ServingError(`no answer within ${timeoutMs} ms`, { code: 'deadline_exceeded' }))
  // A longer delay than 2^31-1 would overflow setTimeout and fire at once.
  const timer = timeoutMs < 2 ** 31 ? setTimeout(late, timeoutMs) : undefined
  const give = () => own.abort(signal?.reason)
  if (signal?.aborted) give()
  else signal?.addEventListener('abort', give, { once: true })
  return {
    signal: own.signal,
    remainingMs: () => end - Date.now(),
    started: () => clearTimeout(timer),
    release() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', give)
    },
  }
}

/**
 * Sends a request until it is answered with success.
 *
 * @throws ServingError; the reason of the signal.
 */
export async function send(
  url: string,
  encoded: EncodedBody | undefined,
  options: ClientOptions & CallOptions,
  limit: Limit,
  method: ApiMethod = encoded === undefined ? 'GET' : 'POST',
): Promise<Response> {
  // POST and PATCH alone may differ when called twice (RFC 9110 section 9.2.2).
  const {
    retries = 2,
    isIdempotent = method !== 'POST' && method !== 'PATCH',
    fetch: own = fetch,
  } = options
  const headers = await headersOf(encoded, options)
  for (let attempt = 0; ; attempt++) {
    let failure: ServingError
    let mayRetry: boolean
    try {
      const { signal } = limit
      // `duplex` is what Node asks for with a stream, and TypeScript does not know.
      const init = { method, headers, body: encoded?.body, signal, duplex: 'half' }
      const response = await own(url, init as RequestInit)
      if (response.ok) return response
      failure = await errorOf(response)
      const { status, retryAfterMs } = failure
      mayRetry =
        (retryAfterMs !== undefined && (status === 429 || status === 503)) ||
        (isIdempotent && status > 501)
    } catch (cause) {
      limit.signal.throwIfAborted()
      failure = networkError(cause)
      mayRetry = isIdempotent || wasRefused(cause)
    }
    // Doubling, with chance, so that clients that were refused together do not come back together.
    const wait = failure.retryAfterMs ?? 100 * 2 ** attempt * (1 + Math.random())
    if (encoded?.body instanceof ReadableStream) throw failure
    if (!mayRetry || attempt >= retries || wait >= limit.remainingMs()) throw failure
    await unlessAborted(new Promise((resolve) => setTimeout(resolve, wait)), limit.signal)
  }
}

/** @returns the error for a connection that failed. */
export function networkError(cause: unknown): ServingError {
  if (cause instanceof ServingError) return cause
  const inner = (cause as Error)?.cause ?? cause
  const why = inner instanceof Error && inner.message !== '' ? inner.message : String(cause)
  return new ServingError(`no answer from the server: ${why}`, { code: 'network', cause })
}

/** Whether Node says that no connection was made, so that the server has nothing of the request. */
function wasRefused(error: unknown): boolean {
  const code = ((error as Error)?.cause as { code?: unknown } | undefined)?.code
  return ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'].includes(
    String(code),
  )
}

/** @returns the headers of a request. */
export async function headersOf(
  encoded: EncodedBody | undefined,
  options: ClientOptions,
): Promise<Headers> {
  const headers = new Headers({ accept: acceptedTypes, ...options.headers })
  const secret = (given: Secret) => (typeof given === 'function' ? given() : given)
  if (options.apiKey !== undefined) headers.set('x-api-key', await secret(options.apiKey))
  if (options.token !== undefined)
    headers.set('authorization', `Bearer ${await secret(options.token)}`)
  if (encoded?.type !== undefined) headers.set('content-type', encoded.type)
  if (encoded?.name !== undefined) {
    headers.set(
      'content-disposition',
      `attachment; filename*=UTF-8''${encodeURIComponent(encoded.name)}`,
    )
  }
  return headers
}

/** Resolves as `pending` does, or is rejected with the signal's reason. */
export function unlessAborted<T>(pending: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const give = () => reject(signal.reason)
    if (signal.aborted) return give()
    signal.addEventListener('abort', give, { once: true })
    const done = () => signal.removeEventListener('abort', give)
    pending.then(resolve, reject).finally(done)
  })
}
