// The global of this name is a slow getter.
import { Buffer } from 'node:buffer'
import { ClientClosed, ServingError } from '../core/errors.ts'
import type { Context, ProtocolName } from './context.ts'
import type { Chunk, HeaderNames } from './message.ts'

export type { ProtocolName }

/** Times from the request's headers on; stages only if an observer `needsStages`. **Units**: milliseconds. */
export interface OutcomeDurations {
  /** Until the body was complete. */
  readonly bodyMs: number | undefined
  /** Until the status was sent. */
  readonly statusMs: number | undefined
  /** Until the last byte went to the kernel, or the request was given up. */
  readonly totalMs: number
}

/** How one request ended. */
export interface Outcome {
  /** HTTP status, for gRPC of its code in `errorTable`. 499: the client left before it; 500: the connection was cut. */
  readonly status: number
  /** Code of the error, such as `bad_input`. */
  readonly code: string | undefined
  /** The error that was answered, that broke a stream off, or ClientClosed. */
  readonly error: Error | undefined
  readonly protocol: ProtocolName
  /** An API, `/readyz`, `serving.v1.ServingService/Call`; undefined for an unknown path. */
  readonly endpoint: string | undefined
  /** The endpoint's path pattern: `/items/{id}`; undefined for gRPC and unknown paths. */
  readonly route: string | undefined
  /** As sent. **Units**: bytes. */
  readonly bytesIn: number
  /** For gRPC of the messages. **Units**: bytes. */
  readonly bytesOut: number
  readonly durations: OutcomeDurations
}

/** Observes all requests of a server. Its methods never throw. */
export interface RequestObserver {
  /** Keeps `ctx.remoteAddress` until `onOutcome`; some engines forget it earlier. */
  readonly needsAddress?: boolean
  readonly needsStages?: boolean
  /** In lower case. */
  readonly readsHeaders?: HeaderNames
  /** Called first, also for a request that is refused. */
  onBegin?(ctx: Context): void
  /** Called before an error is answered, and for one that breaks a stream off; not for a client that leaves. */
  onError?(ctx: Context, error: Error): void
  /** Called exactly once for each request, at its end. */
  onOutcome?(ctx: Context, outcome: Outcome): void
}

/** The part of an endpoint that outcomes have. */
export interface RecordedEndpoint {
  readonly name: string
  readonly protocol?: ProtocolName
  readonly path?: string
}

/** Made only if there is an observer. */
export class OutcomeRecorder {
  readonly #observer: RequestObserver
  readonly #ctx: Context
  readonly #endpoint: RecordedEndpoint | undefined
  #bodyMs: number | undefined
  #statusMs: number | undefined
  #status: number | undefined
  #error: Error | undefined
  #bytesOut = 0
  #isOver = false

  constructor(observer: RequestObserver, ctx: Context, endpoint: RecordedEndpoint | undefined) {
    this.#observer = observer
    this.#ctx = ctx
    this.#endpoint = endpoint
    // An engine may forget it with the request.
    if (observer.needsAddress) void ctx.remoteAddress
    observer.onBegin?.(ctx)
  }

  bodyComplete(): void {
    if (this.#observer.needsStages) this.#bodyMs = this.#ctx.elapsedMs
  }

  answered(status: number): void {
    this.#status = status
    if (this.#observer.needsStages) this.#statusMs = this.#ctx.elapsedMs
  }

  /** Called before the error is answered; the last one counts. */
  failed(error: Error): void {
    this.#error = error
    this.#observer.onError?.(this.#ctx, error)
  }

  left(): void {
    this.#error ??= new ClientClosed()
  }

  sent(piece: Chunk): void {
    this.#bytesOut += typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length
  }

  /** Only the first call counts. */
  end(bytesIn: number): void {
    if (this.#isOver) return
    this.#isOver = true
    const error = this.#error
    const outcome: Outcome = {
      status: this.#status ?? (error instanceof ClientClosed ? error.status : 500),
      code: error === undefined ? undefined : codeOf(error),
      error,
      protocol: this.#endpoint?.protocol ?? 'http',
      endpoint: this.#endpoint?.name,
      route: this.#endpoint?.path,
      bytesIn,
      bytesOut: this.#bytesOut,
      durations: { bodyMs: this.#bodyMs, statusMs: this.#statusMs, totalMs: this.#ctx.elapsedMs },
    }
    this.#observer.onOutcome?.(this.#ctx, outcome)
  }
}

function codeOf(error: Error): string {
  return ServingError.is(error) ? error.code : 'internal'
}
