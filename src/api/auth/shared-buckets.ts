import { createHash } from 'node:crypto'
import { type RedisScript, redisScript, spareRedis } from '../../core/redis.ts'
import type { tokenBuckets } from './token-buckets.ts'

/** The rest of a caller's share. */
export type Share = ReturnType<ReturnType<typeof tokenBuckets>>

/**
 * The generic cell rate algorithm, which keeps one number for each caller: when its bucket is full again. Arguments:
 * key, milliseconds for a token, tokens. Returns the room of the bucket in milliseconds; below 0 the token is refused.
 */
const gcra = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local full = math.max(now, tonumber(redis.call('GET', ARGV[1]) or 0)) + ARGV[2]
local room = ARGV[2] * ARGV[3] - (full - now)
if room >= 0 then redis.call('SET', ARGV[1], string.format('%.3f', full), 'PX', math.ceil(full - now)) end
return string.format('%.3f', room)
`

/**
 * @returns what takes a token of a key's bucket in Redis, which all processes with this `name`
 * share; undefined if the server is away.
 * @throws InvalidArgument, MissingDependencyException.
 */
export function sharedBuckets(
  url: string,
  name: string,
  rate: number,
  burst: number,
): (key: string) => Promise<Share | undefined> {
  const redis = spareRedis(url, 'rateLimit')
  const perToken = 1000 / rate
  let script: RedisScript<string> | undefined
  return async (key) => {
    const hash = createHash('sha256').update(key).digest('base64url')
    const answer = await redis((client) => {
      script ??= redisScript(client, 'take', gcra)
      return script(`serving-rate:${name}:${hash}`, perToken, burst)
    })
    if (answer === undefined) return undefined
    const room = Number(answer)
    const isAllowed = room >= 0
    const waitMs = isAllowed ? Math.max(0, perToken - room) : -room
    return { isAllowed, remaining: isAllowed ? Math.floor(room / perToken) : 0, waitMs }
  }
}
