import type { BadInputReason } from '../core/errors.ts'
import type { MaybePromise } from '../core/promise.ts'
import type { IODescriptor } from '../descriptors/descriptor.ts'

/** A value with what it looks like on the wire. */
export interface Sample<In, Out> {
  readonly value: Out
  /** What the function receives for it; left out: the same as `value`. */
  readonly received?: In
  /** What the function receives for it over RPC, where a message says more than a body. */
  readonly receivedOverRpc?: In
  /** A request that means the value; left out: what the descriptor itself writes. */
  readonly request?: {
    readonly headers?: Readonly<Record<string, string>>
    readonly body: string | Uint8Array
  }
}

/** A request that must be refused. */
export interface Refusal {
  readonly title: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
  readonly status?: number
  readonly reason?: BadInputReason
}

/** A descriptor with samples of its values. */
export interface DescriptorSpec<In, Out = In> {
  readonly create: () => IODescriptor<In, Out>
  readonly samples: readonly Sample<In, Out>[]
  readonly refusals?: readonly Refusal[]
  /** The class's `fromSample`; what it makes must accept its own sample. */
  readonly fromSample?: (value: Out) => MaybePromise<IODescriptor<In, Out>>
  /** @default node's deep strict equality */
  readonly equal?: (a: In, b: In) => boolean
}

/** The part of a test framework that the laws use. */
export interface TestRunner {
  describe(name: string, body: () => void): unknown
  it(name: string, body: () => Promise<void>): unknown
}
