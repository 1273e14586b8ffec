/** **Units**: milliseconds. */
const pauseMs = 100

/** Largest partial: one event must not hold more than a read of events. **Units**: characters. */
const maxPartial = 16 * 1024

type Send = (kind: 'progress' | 'partial', data: string) => Promise<void>

/**
 * Sends the first report at once. Of reports within a moment after that it joins partials, and keeps the last
 * progress: each event is a write of the store.
 */
export class Thinned {
  readonly #send: Send
  #timer: NodeJS.Timeout | undefined
  #partials = ''
  #progress: string | undefined
  #sending: Promise<void> = Promise.resolve()

  constructor(send: Send) {
    this.#send = send
  }

  /** Resolves when more may be reported: a generator runs ahead of the store by one partial at most. */
  readonly report: Send = (kind, data) => {
    if (kind === 'progress') this.#progress = data
    else this.#partials += data
    if (this.#timer === undefined) {
      this.#timer = setTimeout(() => {
        this.#timer = undefined
        void this.flush()
      }, pauseMs)
      return this.flush()
    }
    return this.#partials.length < maxPartial ? Promise.resolve() : this.flush()
  }

  /** Sends what waits; workers call it before they end the attempt. */
  flush(): Promise<void> {
    const [partials, progress] = [this.#partials, this.#progress]
    this.#partials = ''
    this.#progress = undefined
    this.#sending = this.#sending.then(() => this.#sendAll(partials, progress))
    return this.#sending
  }

  async #sendAll(partials: string, progress: string | undefined): Promise<void> {
    for (let at = 0; at < partials.length; ) {
      const piece = pieceOf(partials, at)
      await this.#send('partial', piece)
      at += piece.length
    }
    if (progress !== undefined) await this.#send('progress', progress)
  }
}

/** @returns the next piece, which ends before a pair of surrogates rather than within it. */
function pieceOf(text: string, at: number): string {
  const end = at + maxPartial
  const last = end < text.length ? text.charCodeAt(end - 1) : 0
  return text.slice(at, last >= 0xd800 && last < 0xdc00 ? end - 1 : end)
}
