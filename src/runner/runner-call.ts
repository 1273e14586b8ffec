/** One call of a runner, from the queue to its answer. @module */
import {
  BadInput,
  ClientClosed,
  DeadlineExceeded,
  InvalidArgument,
  ServingError,
} from '../core/errors.ts'
import { deferred } from '../core/promise.ts'
import { Context } from '../http/context.ts'
import type { CallTrace } from '../http/request-trace.ts'
import { NDArray } from '../values/array/ndarray.ts'
import { hasOwnShape } from '../values/array/own-shape.ts'
import type { Waiting } from './call-queue.ts'
import type { Clock } from './clock.ts'
import type { CallInput } from './rows.ts'
import type { CallOptions } from './runner-options.ts'
import { Share } from './shares.ts'

/** Calls `listener` once if the caller gives up. Returns a function that unsubscribes, if there is a subscription. */
export function whenAborted(
  options: CallOptions,
  listener: (reason: unknown) => void,
): (() => void) | undefined {
  if (options instanceof Context) {
    const reason = options.abortReason
    if (reason === undefined) return options.onAbort(listener)
    listener(reason)
    return undefined
  }
  const { signal } = options
  if (signal === undefined) return undefined
  if (signal.aborted) {
    listener(signal.reason)
    return undefined
  }
  const onAborted = () => listener(signal.reason)
  signal.addEventListener('abort', onAborted, { once: true })
  return () => signal.removeEventListener('abort', onAborted)
}

/** What holds a call: its queue, then its job. */
export interface CallOwner {
  abandoned(call: RunnerCall): void
}

const nobody = new Share()

/** A call of a method: waiting, running or over. */
export class RunnerCall implements Waiting {
  readonly rows: number
  readonly size: number
  key: string
  readonly value: unknown
  readonly deadlineMs: number | undefined
  readonly weight: number
  dueAt = Number.POSITIVE_INFINITY
  queuedAt = 0
  expectedMs = 0
  share = nobody
  trace: CallTrace | undefined
  over = false
  // One object for all calls, not a closure for each, which would keep the calls alive: test/runner/memory.test.ts
  owner: CallOwner | undefined
  readonly #answer = deferred<unknown>()
  #unsubscribe: (() => void) | undefined

  constructor({ value, rows, size, key }: CallInput, options: CallOptions) {
    this.value = value
    this.rows = rows
    this.size = size
    this.key = key
    this.deadlineMs = options.deadlineMs
    this.weight = options.share ?? 1
  }

  get promise(): Promise<unknown> {
    return this.#answer.promise
  }

  follow(options: CallOptions, clock: Clock): void {
    const unsubscribe = whenAborted(options, (reason) => this.giveUp(abortReason(reason)))
    const { deadlineMs } = options
    if (deadlineMs === undefined || options instanceof Context) {
      this.#unsubscribe = unsubscribe
    } else {
      const disarm = clock.after(deadlineMs - clock.date(), () => this.giveUp(deadlinePassed()))
      this.#unsubscribe = () => {
        unsubscribe?.()
        disarm()
      }
    }
    if (this.over) this.#unsubscribe?.()
  }

  resolve(value: unknown): void {
    if (this.#end(undefined)) this.#answer.resolve(value)
  }

  reject(reason: Error): void {
    const error = blamed(reason, this.value)
    if (this.#end(error)) this.#answer.reject(error)
  }

  /** Called if the caller gives the call up: rejects it, and notifies its owner. */
  giveUp(reason: Error): void {
    const { owner } = this
    if (!this.#end(reason)) return
    this.#answer.reject(reason)
    owner?.abandoned(this)
  }

  #end(error: Error | undefined): boolean {
    if (this.over) return false
    this.over = true
    this.owner = undefined
    this.#unsubscribe?.()
    this.trace?.settled(error)
    return true
  }
}

/** The error of a call whose deadline passed in the queue. */
export function deadlinePassed(): DeadlineExceeded {
  return new DeadlineExceeded(
    'expected the runner to answer before the request deadline, it did not',
  )
}

/** Converts the reason of an abort into one of our errors. */
export function abortReason(reason: unknown): ServingError {
  if (ServingError.is(reason)) return reason
  if (reason instanceof Error && reason.name === 'TimeoutError') return deadlinePassed()
  return new ClientClosed('the caller gave the call up', { cause: reason })
}

/** A wrong shape or dtype of an array is no fault of the client if the service chose them. */
function blamed(error: Error, value: unknown): Error {
  if (!(error instanceof BadInput) || (error.reason !== 'shape' && error.reason !== 'dtype'))
    return error
  const named = (value as Readonly<Record<string, unknown>> | null | undefined)?.[error.path ?? '']
  const array = value instanceof NDArray ? value : named
  if (!(array instanceof NDArray && hasOwnShape(array))) return error
  return new InvalidArgument(
    `${error.message}, which the service chose: see the option tensor of io.Image`,
    {
      cause: error,
    },
  )
}
