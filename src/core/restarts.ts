/** Starts a thread or process again when it has ended, after pauses that grow while it fails. @module */

/** The pauses between one end and the next start. **Units**: milliseconds. */
export interface Pauses {
  readonly firstMs: number
  readonly longestMs: number
  /**
   * Whether there is no pause after one that worked.
   *
   * @default false
   */
  readonly atOnce?: boolean
}

/** Calls `run` after a time and returns a function that cancels the call. **Units**: milliseconds. */
export type After = (ms: number, run: () => void) => () => void

const afterTimeout: After = (ms, run) => {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}

/** The restarts of one thread or process. */
export class Restarts {
  readonly #start: () => void
  readonly #pauses: Pauses
  readonly #after: After
  #inARow = 0
  #cancel: (() => void) | undefined

  constructor(start: () => void, pauses: Pauses, after: After = afterTimeout) {
    this.#start = start
    this.#pauses = pauses
    this.#after = after
  }

  /**
   * Starts it again after a pause, which is the shortest if it `worked`, and twice the last one if
   * not.
   *
   * @returns the pause.
   */
  again(worked: boolean): number {
    if (worked) this.#inARow = 0
    const { firstMs, longestMs, atOnce = false } = this.#pauses
    const doublings = this.#inARow++ - Number(atOnce)
    const ms = doublings < 0 ? 0 : Math.min(longestMs, firstMs * 2 ** doublings)
    if (ms === 0) this.#start()
    else this.#cancel = this.#after(ms, this.#start)
    return ms
  }

  /** Called if it shall not start again. */
  cancel(): void {
    this.#cancel?.()
  }
}
