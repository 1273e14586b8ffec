/** The queue of pictures in front of libuv's thread pool. @module */

const minLargePixels = 4_000_000
/** Of large pictures at once, if there is more than one. **Units**: pixels. */
const maxLargePixels = 128_000_000

interface Job {
  readonly pixels: number
  readonly start: () => Promise<void>
}

/** Lets pictures into libuv's pool in order, never into all threads; one slot is left to small pictures. */
export class PictureQueue {
  readonly #slots: number
  #waiting: Job[] = []
  #running = 0
  #runningLarge = 0
  #runningLargePixels = 0

  constructor(slots: number) {
    this.#slots = slots
  }

  /**
   * Runs `work` once there is a slot.
   *
   * @throws those of `work`; the signal's reason while it waits.
   */
  run<T>(pixels: number, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted()
      const start = async () => {
        signal?.removeEventListener('abort', onAbort)
        try {
          resolve(await work())
        } catch (error) {
          reject(error)
        } finally {
          this.#count(pixels, -1)
          this.#startWaiting()
        }
      }
      const job = { pixels, start }
      const onAbort = () => {
        this.#waiting = this.#waiting.filter((each) => each !== job)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', onAbort)
      this.#waiting.push(job)
      this.#startWaiting()
    })
  }

  /** Starts what fits, in order: a small picture waits for the small ones before it, a large one for the large ones. */
  #startWaiting(): void {
    const waits = { small: false, large: false }
    const ready = this.#waiting.filter(({ pixels }) => {
      const kind = pixels < minLargePixels ? 'small' : 'large'
      waits[kind] ||= !this.#fits(pixels)
      if (!waits[kind]) this.#count(pixels, 1)
      return !waits[kind]
    })
    this.#waiting = this.#waiting.filter((job) => !ready.includes(job))
    for (const { start } of ready) void start()
  }

  #fits(pixels: number): boolean {
    if (this.#running >= this.#slots) return false
    if (pixels < minLargePixels || this.#runningLarge === 0) return true
    return (
      this.#runningLarge + 1 < this.#slots && this.#runningLargePixels + pixels <= maxLargePixels
    )
  }

  #count(pixels: number, sign: 1 | -1): void {
    this.#running += sign
    if (pixels < minLargePixels) return
    this.#runningLarge += sign
    this.#runningLargePixels += sign * pixels
  }
}

// Node gives libuv four threads unless this says otherwise.
const threads = Number.parseInt(process.env.UV_THREADPOOL_SIZE ?? '4', 10) || 1

/** The queue of this thread: half of the pool's threads are for pictures. */
export const pictureQueue = new PictureQueue(Math.max(1, Math.floor(Math.min(threads, 1024) / 2)))
