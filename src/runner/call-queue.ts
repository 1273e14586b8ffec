/**
 * Where the calls of a method wait for a thread.
 * @module
 */

/** Calls that wait for a thread, in order. Pure: told the time, it starts nothing. */
export interface CallQueue<W> {
  /** Calls that wait. */
  readonly size: number
  /** Since when the first has waited; Infinity when there is none. */
  readonly oldest: number
  push(call: W, now: number): void
  /** Takes a call out that nobody wants any more; false when it has gone already. */
  remove(call: W): boolean
  /** When a free thread should be given something: `now` or earlier for at once, Infinity when nobody waits. */
  dueAt(now: number): number
  /** Takes out what the next of so many free threads should do. Empty when nobody waits. */
  take(now: number, freeThreads: number): W[]
  /** So many rows, or calls without batches, took so long. */
  learn(count: number, ms: number): void
}

/**
 * The longest that calls which go to a thread in one message may take together. A message costs
 * some 50 µs: short calls share one (64 at once: 3 µs each), long ones do not wait for each other. **Units**:
 * milliseconds.
 */
export const maxMessageMs = 0.5

/** The most calls in one message. */
export const maxMessageCalls = 128

// Too little to be worth waking another thread for.
const minMessageMs = 0.05

/**
 * Calls that are not batched, first come first served. Short ones go to a thread in one message, there to be made one
 * by one; how many follows from their measured time. They are spread over the free threads.
 */
export class PlainQueue<W> implements CallQueue<W> {
  readonly #waiting: { readonly call: W; readonly since: number }[] = []
  readonly #maxCalls: number
  #callMs: number | undefined

  /** `maxCalls`: 1 for calls that cannot share a message. */
  constructor(maxCalls: number = maxMessageCalls) {
    this.#maxCalls = maxCalls
  }

  get size(): number {
    return this.#waiting.length
  }

  get oldest(): number {
    return this.#waiting[0]?.since ?? Number.POSITIVE_INFINITY
  }

  push(call: W, now: number): void {
    this.#waiting.push({ call, since: now })
  }

  remove(call: W): boolean {
    const at = this.#waiting.findIndex((one) => one.call === call)
    if (at === -1) return false
    this.#waiting.splice(at, 1)
    return true
  }

  dueAt(now: number): number {
    return this.#waiting.length === 0 ? Number.POSITIVE_INFINITY : now
  }

  take(_now: number, freeThreads: number): W[] {
    return this.#waiting.splice(0, this.#share(freeThreads)).map(({ call }) => call)
  }

  learn(count: number, ms: number): void {
    const callMs = ms / count
    this.#callMs = this.#callMs === undefined ? callMs : this.#callMs + 0.1 * (callMs - this.#callMs)
  }

  #share(freeThreads: number): number {
    // The first call goes alone: nothing is known of it.
    if (this.#callMs === undefined) return 1
    const fair = Math.ceil(this.#waiting.length / freeThreads)
    const worthwhile = Math.floor(minMessageMs / this.#callMs)
    const most = Math.min(this.#maxCalls, Math.floor(maxMessageMs / this.#callMs))
    return Math.max(1, Math.min(most, Math.max(fair, worthwhile)))
  }
}
