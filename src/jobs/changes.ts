/** Who waits for changes of jobs, and whom a store tells. @module */
import { within } from '../core/promise.ts'
import { Waiter } from '../core/waiter.ts'
import type { JobStore } from './job-store.ts'

/** The changes of one job, for whoever waits for the next one. */
export class Changes {
  isStopped = false
  readonly #others: Set<Changes> | undefined
  readonly #leave: () => void
  #hasChanged = false
  readonly #waiter = new Waiter()

  /** `others`: has these changes, too, until they are stopped. */
  constructor(store: JobStore, id: string, others?: Set<Changes>) {
    this.#others = others?.add(this)
    this.#leave = store.watch(id, () => {
      this.#hasChanged = true
      this.#waiter.wake()
    })
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
    this.#others?.delete(this)
    this.#leave()
    this.#waiter.wake()
  }
}

/** Who watches which job. Both stores call it at each change. */
export class Listeners {
  readonly #byName = new Map<string, Set<() => void>>()
  readonly #tell: (name: string, isWatched: boolean) => void

  /** `tell`: called with the first listener of a name, and once it has no more. */
  constructor(tell: (name: string, isWatched: boolean) => void) {
    this.#tell = tell
  }

  /** Each listener is a function of its own. Returns what ends it. */
  add(name: string, listener: () => void): () => void {
    const listeners = this.#byName.get(name) ?? new Set()
    this.#byName.set(name, listeners)
    if (listeners.size === 0) this.#tell(name, true)
    listeners.add(listener)
    return () => {
      if (!listeners.delete(listener) || listeners.size > 0) return
      this.#byName.delete(name)
      this.#tell(name, false)
    }
  }

  call(name: string): void {
    for (const listener of this.#byName.get(name) ?? []) listener()
  }

  callAll(): void {
    for (const name of this.#byName.keys()) this.call(name)
  }
}
