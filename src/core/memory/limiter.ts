/** Limits how many pieces of work run at once. @module */
import { availableParallelism } from 'node:os'

/** Runs at most a number of works at once; the others wait, first come first served. */
export class Limiter {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  /** Runs `work` when its turn has come. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((go) => this.#waiting.push(go))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }
}

/** Limits the add-on's work on libuv's threads: more at once than there are cores would only hold memory. */
export const nativeLimiter = new Limiter(Math.min(4, availableParallelism()))
