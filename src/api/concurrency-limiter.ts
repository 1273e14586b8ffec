// After this long without refusals measuring restarts: slots may have been free. **Units**: milliseconds.
const staleMs = 2_000
// Time of a measurement. **Units**: milliseconds.
const windowMs = 20_000

/** Counts open requests. One that has not sent its body takes no slot. */
export class ConcurrencyLimiter {
  readonly #max: number
  #open = 0
  #active = 0
  #hasRun = false
  #released = 0
  // Start of the measurement, `#released` then, and the last refusal. **Units**: milliseconds.
  #since = 0
  #releasedBefore = 0
  #refusedAt = Number.NEGATIVE_INFINITY
  #idleListeners: (() => void)[] = []

  constructor(max: number) {
    this.#max = max
  }

  get open(): number {
    return this.#open
  }

  get active(): number {
    return this.#active
  }

  get isFull(): boolean {
    return this.#active >= this.#max
  }

  enter(): void {
    this.#open++
    this.#hasRun = true
  }

  wasIdle(): boolean {
    const isIdle = this.#open === 0 && !this.#hasRun
    this.#hasRun = this.#open > 0
    return isIdle
  }

  /** Called exactly once for each request that entered, after `release`. */
  leave(): void {
    this.#open--
    if (this.#open > 0) return
    for (const resolve of this.#idleListeners) resolve()
    this.#idleListeners.length = 0
  }

  /** False if all slots are taken. */
  acquire(): boolean {
    if (this.isFull) return false
    this.#active++
    return true
  }

  /** Called exactly once for each slot taken. */
  release(): void {
    this.#active--
    this.#released++
  }

  /**
   * Called for each refusal: estimates a request's time by Little's law, as the slots divided by those given back in a
   * second. 1 to 60; 1 before a measurement. **Units**: whole seconds.
   */
  retryAfterSeconds(now = performance.now()): number {
    if (now - this.#refusedAt > staleMs) {
      this.#since = now
      this.#releasedBefore = this.#released
    }
    this.#refusedAt = now
    const ms = now - this.#since
    const released = this.#released - this.#releasedBefore
    if (ms > windowMs) {
      this.#since = now - ms / 2
      this.#releasedBefore += released / 2
    }
    const serviceMs = released === 0 ? ms : (this.#max * ms) / released
    return Math.min(60, Math.max(1, Math.ceil(serviceMs / 1000)))
  }

  /** Waits until no request is open, at most `timeoutMs`; false at the timeout. */
  async idle(timeoutMs: number): Promise<boolean> {
    if (this.#open === 0) return true
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), Math.min(timeoutMs, 0x7fffffff))
      this.#idleListeners.push(() => {
        clearTimeout(timer)
        resolve(true)
      })
    })
  }
}
