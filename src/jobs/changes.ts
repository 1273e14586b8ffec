import { deferred, within } from '../core/promise.ts'
import type { JobStore } from './job-store.ts'

/** The changes of one job, for whoever waits for the next one. */
export class Changes {
  isStopped = false
  readonly #end: () => void
  #hasChanged = false
  #wake: (() => void) | undefined

  constructor(store: JobStore, id: string, onStop?: () => void) {
    const end = store.watch(id, () => {
      this.#hasChanged = true
      this.#wake?.()
    })
    this.#end = () => {
      end()
      onStop?.()
    }
  }

  /** Resolves at the next change since the last call, at most after a time. Returns whether there was one. */
  async next(timeoutMs: number): Promise<boolean> {
    if (!this.#hasChanged && !this.isStopped && timeoutMs > 0) {
      const { promise, resolve } = deferred<void>()
      this.#wake = resolve
      await within(promise, Math.min(timeoutMs, 0x7fffffff), undefined)
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
    this.#wake?.()
  }
}
