/**
 * The in-flight limit.
 * @module
 */

/** Counts requests between their headers and the end of their response. */
export class InFlightGate {
  readonly #max: number
  #count = 0
  #idle: (() => void)[] = []

  constructor(max: number) {
    this.#max = max
  }

  /** Requests inside. */
  get count(): number {
    return this.#count
  }

  /** Lets one request in; false when the limit is reached. */
  enter(): boolean {
    if (this.#count >= this.#max) return false
    this.#count++
    return true
  }

  /** One request is over. Called exactly once for each that entered. */
  leave(): void {
    this.#count--
    if (this.#count === 0 && this.#idle.length > 0) for (const resolve of this.#idle.splice(0)) resolve()
  }

  /** Waits until nobody is inside, at most `timeoutMs`; resolves to whether that came true. */
  async idle(timeoutMs: number): Promise<boolean> {
    if (this.#count === 0) return true
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), Math.min(timeoutMs, 0x7fffffff))
    })
    const idle = new Promise<boolean>((resolve) => this.#idle.push(() => resolve(true)))
    try {
      return await Promise.race([idle, late])
    } finally {
      clearTimeout(timer)
    }
  }
}
