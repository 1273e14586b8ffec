/**
 * The slot and the memory that one request holds.
 * @module
 */
import type { EndpointSlots } from '../http/endpoint.ts'
import type { ServerState } from './engine.ts'

/** Takes a slot and memory for one request, and releases all of it at the end of the request. */
export class Reservation {
  readonly #server: ServerState
  readonly #own: EndpointSlots | undefined
  #holdsSlot = false
  /** Of the memory budget. **Units**: bytes. */
  #bytes = 0

  /** For a request that enters the limiter. */
  constructor(server: ServerState, own?: EndpointSlots) {
    this.#server = server
    this.#own = own
  }

  /** Takes the slot, and one of the endpoint's own, once; returns those that are all taken, undefined for none. */
  takeSlot(): EndpointSlots | undefined {
    if (this.#holdsSlot) return undefined
    const { limiter } = this.#server
    if (!limiter.acquire()) return limiter
    if (this.#own?.acquire() === false) {
      limiter.release()
      return this.#own
    }
    this.#holdsSlot = true
    return undefined
  }

  /** Counts memory up to `bytes` in all; returns false, and counts no more, when it does not fit. */
  reserveUpTo(bytes: number): boolean {
    return bytes <= this.#bytes || this.reserve(bytes - this.#bytes)
  }

  /** Counts more memory; returns false, and counts none, when it does not fit. `isSpare`: see MemoryBudget. */
  reserve(bytes: number, isSpare = false): boolean {
    if (!this.#server.memory.reserve(bytes, isSpare)) return false
    this.#bytes += bytes
    return true
  }

  /** Releases everything. Called exactly once. */
  end(): void {
    if (this.#bytes > 0) this.#server.memory.release(this.#bytes)
    if (this.#holdsSlot) {
      this.#server.limiter.release()
      this.#own?.release()
    }
    this.#server.limiter.leave()
  }
}
