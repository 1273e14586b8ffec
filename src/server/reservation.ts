/**
 * The slot and the memory that one request holds.
 * @module
 */
import type { ServerState } from './engine.ts'

/** Takes a slot and memory for one request, and releases all of it at the end of the request. */
export class Reservation {
  readonly #server: ServerState
  #holdsSlot = false
  /** Of the memory budget. **Units**: bytes. */
  #bytes = 0

  /** For a request that has entered the limiter. */
  constructor(server: ServerState) {
    this.#server = server
  }

  /** Takes the slot, once; returns false when none is free. */
  takeSlot(): boolean {
    this.#holdsSlot ||= this.#server.limiter.acquire()
    return this.#holdsSlot
  }

  /** Counts memory up to `bytes` in all; returns false, and counts no more, when it does not fit. */
  reserveUpTo(bytes: number): boolean {
    return bytes <= this.#bytes || this.reserve(bytes - this.#bytes)
  }

  /** Counts more memory; returns false, and counts none, when it does not fit. */
  reserve(bytes: number): boolean {
    if (!this.#server.memory.reserve(bytes)) return false
    this.#bytes += bytes
    return true
  }

  /** Releases everything. Called exactly once. */
  end(): void {
    if (this.#bytes > 0) this.#server.memory.release(this.#bytes)
    if (this.#holdsSlot) this.#server.limiter.release()
    this.#server.limiter.leave()
  }
}
