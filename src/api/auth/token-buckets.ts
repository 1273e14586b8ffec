/** The rest of a caller's share. */
export interface Share {
  readonly isAllowed: boolean
  /** Whole tokens left. */
  readonly remaining: number
  /** Until the next whole token. **Units**: milliseconds. */
  readonly waitMs: number
}

interface Bucket {
  tokens: number
  /** When `tokens` was counted. **Units**: milliseconds. */
  at: number
}

/** A bucket for each key, filled at a steady rate. Above a number of keys the least recently used is dropped. */
export class TokenBuckets {
  readonly #perMs: number
  readonly #burst: number
  readonly #maxKeys: number
  readonly #buckets = new Map<string, Bucket>()

  /** `rate`: tokens a second; `burst`: size of a bucket. */
  constructor(rate: number, burst: number, maxKeys: number) {
    this.#perMs = rate / 1000
    this.#burst = burst
    this.#maxKeys = maxKeys
  }

  /** Takes a token. `now`: of a steady clock. **Units**: milliseconds. */
  take(key: string, now: number): Share {
    const bucket = this.#buckets.get(key) ?? { tokens: this.#burst, at: now }
    const tokens = Math.min(this.#burst, bucket.tokens + (now - bucket.at) * this.#perMs)
    const isAllowed = tokens >= 1
    bucket.tokens = isAllowed ? tokens - 1 : tokens
    bucket.at = now
    // Moves it to the end: the first one is the least recently used.
    this.#buckets.delete(key)
    this.#buckets.set(key, bucket)
    const [oldest] = this.#buckets.keys()
    if (this.#buckets.size > this.#maxKeys && oldest !== undefined) this.#buckets.delete(oldest)
    const waitMs = Math.max(0, (1 - bucket.tokens) / this.#perMs)
    return { isAllowed, remaining: Math.floor(bucket.tokens), waitMs }
  }
}
