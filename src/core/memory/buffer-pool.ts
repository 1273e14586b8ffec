/** A pool of large buffers. @module */

// Smaller ones come from memory that the allocator has at hand anyway. **Units**: bytes.
const minBytes = 64 * 1024
// Of all free buffers together. **Units**: bytes.
const maxFreeBytes = 128 * 1024 * 1024
const sweepMs = 1_000
// How many times larger than asked for a used buffer may be.
const maxOversize = 4

/**
 * Reuses the memory of large bodies. Memory fresh from the system costs a page fault for every 4 KiB, and V8 collects
 * its whole heap for every few of such buffers.
 *
 * `take` makes a buffer the caller's own; `give` ends that. Whoever does not give a buffer back leaves it to the
 * collector.
 *
 * **Cost**: holds at most 128 MiB that were in use at once before, and frees what was not used for a second.
 */
export class BufferPool {
  #free: ArrayBuffer[] = []
  /** Those of `#free` that were not used since the last sweep. */
  #stale = new Set<ArrayBuffer>()
  #bytes = 0
  #timer: NodeJS.Timeout | undefined

  /** Returns a used buffer, or a new one of exactly `size` bytes; not zeroed. */
  take(size: number): ArrayBuffer {
    // Not from Node's shared pool, of which it would be a part.
    return this.takeUsed(size) ?? Buffer.allocUnsafeSlow(size).buffer
  }

  /** Returns a used buffer of `size` to four times as many bytes, not zeroed; undefined when there is none. */
  takeUsed(size: number): ArrayBuffer | undefined {
    if (size < minBytes / maxOversize) return undefined
    let best: ArrayBuffer | undefined
    for (const buffer of this.#free) {
      const length = buffer.byteLength
      if (length >= size && length <= maxOversize * size && length < (best?.byteLength ?? Number.POSITIVE_INFINITY))
        best = buffer
    }
    if (best !== undefined) this.#drop(best)
    return best
  }

  /**
   * Ends the use of a buffer: the next caller of `take` writes over what views of it still show. Detaching it would be
   * safer, and as slow as no pool: V8 counts the moved memory as new, and collects the heap for it.
   */
  give(buffer: ArrayBuffer): void {
    const size = buffer.byteLength
    if (size < minBytes || size + this.#bytes > maxFreeBytes || this.#free.includes(buffer)) return
    this.#free.push(buffer)
    this.#bytes += size
    this.#timer ??= setInterval(() => this.#sweep(), sweepMs).unref()
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

/** Returns these bytes, one behind the other, in a buffer of the pool. */
export function joinInPool(pieces: readonly Uint8Array[]): Uint8Array {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const joined = new Uint8Array(bufferPool.take(length), 0, length)
  let at = 0
  for (const piece of pieces) {
    joined.set(piece, at)
    at += piece.length
  }
  return joined
}

/**
 * Says that the body of a response lies in buffers of the pool, which go back when it has been sent. It is a member of
 * the response, not of the bytes: a descriptor that takes the bytes alone into a response of its own owns them, and one
 * that sends a response of another descriptor twice is refused instead of sending what the memory holds by then.
 */
export class PooledBody {
  #isTaken = false

  /** Called before the body is sent; false when that has happened before. */
  take(): boolean {
    if (this.#isTaken) return false
    this.#isTaken = true
    return true
  }

  /** Gives the body, or a chunk of it, back to the pool. Called once for each, when it has been sent. */
  give(bytes: Uint8Array): void {
    bufferPool.give(bytes.buffer as ArrayBuffer)
  }
}
