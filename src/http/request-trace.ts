/** The spans of one request, as those who work on it see them. @module */
import type { ServingError } from '../core/errors.ts'

/** A stage of a request that has a span of its own. */
export type StageName = 'decode' | 'function' | 'encode'

/** The spans of one call of a Runner that is traced. */
export interface CallTrace {
  dispatched(): void
  /** Called once, when the call is answered or given up. */
  settled(error: Error | undefined): void
  /** Begins the job of a thread, of this call and others; those that are not traced are undefined. */
  job(name: string, calls: readonly (CallTrace | undefined)[], rows: number | undefined): JobTrace
}

/** The spans of what one message asks a thread for. */
export interface JobTrace {
  readonly traceparent: string | undefined
  settled(error: Error | undefined): void
}

/** Sees one call that is recorded. Never throws. */
export interface Sample {
  /** Called before the function, which may change the value. */
  input(value: unknown): void
  /** Called before the encoding. Returns the value; a stream in a wrapper that sees the messages as they pass. */
  result(value: unknown): unknown
  /** Returns the answer. */
  answered<R>(answer: R): R
  failed(error: ServingError): void
  /** Returns a wrapper that sees the messages as they pass. */
  messages(name: 'input' | 'output', messages: AsyncIterable<unknown>): AsyncIterable<unknown>
}

/** Makes the spans of one request. Its methods never throw. */
export interface RequestTrace {
  readonly traceId: string | undefined
  /** Set for a call that is recorded. */
  readonly sample?: Sample
  /** Runs a stage, in a span if the request is recorded. Returns what `work` returns or throws. */
  stage<T>(name: StageName, work: () => T): T
  /** Begins a call of a Runner; undefined if nothing is recorded. */
  call(runner: string, method: string): CallTrace | undefined
  /** Told of the bytes that a picture was decoded from, or encoded to, which change afterwards. */
  source?(picture: object, bytes: Uint8Array, type: string): void
  /** @returns the headers that continue the trace in another service. */
  headers(): Record<string, string>
}
