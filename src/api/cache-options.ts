/** The option that lets an API answer equal requests from memory. @module */
import { checkAtLeast, checkOptions, checkThat } from '../core/options.ts'
import { type SpareRedis, spareRedis } from '../core/redis.ts'
import { type Duration, parseDuration } from '../core/text/units.ts'

/** How the answers of an API are kept. */
export interface CacheOptions {
  /** How long an answer is given again. */
  readonly ttl: Duration
  /**
   * All answers together, in each worker process; drops the least recently used.
   *
   * @default 64 MiB
   */
  readonly maxBytes?: number
  /** Request headers that the function reads from its context: descriptors name theirs by `readsHeaders`. */
  readonly vary?: readonly string[]
  /** `redis://…` of a server that keeps answers up to 1 MiB for all workers and machines. Needs ioredis. */
  readonly store?: string
}

/** {@link CacheOptions} with defaults. */
export interface CacheSettings {
  readonly ttlMs: number
  readonly maxBytes: number
  readonly vary: readonly string[]
  /** @internal */
  readonly redis: SpareRedis | undefined
}

/**
 * @returns undefined for an API without a cache.
 * @throws InvalidArgument.
 */
export function parseCache(
  given: CacheOptions | undefined,
  api: string,
): CacheSettings | undefined {
  return given === undefined ? undefined : settingsOf(given, api)
}

function settingsOf(given: CacheOptions, api: string): CacheSettings {
  const options = checkOptions(`cache of ${api}`, given, ['ttl', 'maxBytes', 'vary', 'store'])
  const { ttl, maxBytes = 64 * 1024 * 1024, vary = [], store } = options
  const isList = Array.isArray(vary) && vary.every((name) => typeof name === 'string')
  checkThat(isList, 'a list of header names', `vary of ${api}`, vary)
  return {
    ttlMs: parseDuration(`ttl of ${api}`, ttl),
    maxBytes: checkAtLeast(`maxBytes of ${api}`, maxBytes, 1),
    vary: vary.map((name) => name.toLowerCase()),
    // Loaded here, so that builds pack it.
    redis: store === undefined ? undefined : spareRedis(store, `cache of ${api}`),
  }
}
