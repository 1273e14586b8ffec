/** Limits the number of requests in flight. @module */

// Without refusals for this long, slots may have been free: measuring begins anew. **Units**: milliseconds.
const staleMs = 2_000
// Over about this time. **Units**: milliseconds.
const windowMs = 20_000

/**
 * Counts requests. A request is open from its headers to the end of its response. It holds one of a limited number of
 * slots only from the time when it can run: a client that announces a body and does not send it takes no slot from
 * others.
 */
export class ConcurrencyLimiter {
  readonly #max: number
  #open = 0
  #active = 0
  // Whether a request was open since the last call of `wasIdle`.
  #hasRun = false
  // Slots that were given back so far.
  #released = 0
  // When and at how many of them measuring began, and when a request was last refused. **Units**: milliseconds.
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

  /** Called exactly once for each request that entered, when it is over and has released its slot. */
  leave(): void {
    this.#open--
    if (this.#open === 0 && this.#idleListeners.length > 0)
      for (const resolve of this.#idleListeners.splice(0)) resolve()
  }

  /** Takes a slot; returns false when none is free. */
  acquire(): boolean {
    if (this.#active >= this.#max) return false
    this.#active++
    return true
  }

  /** Called exactly once for each slot that was taken. */
  release(): void {
    this.#active--
    this.#released++
  }

  /**
   * Called for each refusal: returns how long a request takes, after which most of those that hold slots will be over.
   * With all slots taken that is, by Little's law, their number divided by how many are given back in a second, so that
   * requests need not be timed. 1 to 60; 1 before there is a measurement. **Units**: whole seconds.
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

  /** Waits until no request is open, at most `timeoutMs`; resolves to whether none is. */
  async idle(timeoutMs: number): Promise<boolean> {
    if (this.#open === 0) return true
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), Math.min(timeoutMs, 0x7fffffff))
    })
    const idle = new Promise<boolean>((resolve) => this.#idleListeners.push(() => resolve(true)))
    try {
      return await Promise.race([idle, late])
    } finally {
      clearTimeout(timer)
    }
  }
}
