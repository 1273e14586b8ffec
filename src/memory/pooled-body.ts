/**
 * Response bodies in memory of the pool.
 * @module
 */
import { bufferPool } from './buffer-pool.ts'

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
