/** The time, which tests replace. @module */

/** The time and timers of a runner. **Units**: milliseconds. */
export interface Clock {
  now(): number
  date(): number
  /** @returns a function that cancels the call. */
  after(ms: number, run: () => void): () => void
  /** Calls `run` after the events of this turn of the event loop. */
  soon(run: () => void): void
}

/** The system's clock. */
export const realClock: Clock = {
  now: () => performance.now(),
  date: () => Date.now(),
  after(ms, run) {
    // Timers are no finer than a millisecond. An immediate may be early; the queues then ask again.
    if (ms < 1) {
      const immediate = setImmediate(run)
      return () => clearImmediate(immediate)
    }
    const timer = setTimeout(run, Math.min(Math.ceil(ms), 0x7fffffff))
    return () => clearTimeout(timer)
  },
  soon: (run) => void setImmediate(run),
}
