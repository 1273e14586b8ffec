import { availableParallelism } from '../platform.ts'

/** What came together once will soon do so again. **Units**: milliseconds. */
const calmMs = 1000

/** Runs a limited number of tasks at once; the others wait, first come first served. */
export class Limiter {
  readonly count: number
  #free: number
  /** When a task last came while another ran. */
  #crowdedAt = Number.NEGATIVE_INFINITY
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.count = count
    this.#free = count
  }

  /** How many more tasks could start at once. It is 0 soon after tasks that came together. */
  get spare(): number {
    if (performance.now() - this.#crowdedAt < calmMs) return 0
    return this.#free
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.enter()
    try {
      return await work()
    } finally {
      this.leave()
    }
  }

  /** Takes a place, which {@link leave} gives back; undefined if there is one at once. */
  enter(): Promise<void> | undefined {
    if (this.#free < this.count) this.#crowdedAt = performance.now()
    if (this.#free === 0) return new Promise((go) => this.#waiting.push(go))
    this.#free--
    return undefined
  }

  leave(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free++
    else next()
  }
}

/** From this size on, the add-on reads a body off the event loop. **Units**: bytes. */
export const minAsyncBytes = 2 ** 20

/** Limits the add-on's work on libuv's threads: more than there are cores would only hold memory. */
export const nativeLimiter = new Limiter(Math.min(4, availableParallelism()))
