/** Token buckets: how often each of many callers may do something. @module */

/** What is left to a caller. */
export interface Share {
  /** Whether the caller may go on; a token was taken then. */
  readonly isAllowed: boolean
  /** Whole tokens that are left. */
  readonly remaining: number
  /** Until there is a whole token again. **Units**: milliseconds. */
  readonly waitMs: number
}

interface Bucket {
  tokens: number
  /** When `tokens` was counted. **Units**: milliseconds. */
  at: number
}

/** One bucket for each key, filled at a steady rate. The least recently used is forgotten above a number of keys. */
export class TokenBuckets {
  readonly #perMs: number
  readonly #burst: number
  readonly #maxKeys: number
  readonly #buckets = new Map<string, Bucket>()

  /** `rate`: tokens a second; `burst`: what a bucket holds. */
  constructor(rate: number, burst: number, maxKeys: number) {
    this.#perMs = rate / 1000
    this.#burst = burst
    this.#maxKeys = maxKeys
  }

  /** Takes a token of a key. `now`: of a steady clock. **Units**: milliseconds. */
  take(key: string, now: number): Share {
    const bucket = this.#buckets.get(key) ?? { tokens: this.#burst, at: now }
    const tokens = Math.min(this.#burst, bucket.tokens + (now - bucket.at) * this.#perMs)
    const isAllowed = tokens >= 1
    bucket.tokens = isAllowed ? tokens - 1 : tokens
    bucket.at = now
    // Behind all others: the first one is the least recently used.
    this.#buckets.delete(key)
    this.#buckets.set(key, bucket)
    const [oldest] = this.#buckets.keys()
    if (this.#buckets.size > this.#maxKeys && oldest !== undefined) this.#buckets.delete(oldest)
    const waitMs = Math.max(0, (1 - bucket.tokens) / this.#perMs)
    return { isAllowed, remaining: Math.floor(bucket.tokens), waitMs }
  }
}
