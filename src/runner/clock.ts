/**
 * Time, to be driven by tests.
 * @module
 */

/** Time as the queues see it. **Units**: milliseconds. */
export interface Clock {
  /** Monotonic. */
  now(): number
  /** Milliseconds since the epoch, for deadlines. */
  date(): number
  /** Calls once, not before that time has passed; the returned function calls it off. */
  after(ms: number, run: () => void): () => void
  /** Calls once, when the events that are there already have been handled. */
  soon(run: () => void): void
}

/** The real time. */
export const realClock: Clock = {
  now: () => performance.now(),
  date: () => Date.now(),
  after(ms, run) {
    // Timers are no finer than a millisecond; an immediate is as fine as the event loop, and the caller asks again.
    if (ms < 1) {
      const immediate = setImmediate(run)
      return () => clearImmediate(immediate)
    }
    const timer = setTimeout(run, Math.min(Math.ceil(ms), 0x7fffffff))
    return () => clearTimeout(timer)
  },
  soon: (run) => void setImmediate(run),
}
