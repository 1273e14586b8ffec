/**
 * What a Runner and its threads or processes say to each other.
 * @module
 */
import type { PackedList } from './lists.ts'
import type { ErrorFields } from './remote-error.ts'
import type { Packed } from './transfer.ts'

/** Load the model, and make its first calls. */
export interface LoadMessage {
  readonly kind: 'load'
  /** Name of the runner, for messages. */
  readonly runner: string
  /** File URL of the module. */
  readonly module: string
  readonly init: Packed
  /** Methods that the model must have. */
  readonly methods: readonly string[]
  /** Inputs by method, each for one call. */
  readonly warmup: readonly (readonly [method: string, input: Packed])[]
}

/** Make calls of a method, one after the other. */
export interface RunMessage {
  readonly kind: 'run'
  readonly id: number
  readonly method: string
  readonly inputs: PackedList
  /** When the last of the callers gives up. **Units**: milliseconds since the epoch. */
  readonly deadlineMs: number | undefined
}

/** Run a method that yields, and send what it yields over the channel. */
export interface StreamMessage {
  readonly kind: 'stream'
  readonly id: number
  readonly method: string
  /** A list of one. */
  readonly inputs: Packed
  readonly deadlineMs: number | undefined
}

/** Nobody wants the answer to that message any more. */
export interface CancelMessage {
  readonly kind: 'cancel'
  readonly id: number
}

/** Everything that a place handles. */
export type ModelMessage = LoadMessage | RunMessage | StreamMessage | CancelMessage

/** The model is there, or why it is not. */
export interface LoadReply {
  readonly failure?: ErrorFields
}

/** What came of calls. */
export interface RunReply {
  /** Errors in the place of those that failed. */
  readonly results: PackedList
  /** Which results are errors that were thrown. */
  readonly failed: readonly number[]
  /** Time that all calls took. **Units**: milliseconds. */
  readonly ms: number
}

/** From the model: the next values, or the end. */
export type StreamUp =
  | { readonly kind: 'item'; readonly item: Packed }
  | { readonly kind: 'end' }
  | { readonly kind: 'failure'; readonly error: ErrorFields }

/** To the model: room for so many more values, or the wish to stop. */
export type StreamDown = { readonly kind: 'credit'; readonly count: number } | { readonly kind: 'cancel' }
