/** The queue of pictures in front of libuv's thread pool. @module */

const minLargePixels = 4_000_000
/** Of large pictures at once, if there is more than one. **Units**: pixels. */
const maxLargePixels = 128_000_000

interface Job {
  readonly pixels: number
  readonly order: number
  readonly start: () => void
}

/** Lets pictures into libuv's pool in order, never into all threads; one slot is left to small pictures. */
export class PictureQueue {
  readonly #slots: number
  readonly #small: Job[] = []
  readonly #large: Job[] = []
  #order = 0
  #running = 0
  #runningLarge = 0
  #runningLargePixels = 0

  constructor(slots: number) {
    this.#slots = slots
  }

  /** Runs `work` once there is a slot. **Errors**: those of `work`; the signal's reason while it waits. */
  async run<T>(pixels: number, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    signal?.throwIfAborted()
    if (this.#canStart(pixels)) this.#take(pixels)
    else await this.#wait(pixels, signal)
    try {
      return await work()
    } finally {
      this.#release(pixels)
    }
  }

  #wait(pixels: number, signal: AbortSignal | undefined): Promise<void> {
    const waiting = this.#queueOf(pixels)
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        waiting.splice(waiting.indexOf(job), 1)
        reject(signal?.reason)
      }
      const start = () => {
        signal?.removeEventListener('abort', onAbort)
        this.#take(pixels)
        resolve()
      }
      const job = { pixels, order: this.#order++, start }
      waiting.push(job)
      signal?.addEventListener('abort', onAbort)
    })
  }

  #queueOf(pixels: number): Job[] {
    return pixels < minLargePixels ? this.#small : this.#large
  }

  #canStart(pixels: number): boolean {
    return this.#queueOf(pixels).length === 0 && this.#fits(pixels)
  }

  #fits(pixels: number): boolean {
    if (this.#running >= this.#slots) return false
    if (pixels < minLargePixels || this.#runningLarge === 0) return true
    return this.#runningLarge + 1 < this.#slots && this.#runningLargePixels + pixels <= maxLargePixels
  }

  #take(pixels: number): void {
    this.#running++
    if (pixels < minLargePixels) return
    this.#runningLarge++
    this.#runningLargePixels += pixels
  }

  #release(pixels: number): void {
    this.#running--
    if (pixels >= minLargePixels) {
      this.#runningLarge--
      this.#runningLargePixels -= pixels
    }
    for (let next = this.#next(); next !== undefined; next = this.#next()) next.shift()?.start()
  }

  /** Returns the queue whose first job may start; the one that came before where both may. */
  #next(): Job[] | undefined {
    const ready = [this.#small, this.#large].filter((jobs) => jobs.length > 0 && this.#fits(jobs[0].pixels))
    return ready.length === 2 && ready[1][0].order < ready[0][0].order ? ready[1] : ready[0]
  }
}

// Node gives libuv four threads unless this says otherwise.
const threads = Number.parseInt(process.env.UV_THREADPOOL_SIZE ?? '4', 10) || 1

/** The queue of this thread: half of the pool's threads are for pictures. */
export const pictureQueue = new PictureQueue(Math.max(1, Math.floor(Math.min(threads, 1024) / 2)))
