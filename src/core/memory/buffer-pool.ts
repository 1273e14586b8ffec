import { allocate, maxFreeBytes } from '../platform.ts'

// The allocator has smaller ones at hand. **Units**: bytes.
const minBytes = 64 * 1024
const sweepMs = 1_000
// Largest ratio of a used buffer to the size asked for.
const maxOversize = 4

/**
 * Reuses the memory of large bodies: fresh memory costs page faults, and V8 collects its heap for every few such
 * buffers. `take` makes a buffer the caller's own until `give`; the collector frees one that is not given back. Holds
 * at most 128 MiB and frees buffers unused for a second.
 */
export class BufferPool {
  #free: ArrayBuffer[] = []
  /** Those of `#free` that were not used since the last sweep. */
  #stale = new Set<ArrayBuffer>()
  #bytes = 0
  #timer: NodeJS.Timeout | undefined

  /** @returns a used buffer, or a new one of exactly `size` bytes; not zeroed. */
  take(size: number): ArrayBuffer {
    // Not part of Node's shared pool.
    return this.takeUsed(size) ?? allocate(size).buffer
  }

  /** @returns a used buffer of `size` to four times as many bytes, not zeroed, or undefined. */
  takeUsed(size: number): ArrayBuffer | undefined {
    if (size < minBytes / maxOversize) return undefined
    let best: ArrayBuffer | undefined
    for (const buffer of this.#free) {
      const length = buffer.byteLength
      if (
        length >= size &&
        length <= maxOversize * size &&
        length < (best?.byteLength ?? Number.POSITIVE_INFINITY)
      )
        best = buffer
    }
    if (best !== undefined) this.#drop(best)
    return best
  }

  /**
   * Ends the use of a buffer, which the next caller overwrites. Not detached: V8 would count the moved memory as new.
   */
  give(buffer: ArrayBuffer): void {
    const size = buffer.byteLength
    if (size < minBytes || size + this.#bytes > maxFreeBytes || this.#free.includes(buffer)) return
    this.#free.push(buffer)
    this.#bytes += size
    this.#timer ??= setInterval(() => this.#sweep(), sweepMs).unref()
  }

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

/** Joins these bytes in a buffer of the pool. */
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
 * Marks a response whose body lies in pooled buffers, to be given back when it is sent. A member of the response: code
 * that takes only the bytes owns them, and a response that is sent twice is refused.
 */
export class PooledBody {
  #isTaken = false

  /** Called before the body is sent; false the second time. */
  take(): boolean {
    if (this.#isTaken) return false
    this.#isTaken = true
    return true
  }

  /** Called once for the body or each of its chunks, after it was sent. A text has no such memory. */
  give(chunk: string | Uint8Array): void {
    if (typeof chunk !== 'string') bufferPool.give(chunk.buffer as ArrayBuffer)
  }
}
