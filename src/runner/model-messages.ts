/** The messages between a Runner and its threads or processes. @module */
import type { PackedList } from './lists.ts'
import type { ErrorFields } from './remote-error.ts'
import type { Packed } from './transfer.ts'

/** Load the model and make the warm-up calls. */
export interface LoadMessage {
  readonly kind: 'load'
  readonly runner: string
  readonly module: string
  readonly init: Packed
  readonly index: number
  readonly device?: number | undefined
  readonly methods: readonly string[]
  readonly warmup: readonly (readonly [method: string, input: Packed])[]
}

interface CallMessage {
  readonly id: number
  readonly method: string
  readonly deadlineMs: number | undefined
  readonly traceparent: string | undefined
}

/** Make calls of a method, one after the other. */
export interface RunMessage extends CallMessage {
  readonly kind: 'run'
  readonly inputs: PackedList
}

/** Run a method that yields, and send what it yields over the channel. */
export interface StreamMessage extends CallMessage {
  readonly kind: 'stream'
  /** Without it, inputs come over the channel, one by one. */
  readonly input?: Packed
}

/**
 * Everything that a worker handles. `cancel`: all callers have given up the reply to that message. `release`: the model
 * is no longer needed; the reply is whether the worker can load another one.
 */
export type ModelMessage =
  | LoadMessage
  | RunMessage
  | StreamMessage
  | { readonly kind: 'release' }
  | { readonly kind: 'cancel'; readonly id: number }

/** Reply to a {@link LoadMessage}: why the model did not load. */
export interface LoadReply {
  readonly failure?: ErrorFields
}

/** Reply to a {@link RunMessage}. */
export interface RunReply {
  readonly results: PackedList
  readonly failed: readonly number[]
  /** Time of all calls. **Units**: milliseconds. */
  readonly ms: number
}

/** From the model: the next value, the end, or the error that ended it. */
export type StreamResult =
  | { readonly kind: 'item' | 'failure'; readonly item: Packed }
  | { readonly kind: 'end' }

/** From the model: a result, or the wish for an input. */
export type StreamUp = StreamResult | { readonly kind: 'next' }

/** To the model: room for so many more values, the request to stop, or an input. */
export type StreamDown =
  | { readonly kind: 'credit'; readonly count: number }
  | { readonly kind: 'cancel' }
  | InputDown

/** The input that the model has asked for, the end of all inputs, or the message of the error that ended them. */
export type InputDown =
  | { readonly kind: 'input'; readonly item: Packed }
  | { readonly kind: 'last' }
  | { readonly kind: 'broken'; readonly message: string }
