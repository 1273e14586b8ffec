/** The queues in which the calls of a method wait for a worker. @module */

/** A call that waits. */
export interface Waiting {
  readonly rows: number
  readonly key: string
  /** **Units**: milliseconds of the queue's clock. */
  queuedAt: number
}

/** Calls that wait for a worker, in order. Pure: it gets the time as an argument and starts nothing. */
export interface CallQueue<W> {
  readonly size: number
  readonly oldest: number
  /** Whether the waiting calls are so short that a message for each would cost more than the calls. */
  readonly gathers: boolean
  push(call: W, now: number, isIdle: boolean): void
  remove(call: W): boolean
  /** When a free worker should get calls: Infinity if no call waits. */
  dueAt(now: number): number
  take(now: number, freeWorkers: number): W[]
  learn(count: number, ms: number): void
}

/** Longest time that the calls of one message may take: short calls share a message. **Units**: milliseconds. */
const maxMessageMs = 0.5

const maxMessageCalls = 128

const minMessageMs = 0.05

/** Calls that are not batched, in order. Short ones share a message, by their measured time. */
export class PlainQueue<W extends Waiting> implements CallQueue<W> {
  readonly #waiting: W[] = []
  readonly #maxCalls: number
  #callMs: number | undefined

  constructor(maxCalls: number = maxMessageCalls) {
    this.#maxCalls = maxCalls
  }

  get size(): number {
    return this.#waiting.length
  }

  get oldest(): number {
    return this.#waiting[0]?.queuedAt ?? Number.POSITIVE_INFINITY
  }

  get gathers(): boolean {
    const count = this.#waiting.length
    return (
      this.#callMs !== undefined && count < this.#maxCalls && count * this.#callMs < minMessageMs
    )
  }

  push(call: W, now: number): void {
    call.queuedAt = now
    this.#waiting.push(call)
  }

  remove(call: W): boolean {
    const at = this.#waiting.indexOf(call)
    return at !== -1 && this.#waiting.splice(at, 1).length === 1
  }

  dueAt(now: number): number {
    return this.#waiting.length === 0 ? Number.POSITIVE_INFINITY : now
  }

  take(_now: number, freeWorkers: number): W[] {
    return this.#waiting.splice(0, this.#share(freeWorkers))
  }

  learn(count: number, ms: number): void {
    const callMs = ms / count
    this.#callMs =
      this.#callMs === undefined ? callMs : this.#callMs + 0.1 * (callMs - this.#callMs)
  }

  #share(freeWorkers: number): number {
    if (this.#callMs === undefined) return 1
    const fair = Math.ceil(this.#waiting.length / freeWorkers)
    const worthwhile = Math.floor(minMessageMs / this.#callMs)
    const max = Math.min(this.#maxCalls, Math.floor(maxMessageMs / this.#callMs))
    return Math.max(1, Math.min(max, Math.max(fair, worthwhile)))
  }
}
