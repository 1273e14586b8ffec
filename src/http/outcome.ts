/** How requests end, and the observers of it. @module */
import type { Context } from './context.ts'

/** The protocol of a request. */
export type ProtocolName = 'http' | 'connect' | 'grpc'

/**
 * How long a request took, each from its headers on. The times of its stages are there where an observer
 * `needsStages`. **Units**: milliseconds.
 */
export interface OutcomeDurations {
  /** Until the body was complete; undefined when it never was. */
  readonly bodyMs: number | undefined
  /** Until the status was sent; undefined when none was. */
  readonly statusMs: number | undefined
  /** Until the last byte of the response was handed to the kernel, or the request was given up. */
  readonly totalMs: number
}

/** How one request ended. */
export interface Outcome {
  /**
   * HTTP status that was sent; of gRPC, the one that stands beside its code in `errorTable`. 499 when the client left
   * before it, 500 when the connection was cut before it.
   */
  readonly status: number
  /** Code of {@link Outcome.error}, such as `bad_input`; undefined without one. */
  readonly code: string | undefined
  /** The error that was answered, that broke a stream off, or ClientClosed. */
  readonly error: Error | undefined
  readonly protocol: ProtocolName
  /** Name of what the path belongs to: an API, `/readyz`, `serving.v1.ServingService/Call`; undefined for no path. */
  readonly endpoint: string | undefined
  /** Path of the endpoint, with the names of parameters: `/items/{id}`; undefined for no path, and for gRPC. */
  readonly route: string | undefined
  /** Of the request's body, as it was sent. **Units**: bytes. */
  readonly bytesIn: number
  /** Of the response's body; for gRPC of its messages. **Units**: bytes. */
  readonly bytesOut: number
  readonly durations: OutcomeDurations
}

/** Observes all requests of a server. Without observers nothing is recorded. Its methods never throw. */
export interface RequestObserver {
  /** Whether `ctx.remoteAddress` must be there in `onOutcome`; some engines forget it with the request. */
  readonly needsAddress?: boolean
  /** Whether `durations` must have the times of the stages. */
  readonly needsStages?: boolean
  /** Request headers that it reads from the context, in lower case. */
  readonly readsHeaders?: readonly string[] | 'all'
  /** Called when the headers of a request have come, before anything else; also for one that is refused. */
  onBegin?(ctx: Context): void
  /** Called before an error is answered, and for what breaks a stream off; not for a client that leaves. */
  onError?(ctx: Context, error: Error): void
  /** Called exactly once for each request, when it is over. */
  onOutcome?(ctx: Context, outcome: Outcome): void
}
