/**
 * The limit of requests in flight.
 * @module
 */

/** Counts requests between their headers and the end of their response. */
export class ConcurrencyLimiter {
  readonly #max: number
  #active = 0
  #idleListeners: (() => void)[] = []

  constructor(max: number) {
    this.#max = max
  }

  /** Requests that run. */
  get active(): number {
    return this.#active
  }

  /** Counts one more request; returns false, and counts none, when the limit is reached. */
  acquire(): boolean {
    if (this.#active >= this.#max) return false
    this.#active++
    return true
  }

  /** Called exactly once for each request that was counted, when it is over. */
  release(): void {
    this.#active--
    if (this.#active === 0 && this.#idleListeners.length > 0)
      for (const resolve of this.#idleListeners.splice(0)) resolve()
  }

  /** Waits until no request runs, at most `timeoutMs`; resolves to whether none does. */
  async idle(timeoutMs: number): Promise<boolean> {
    if (this.#active === 0) return true
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
