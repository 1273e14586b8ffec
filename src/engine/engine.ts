/** The interfaces between the listener, its HTTP engines and the exchanges of their requests. @module */

import type { ConcurrencyLimiter } from '../api/concurrency-limiter.ts'
import type { Cors } from '../api/cors.ts'
import type { RpcMethod } from '../api/protocol.ts'
import type { MemoryBudget } from '../core/memory/memory-budget.ts'
import type { MaybePromise } from '../core/promise.ts'
import type { TrustedProxies } from '../http/client-address.ts'
import type { Chunk, HeaderNames, HttpResponse } from '../http/message.ts'
import type { RequestObserver } from '../http/outcome.ts'
import type { LiveStreams } from '../live/live-streams.ts'
import type { MetricFamily } from '../telemetry/metrics/metric-family.ts'
import type { Health } from './health.ts'
import type { Logger } from './log.ts'
import type { EngineName, Limits } from './options.ts'
import type { Router } from './router.ts'
import type { RunBefore } from './service-hooks.ts'
import type { TlsFiles } from './tls-files.ts'

/** Everything about a server but its sockets. */
export interface ServerState {
  readonly router: Router
  /** What protocols tell in the metrics. */
  readonly collectors: readonly (() => MaybePromise<readonly MetricFamily[]>)[]
  /** Methods of gRPC. */
  readonly methods: readonly RpcMethod[]
  readonly limits: Limits
  readonly limiter: ConcurrencyLimiter
  readonly memory: MemoryBudget
  readonly health: Health
  readonly log: Logger
  readonly observer?: RequestObserver | undefined
  readonly before?: RunBefore | undefined
  readonly readsHeaders?: HeaderNames
  readonly cors?: Cors | undefined
  readonly lives: LiveStreams
  /** Undefined: headers of proxies are ignored. */
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
  close(): Promise<void>
}

/** The socket of one request. It calls `finished` of the exchange when the kernel has the response's last byte. */
export interface ExchangeSocket {
  /** Whether the callback that delivers the body must not write the response. */
  readonly answersLater: boolean
  readonly copies: boolean
  cork(writes: () => void): void
  /** `before`: of {@link HttpResponse}, only if the socket `sendsBefore`. */
  sendWhole(response: HttpResponse, body: Chunk, before?: string): void
  /** Whether text and bytes are sent without being joined. */
  readonly sendsBefore?: boolean
  sendHead(response: HttpResponse, length?: number): void
  /** The piece is not empty; returns false if the client should catch up first. */
  sendPiece(piece: Chunk): boolean
  /** Writes a piece of a body of known length, which ends with the last one. After false, it calls `drained`. */
  sendSized(piece: Uint8Array, length: number, isLast: boolean): boolean
  sendEnd(): void
  /** Bytes of responses taken so far; only differences count. */
  taken(): number
  remoteAddress(): string | undefined
  /** Pieces that were read already may still come. */
  pause(): void
  resume(): void
  /** Sends a response while the request's body is still coming, reads on for a while, then closes. */
  sendAndDrain(response: HttpResponse): void
  destroy(): void
  /** Called when the exchange is over. */
  detach?(): void
}
