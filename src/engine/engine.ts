/** The interfaces between the listener, its HTTP engines and the exchanges of their requests. @module */

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
  readonly oip: OipServer
  readonly limits: Limits
  readonly limiter: ConcurrencyLimiter
  readonly memory: MemoryBudget
  readonly health: Health
  readonly log: Logger
  readonly observer?: RequestObserver | undefined
  /** Runs the hooks of an endpoint before the body is read; undefined when there are none. */
  readonly before?: RunBefore | undefined
  readonly readsHeaders?: readonly string[] | 'all'
  /** Undefined where pages of other origins cannot read answers. */
  readonly cors?: Cors | undefined
  /** Undefined where no header of a proxy is believed. */
  readonly proxies?: TrustedProxies | undefined
  readonly isTls?: boolean | undefined
}

/** Where an engine listens. */
export interface Address {
  readonly host: string | undefined
  readonly port: number
  readonly tls?: TlsFiles | undefined
}

/** A listening HTTP engine. */
export interface Engine {
  readonly name: EngineName
  readonly port: number
  stopAccepting(): void
  /** Stops listening and closes every connection; requests that still run are aborted. */
  close(): Promise<void>
}

/**
 * The socket of one request. Writes are called only while the exchange is not over. What ends the response calls
 * `finished` of the exchange when the kernel has its last byte.
 */
export interface ExchangeSocket {
  /** Whether the response must not be written from within the callback that delivers the body. */
  readonly answersLater: boolean
  /** Whether the caller may reuse bytes once they were written. */
  readonly copies: boolean
  cork(writes: () => void): void
  /**
   * Sends a response with a content-length and ends it. `before`: of {@link HttpResponse}, only if it `sendsBefore`.
   */
  sendWhole(response: HttpResponse, body: Chunk, before?: string): void
  /** Whether text and bytes are sent without being joined. */
  readonly sendsBefore?: boolean
  sendHead(response: HttpResponse, length?: number): void
  /** Writes a piece of a streamed response, never an empty one; false when the client should catch up first. */
  sendPiece(piece: Chunk): boolean
  /**
   * Writes the next bytes of a body of known length, and ends with its last ones. If it returns false, it calls
   * `drained` of the exchange when all is written.
   */
  sendSized(piece: Uint8Array, length: number): boolean
  sendEnd(): void
  /** Returns how many bytes of responses were taken so far; only differences count. */
  taken(): number
  remoteAddress(): string | undefined
  /** Pauses the request's body until `resume`. Pieces that were read already may still come. */
  pause(): void
  resume(): void
  /** Sends a response while the request's body is still coming, reads on for a while, then closes. */
  sendAndDrain(response: HttpResponse): void
  destroy(): void
  detach(): void
}
