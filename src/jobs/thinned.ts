/** **Units**: milliseconds. */
const pauseMs = 100

type Send = (kind: 'progress' | 'partial', data: string) => Promise<void>

/** Sends partials, the first progress at once, and of progress that comes within a moment after that the last. */
export class Thinned {
  readonly #send: Send
  #timer: NodeJS.Timeout | undefined
  #latest: string | undefined

  constructor(send: Send) {
    this.#send = send
  }

  readonly report: Send = (kind, data) => {
    if (kind === 'partial') return this.#send(kind, data)
    if (this.#timer === undefined) {
      this.#timer = setTimeout(() => {
        this.#timer = undefined
        void this.flush()
      }, pauseMs)
      return this.#send(kind, data)
    }
    this.#latest = data
    return Promise.resolve()
  }

  /** Sends what waits; workers call it before they end the attempt. */
  async flush(): Promise<void> {
    const data = this.#latest
    this.#latest = undefined
    if (data !== undefined) await this.#send('progress', data)
  }
}
