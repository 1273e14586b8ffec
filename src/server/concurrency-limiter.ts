/**
 * Limits the number of requests in flight.
 * @module
 */

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
  #idleListeners: (() => void)[] = []

  constructor(max: number) {
    this.#max = max
  }

  /** Requests between their headers and the end of their response. */
  get open(): number {
    return this.#open
  }

  /** Requests that hold a slot. */
  get active(): number {
    return this.#active
  }

  /** Whether no slot is free. */
  get isFull(): boolean {
    return this.#active >= this.#max
  }

  /** Counts one more open request. */
  enter(): void {
    this.#open++
    this.#hasRun = true
  }

  /** Whether no request was open since the last call. */
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
