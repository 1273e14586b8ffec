import type { MaybePromise } from '../core/promise.ts'
import type { IODescriptor } from '../descriptors/descriptor.ts'
import type { Context } from '../http/context.ts'
import type { EndpointSlots } from '../http/limits.ts'
import type { Access, Origins, Visit } from './visit.ts'

/** A stream of messages in both directions, which a protocol offers at a path, over WebSocket. */
export interface LiveRoute {
  /** For metrics and errors. */
  readonly name: string
  /** Markdown, for the documents and the page. */
  readonly doc?: string | undefined
  /** Without parameters. */
  readonly path: string
  readonly access: Access
  readonly origins: Origins
  /** Of each message of a client. */
  readonly input: IODescriptor
  /** Of each message to a client. */
  readonly output: IODescriptor
  /** Its own slots, beside those of all live streams. */
  readonly slots?: EndpointSlots | undefined
  /** Largest message of a client. **Units**: bytes. */
  readonly maxMessage: number
  /** What may wait for the function, and for the client. **Units**: bytes. */
  readonly maxBuffered: number
  /** At least 100, at most 900,000. */
  readonly idleTimeoutMs: number
  /**
   * Called once for each stream, which ends with what it returns. Never called without a place: memory and a slot.
   *
   * @returns what the client gets, each when it has room for it.
   */
  answer(messages: AsyncIterable<unknown>, visit: Visit): AsyncIterable<unknown>
}

/** A live stream that was opened over gRPC. */
export interface OpenedLive {
  /** One that the protocol has given to `host.live`: its bounds hold over gRPC, too. */
  readonly route: LiveRoute
  /** Whether the message that opens the stream is also its first one. */
  readonly hasInput: boolean
  /** `ctx`: of this message, until the function takes the next one. */
  decode(message: Uint8Array, ctx: Context): MaybePromise<unknown>
  /** `ctx`: of this message alone. */
  encode(result: unknown, ctx: Context): MaybePromise<Uint8Array>
}
