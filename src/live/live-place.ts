import { HeldMemory, type SharedMemory } from '../core/memory/held-memory.ts'

/** What the server's clock and its end ask of an open stream. */
export interface OpenStream {
  /** Called several times within the shortest idle time of the server. */
  sweep(now: number): void
  /** Closes the stream, since the server stops. */
  stop(): void
}

/** An account counts no less: the number of streams is bounded. **Units**: bytes. */
export const freeBytes = 64 * 1024

/** What the key of {@link LivePlace} is made by: the streams of a server alone make one. */
export const placeKey = Symbol('place')

/**
 * What one stream has of its server, over any transport: its slot, the memory of its longest message, and accounts of
 * what it holds. Without one there is no inbox and no session.
 */
export class LivePlace {
  /** Undefined until it is open. */
  stream: OpenStream | undefined
  readonly #memory: SharedMemory
  readonly #leave: () => void
  #isLeft = false

  /** @internal `leave`: gives all back. */
  constructor(key: symbol, memory: SharedMemory, leave: () => void) {
    if (key !== placeKey) throw new TypeError('expected streams.admit to make a place')
    this.#memory = memory
    this.#leave = leave
  }

  /** @returns an account of messages that wait, on one side of the stream. */
  account(): HeldMemory {
    return new HeldMemory(this.#memory, freeBytes)
  }

  /** Gives all back. Only the first call counts. */
  leave(): void {
    if (this.#isLeft) return
    this.#isLeft = true
    this.#leave()
  }
}
