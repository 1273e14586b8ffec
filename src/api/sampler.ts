/** What takes samples of calls, at the one way to a function. @module */
import type { ServingError } from '../core/errors.ts'
import type { Context } from '../http/context.ts'

/** Chooses which calls of an API are recorded. Neither it nor a sample ever throws. */
export interface Sampler {
  /**
   * @param protocol - Of what stands above the transport, such as `oip`.
   * @returns undefined for a call that is not recorded.
   */
  sample(ctx: Context, protocol?: string): Sample | undefined
}

/** Sees one call. Returns its argument; a stream in a wrapper that sees the messages as they pass. */
export interface Sample {
  /** Called before the function, which may change the value. */
  input(value: unknown): unknown
  /** Called before the encoding. */
  result(value: unknown): unknown
  answered<R>(answer: R): R
  failed(error: ServingError): void
  messages(name: 'input' | 'output', messages: AsyncIterable<unknown>): AsyncIterable<unknown>
}
