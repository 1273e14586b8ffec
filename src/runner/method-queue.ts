/** The queue of one method of a runner. @module */
import { BatchQueue } from './batch.ts'
import { type CallQueue, PlainQueue } from './call-queue.ts'
import type { CallOwner, RunnerCall } from './runner-call.ts'
import type { MethodSettings } from './runner-options.ts'

/** The waiting calls of a method, in batches or one by one, and the number of its jobs. */
export class MethodQueue implements CallOwner {
  readonly method: MethodSettings
  readonly calls: CallQueue<RunnerCall>
  readonly #onAbandoned: () => void
  running = 0

  constructor(method: MethodSettings, concurrency: number, onAbandoned: () => void) {
    this.method = method
    const isAlone = method.stream || method.terminates || concurrency > 1
    this.calls = method.batchable ? new BatchQueue(method) : new PlainQueue(isAlone ? 1 : undefined)
    this.#onAbandoned = onAbandoned
  }

  abandoned(call: RunnerCall): void {
    if (this.calls.remove(call)) this.#onAbandoned()
  }
}
