/**
 * Buckets of `burst` tokens are filled at `rate` a second; above `maxKeys` the least recently used
 * is dropped. **Units**: milliseconds.
 *
 * @returns what takes a token of a key's bucket, at a time of a steady clock, and tells whether
 * there was one, how many whole ones are left, and how long the next one takes.
 */
export function tokenBuckets(rate: number, burst: number, maxKeys: number) {
  const perMs = rate / 1000
  const buckets = new Map<string, { readonly tokens: number; readonly at: number }>()
  return (key: string, now: number) => {
    const before = buckets.get(key) ?? { tokens: burst, at: now }
    const filled = Math.min(burst, before.tokens + (now - before.at) * perMs)
    const isAllowed = filled >= 1
    const tokens = isAllowed ? filled - 1 : filled
    // Moves it to the end: the first one is the least recently used.
    buckets.delete(key)
    buckets.set(key, { tokens, at: now })
    const [oldest] = buckets.keys()
    if (buckets.size > maxKeys) buckets.delete(oldest)
    return { isAllowed, remaining: Math.floor(tokens), waitMs: Math.max(0, (1 - tokens) / perMs) }
  }
}
