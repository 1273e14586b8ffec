import type { Clock } from '../../../src/runner/clock.ts'

/** Time that goes by only when the test says so. */
export class TestClock implements Clock {
  #now = 1_000
  #timers: { at: number; run: () => void }[] = []
  #soon: (() => void)[] = []

  now = () => this.#now
  date = () => this.#now

  /** Timers that have not run. */
  get timers(): number {
    return this.#timers.length
  }

  after(ms: number, run: () => void) {
    const timer = { at: this.#now + ms, run }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((one) => one !== timer)
    }
  }

  soon(run: () => void) {
    this.#soon.push(run)
  }

  /** Lets time pass, and everything happen that does in it. */
  async pass(ms: number) {
    const end = this.#now + ms
    await this.settle()
    for (;;) {
      const next = this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
      if (next === undefined) break
      this.#timers = this.#timers.filter((one) => one !== next)
      this.#now = Math.max(this.#now, next.at)
      next.run()
      await this.settle()
    }
    this.#now = end
  }

  async settle() {
    for (let i = 0; i < 20; i++) await this.turn()
  }

  /** One turn of the event loop. */
  async turn() {
    for (const run of this.#soon.splice(0)) run()
    await null
  }
}
