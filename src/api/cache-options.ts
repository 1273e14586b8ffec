/** The option that lets an API answer equal requests from memory. @module */
import { duration, listOf, type OptionsOf, readOptions, text, whole } from '../core/option.ts'
import { type SpareRedis, spareRedis } from '../core/redis.ts'

/** The options of a cache. */
export const cacheOptions = {
  /** How long an answer is given again. */
  ttl: duration.required(),
  /**
   * All answers together, in each worker process; drops the least recently used.
   *
   * @default 64 MiB
   */
  maxBytes: whole(1).or(64 * 1024 * 1024),
  /** Request headers that the function reads from its context: descriptors name theirs by `readsHeaders`. */
  vary: listOf<string>('a list of header names', (name) => typeof name === 'string').or([]),
  /** `redis://…` of a server that keeps answers up to 1 MiB for all workers and machines. Needs ioredis. */
  store: text('<url>', 'redis://HOST'),
}

/** How the answers of an API are kept. */
export interface CacheOptions extends OptionsOf<typeof cacheOptions> {}

/** {@link CacheOptions} with defaults. */
export interface CacheSettings {
  readonly ttlMs: number
  readonly maxBytes: number
  readonly vary: readonly string[]
  /** @internal */
  readonly redis: SpareRedis | undefined
}

/** @throws InvalidArgument. */
export function parseCache(place: string, given: CacheOptions): CacheSettings {
  const { ttl, maxBytes, vary, store } = readOptions(place, given, cacheOptions)
  return {
    ttlMs: ttl,
    maxBytes,
    vary: vary.map((name) => name.toLowerCase()),
    // Loaded here, so that builds pack it.
    redis: store === undefined ? undefined : spareRedis(store, place),
  }
}
