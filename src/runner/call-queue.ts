/**
 * The queues in which the calls of a method wait for a worker.
 * @module
 */

/** Calls that wait for a worker, in order. Pure: it gets the time as an argument and starts nothing. */
export interface CallQueue<W> {
  readonly size: number
  readonly oldest: number
  /** Whether the calls that wait are so short that a message for them alone costs more than they do. */
  readonly gathers: boolean
  push(call: W, now: number, isIdle: boolean): void
  /** Removes a call that its caller has given up. Returns false when it is not there any more. */
  remove(call: W): boolean
  /** When a free worker should get calls: `now` or earlier for at once, Infinity when none waits. */
  dueAt(now: number): number
  /** Removes and returns the calls for the next of so many free workers. Empty when none waits. */
  take(now: number, freeWorkers: number): W[]
  learn(count: number, ms: number): void
}

/**
 * Longest time that the calls of one message may take together. A message costs some 50 µs: short calls share one (64
 * at once: 2 µs each), long ones do not wait for each other. **Units**: milliseconds.
 */
const maxMessageMs = 0.5

const maxMessageCalls = 128

// Less work than this is not worth waking another thread for.
const minMessageMs = 0.05

/**
 * Calls that are not batched, first come first served. Short ones share a message and are made one by one in the
 * worker; how many follows from their measured time. They are spread over the free workers.
 */
export class PlainQueue<W> implements CallQueue<W> {
  readonly #waiting: { readonly call: W; readonly since: number }[] = []
  readonly #maxCalls: number
  #callMs: number | undefined

  constructor(maxCalls: number = maxMessageCalls) {
    this.#maxCalls = maxCalls
  }

  get size(): number {
    return this.#waiting.length
  }

  get oldest(): number {
    return this.#waiting[0]?.since ?? Number.POSITIVE_INFINITY
  }

  get gathers(): boolean {
    const count = this.#waiting.length
    return this.#callMs !== undefined && count < this.#maxCalls && count * this.#callMs < minMessageMs
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

  take(_now: number, freeWorkers: number): W[] {
    return this.#waiting.splice(0, this.#share(freeWorkers)).map(({ call }) => call)
  }

  learn(count: number, ms: number): void {
    const callMs = ms / count
    this.#callMs = this.#callMs === undefined ? callMs : this.#callMs + 0.1 * (callMs - this.#callMs)
  }

  #share(freeWorkers: number): number {
    // The first call goes alone: its time is not known yet.
    if (this.#callMs === undefined) return 1
    const fair = Math.ceil(this.#waiting.length / freeWorkers)
    const worthwhile = Math.floor(minMessageMs / this.#callMs)
    const max = Math.min(this.#maxCalls, Math.floor(maxMessageMs / this.#callMs))
    return Math.max(1, Math.min(max, Math.max(fair, worthwhile)))
  }
}
