/** What takes samples of calls, at the one way to a function. @module */
import type { Context } from '../http/context.ts'
import type { Sample } from '../http/request-trace.ts'

export type { Sample } from '../http/request-trace.ts'

/** Chooses which calls of an API are recorded. Neither it nor a sample ever throws. */
export interface Sampler {
  /**
   * @param protocol - Of what stands above the transport, such as `oip`.
   * @returns undefined for a call that is not recorded.
   */
  sample(ctx: Context, protocol?: string): Sample | undefined
}
