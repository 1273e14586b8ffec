/**
 * The interfaces between the listener, its HTTP engines and the exchanges of their requests.
 * @module
 */

import type { ConcurrencyLimiter } from '../api/concurrency-limiter.ts'
import type { Cors } from '../api/cors.ts'
import type { TrustedProxies } from '../http/client-address.ts'
import type { Chunk, HttpResponse } from '../http/message.ts'
import type { RequestObserver } from '../http/outcome.ts'
import type { OipServer } from '../oip/endpoints.ts'
import type { Health } from './health.ts'
import type { Logger } from './log.ts'
import type { MemoryBudget } from './memory-budget.ts'
import type { EngineName, Limits } from './options.ts'
import type { RunBefore } from './request-hooks.ts'
import type { Router } from './router.ts'
import type { TlsFiles } from './tls-files.ts'

/** What an engine serves: everything about a server but its sockets. */
export interface ServerState {
  readonly router: Router
  /** For the Open Inference Protocol. */
  readonly oip: OipServer
  readonly limits: Limits
  readonly limiter: ConcurrencyLimiter
  readonly memory: MemoryBudget
  readonly health: Health
  readonly log: Logger
  /** The observer of all requests; undefined without one. */
  readonly observer?: RequestObserver | undefined
  /** Runs the hooks of an endpoint before the body is read; undefined when there are none. */
  readonly before?: RunBefore | undefined
  /** Request headers that are read for every endpoint, beside its own. */
  readonly readsHeaders?: readonly string[] | 'all'
  /** Undefined where pages of other origins cannot read answers. */
  readonly cors?: Cors | undefined
  /** Undefined where no header of a proxy is believed. */
  readonly proxies?: TrustedProxies | undefined
  /** Whether the HTTP port speaks TLS. Default false. */
  readonly isTls?: boolean | undefined
}

/** Where an engine listens. */
export interface Address {
  /** Undefined for all addresses, IPv4 and IPv6. */
  readonly host: string | undefined
  /** 0 for a free one. */
  readonly port: number
  /** Undefined for plain text. */
  readonly tls?: TlsFiles | undefined
}

/** A listening HTTP engine. */
export interface Engine {
  readonly name: EngineName
  readonly port: number
  /** Accepts no new connections; open ones go on. */
  stopAccepting(): void
  /** Stops listening and closes every connection; requests that still run are aborted. */
  close(): Promise<void>
}

/**
 * The socket of one request, as an engine implements it. Writes are called only while the exchange is not over. The
 * methods that end the response call `finished` of the exchange when its last byte is written or given to the kernel.
 */
export interface ExchangeSocket {
  /** Whether the response must not be written from within the callback that delivers the body. */
  readonly answersLater: boolean
  /**
   * Whether the caller may reuse bytes once they were written; otherwise the socket may read them at any later time.
   */
  readonly copies: boolean
  /** Runs `writes` at once, so that they leave in one packet. */
  cork(writes: () => void): void
  /**
   * Sends a response with a content-length and ends it; no length or body for 204 and 304, no body for HEAD. `before`:
   * of {@link HttpResponse}, only for a socket that `sendsBefore`.
   */
  sendWhole(response: HttpResponse, body: Chunk, before?: string): void
  /** Whether text and bytes are sent without being joined. */
  readonly sendsBefore?: boolean
  /** Writes status and headers of a streamed response; `length` of its body, where that is known. */
  sendHead(response: HttpResponse, length?: number): void
  /** Writes a piece of a streamed response, never an empty one; false when the client should catch up first. */
  sendPiece(piece: Chunk): boolean
  /**
   * Writes the next bytes of a body of known length, and ends with its last ones. Keeps what the kernel does not take
   * at once: returns false then, and calls `drained` of the exchange when all is written.
   */
  sendSized(piece: Uint8Array, length: number): boolean
  /** Writes the end of a streamed response of unknown length. */
  sendEnd(): void
  /**
   * Returns how many bytes of responses were taken from this socket so far, as far as it knows; only differences count.
   */
  taken(): number
  /** Returns the address at the other end of the connection; undefined where it is not known any more. */
  remoteAddress(): string | undefined
  /** Pauses the request's body until `resume`. Pieces that were read already may still come. */
  pause(): void
  resume(): void
  /** Sends a response while the request's body is still coming, reads on for a while, then closes. */
  sendAndDrain(response: HttpResponse): void
  /** Closes the connection so that the client sees a broken response, not a complete one. */
  destroy(): void
  /** Called once when the exchange is over. */
  detach(): void
}
