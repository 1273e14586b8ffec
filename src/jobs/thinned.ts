/** Progress that comes faster than anybody looks. @module */

/** **Units**: milliseconds. */
const pauseMs = 100

/** Sends the first value at once, and of those that come within a moment after one the last. */
export class Thinned {
  readonly #send: (data: string) => Promise<void>
  #timer: NodeJS.Timeout | undefined
  #latest: string | undefined

  constructor(send: (data: string) => Promise<void>) {
    this.#send = send
  }

  report(data: string): Promise<void> {
    if (this.#timer === undefined) {
      this.#timer = setTimeout(() => {
        this.#timer = undefined
        void this.flush()
      }, pauseMs)
      return this.#send(data)
    }
    this.#latest = data
    return Promise.resolve()
  }

  /** Sends what waits; workers call it before they end the attempt. */
  async flush(): Promise<void> {
    const data = this.#latest
    this.#latest = undefined
    if (data !== undefined) await this.#send(data)
  }
}
