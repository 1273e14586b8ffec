/**
 * Large buffers that are used again.
 * @module
 */

// Smaller ones come from memory that the allocator has at hand anyway.
const leastBytes = 64 * 1024
const mostBytes = 128 * 1024 * 1024
const sweepMs = 1_000
// How much larger than asked for a used buffer may be.
const mostTimes = 4

/**
 * Keeps the memory of large bodies for the next ones. Memory fresh from the system costs a page fault for every 4 KiB, and V8
 * collects its whole heap for every few of such buffers: together a fifth of the time of a 20 MB ndarray echo.
 *
 * **Cost**: holds what was in use at once before, 128 MiB at most, and lets go of what was not used for a second.
 */
export class BufferPool {
  #free: ArrayBuffer[] = []
  /** Those of `#free` that nobody has used since the last sweep. */
  #stale = new Set<ArrayBuffer>()
  /** Those that `lend` gave. */
  readonly #lent = new WeakSet<ArrayBuffer>()
  #bytes = 0
  #timer: NodeJS.Timeout | undefined

  /** A used buffer of `size` to four times as many bytes, whatever they are now; undefined when there is none. */
  takeUsed(size: number): ArrayBuffer | undefined {
    if (size < leastBytes / mostTimes) return undefined
    let best: ArrayBuffer | undefined
    for (const buffer of this.#free) {
      const length = buffer.byteLength
      if (length >= size && length <= mostTimes * size && length < (best?.byteLength ?? Number.POSITIVE_INFINITY))
        best = buffer
    }
    if (best !== undefined) this.#drop(best)
    return best
  }

  /** A used buffer, or a new one of exactly `size` bytes; not zeroed. */
  take(size: number): ArrayBuffer {
    // Not from Node's shared pool, of which it would be a part.
    return this.takeUsed(size) ?? Buffer.allocUnsafeSlow(size).buffer
  }

  /**
   * Takes a buffer that nobody needs any more: the next one who takes it writes over what views of it still show. Detaching it
   * would be safer, and as slow as no pool: V8 counts the moved memory as new, and collects the heap for it.
   */
  give(buffer: ArrayBuffer): void {
    const size = buffer.byteLength
    if (size < leastBytes || size + this.#bytes > mostBytes || this.#free.includes(buffer)) return
    this.#free.push(buffer)
    this.#bytes += size
    this.#timer ??= setInterval(() => this.#sweep(), sweepMs).unref()
  }

  /** As `take`, for bytes that others are to read: the last of them says so by `takeBack`, or leaves them to the collector. */
  lend(size: number): ArrayBuffer {
    const buffer = this.take(size)
    this.#lent.add(buffer)
    return buffer
  }

  /** Takes a lent buffer that nobody reads any more; bytes that were not lent are their owner's, and stay so. */
  takeBack(bytes: Uint8Array): void {
    const buffer = bytes.buffer as ArrayBuffer
    if (this.#lent.delete(buffer)) this.give(buffer)
  }

  /** Drops all free buffers. */
  clear(): void {
    for (const buffer of [...this.#free]) this.#drop(buffer)
  }

  #sweep(): void {
    for (const buffer of this.#stale) this.#drop(buffer)
    this.#stale = new Set(this.#free)
    if (this.#free.length > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #drop(buffer: ArrayBuffer): void {
    this.#free.splice(this.#free.indexOf(buffer), 1)
    this.#stale.delete(buffer)
    this.#bytes -= buffer.byteLength
  }
}

/** The pool of this thread. */
export const bufferPool = new BufferPool()
