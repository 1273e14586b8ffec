import { within } from '../core/promise.ts'
import { Waiter } from '../core/waiter.ts'
import type { JobStore } from './job-store.ts'

/** The changes of one job, for whoever waits for the next one. */
export class Changes {
  isStopped = false
  readonly #end: () => void
  #hasChanged = false
  readonly #waiter = new Waiter()

  constructor(store: JobStore, id: string, onStop?: () => void) {
    const end = store.watch(id, () => {
      this.#hasChanged = true
      this.#waiter.wake()
    })
    this.#end = () => {
      end()
      onStop?.()
    }
  }

  /** Resolves at the next change since the last call, at most after a time. Returns whether there was one. */
  async next(timeoutMs: number): Promise<boolean> {
    if (!this.#hasChanged && !this.isStopped && timeoutMs > 0) {
      await within(this.#waiter.wait(), timeoutMs, undefined)
    }
    const hasChanged = this.#hasChanged
    this.#hasChanged = false
    return hasChanged
  }

  /** Called when nobody waits any more. */
  stop(): void {
    if (this.isStopped) return
    this.isStopped = true
    this.#end()
    this.#waiter.wake()
  }
}
