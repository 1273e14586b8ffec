import type { Context } from './context.ts'

/** The protocol of a request. */
export type ProtocolName = 'http' | 'connect' | 'grpc'

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
  readonly readsHeaders?: readonly string[] | 'all'
  /** Called first, also for a request that is refused. */
  onBegin?(ctx: Context): void
  /** Called before an error is answered, and for one that breaks a stream off; not for a client that leaves. */
  onError?(ctx: Context, error: Error): void
  /** Called exactly once for each request, at its end. */
  onOutcome?(ctx: Context, outcome: Outcome): void
}
