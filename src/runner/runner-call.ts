/**
 * One call of a runner, from the queue to its answer.
 * @module
 */
import { ClientClosed, DeadlineExceeded, ServingError } from '../errors.ts'
import { lifecycle } from '../http/context.ts'
import type { Waiting } from './batch.ts'
import type { Clock } from './clock.ts'
import type { CallOptions } from './runner-options.ts'

/** Calls once with the reason when whoever asks gives up, at once when that has happened; the returned function calls it off. */
export function whenAborted(options: CallOptions, listener: (reason: unknown) => void): (() => void) | undefined {
  // Spares a context its AbortSignal.
  if (lifecycle.has(options)) {
    const reason = lifecycle.abortReason(options)
    if (reason === undefined) return lifecycle.onAbort(options, listener)
    listener(reason)
    return undefined
  }
  const { signal } = options
  if (signal === undefined) return undefined
  if (signal.aborted) {
    listener(signal.reason)
    return undefined
  }
  const leave = () => listener(signal.reason)
  signal.addEventListener('abort', leave, { once: true })
  return () => signal.removeEventListener('abort', leave)
}

/** Who has a call: its queue, then the work that it is part of. */
export interface CallOwner {
  /** Nobody wants the answer any more. */
  left(call: RunnerCall): void
}

/** A call that waits, runs or is over. */
export class RunnerCall implements Waiting {
  readonly rows: number
  /** Changed for a call that shall be made alone. */
  key: string
  readonly value: unknown
  readonly deadlineMs: number | undefined
  /** Whether it has its answer, or nobody wants one. */
  over = false
  // An object instead of a function for each call: functions made in the async method that sends the work kept it and the calls after
  // it alive until the next full collection, and scavenges took five times as long. test/runner/memory.test.ts
  owner: CallOwner | undefined
  readonly promise: Promise<unknown>
  #resolve!: (value: unknown) => void
  #reject!: (reason: Error) => void
  #detach: (() => void) | undefined

  constructor(value: unknown, rows: number, key: string, deadlineMs: number | undefined) {
    this.value = value
    this.rows = rows
    this.key = key
    this.deadlineMs = deadlineMs
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  /** Follows the request that asks: gives the call up with it. */
  follow(options: CallOptions, clock: Clock): void {
    const detach = whenAborted(options, (reason) => this.giveUp(abortReason(reason)))
    // The deadline of a context is kept by whoever made it.
    const isKept = lifecycle.has(options) || options.deadlineMs === undefined
    const late = () => this.giveUp(deadlinePassed())
    const off = isKept ? undefined : clock.after((options.deadlineMs as number) - clock.date(), late)
    if (this.over) {
      detach?.()
      off?.()
    } else if (off === undefined) {
      this.#detach = detach
    } else {
      this.#detach = () => {
        detach?.()
        off()
      }
    }
  }

  /** Whether the deadline has passed. */
  isLate(clock: Clock): boolean {
    return this.deadlineMs !== undefined && this.deadlineMs <= clock.date()
  }

  resolve(value: unknown): void {
    if (this.#end()) this.#resolve(value)
  }

  reject(reason: Error): void {
    if (this.#end()) this.#reject(reason)
  }

  /** As `reject`, for a call whose answer nobody wants. */
  giveUp(reason: Error): void {
    const { owner } = this
    if (!this.#end()) return
    this.#reject(reason)
    owner?.left(this)
  }

  #end(): boolean {
    if (this.over) return false
    this.over = true
    this.owner = undefined
    this.#detach?.()
    return true
  }
}

/** The error of a call whose deadline passed while it waited. */
export function deadlinePassed(): DeadlineExceeded {
  return new DeadlineExceeded('expected the runner to answer before the request deadline, it did not')
}

/** Why a signal was aborted, as one of our errors. */
export function abortReason(reason: unknown): ServingError {
  if (ServingError.is(reason)) return reason
  if (reason instanceof Error && reason.name === 'TimeoutError') return deadlinePassed()
  return new ClientClosed('the caller gave the call up', { cause: reason })
}
