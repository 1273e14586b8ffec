/**
 * Limits requests per caller. Own code: rate-limiter-flexible answers by promises, which delays each body, and its
 * fixed windows admit twice the limit at their border. @module
 */

import { TooManyRequests } from '../../core/errors.ts'
import {
  fromCode,
  type OptionsOf,
  oneOf,
  plain,
  readOptions,
  text,
  whole,
} from '../../core/option.ts'
import type { Context } from '../../http/context.ts'
import { ownerOf } from '../caller-identity.ts'
import type { RequestHook } from '../hooks.ts'
import { type Share, sharedBuckets } from './shared-buckets.ts'
import { tokenBuckets } from './token-buckets.ts'

/** The options of {@link rateLimit}. */
export const rateLimitOptions = {
  /** Average requests a second, also below 1: for each worker process, with a `store` for all of them. */
  rate: fromCode<number>(
    'a number above 0',
    (rate) => Number.isFinite(rate) && (rate as number) > 0,
  ).required(),
  /**
   * Requests at once, after a pause.
   *
   * @default `rate`, at least 1
   */
  burst: whole(1),
  /**
   * Whom to count.
   *
   * @default issuer and name of the caller, else the address; of IPv6 the first 64 bits
   */
  by: fromCode<'caller' | 'address' | ((ctx: Context) => string)>(
    "'caller', 'address' or a function",
    (by) => by === 'caller' || by === 'address' || typeof by === 'function',
  ).or('caller'),
  /**
   * `'auth'` also limits wrong keys, but knows no caller.
   *
   * @default after auth
   */
  before: oneOf(['auth']),
  /**
   * Maximum number of counted callers; drops the least recently seen.
   *
   * @default 10,000
   */
  maxKeys: whole(1).or(10_000),
  /**
   * `redis://…` of a server that counts for all workers and machines. While it is away each worker counts alone.
   * Needs the package ioredis.
   */
  store: text('<url>', 'redis://HOST'),
  /**
   * Name of the limit in headers and in the store, where limits of one name are one.
   *
   * @default `default`
   */
  name: plain<string>(
    { type: 'string', pattern: '^[A-Za-z0-9_.-]+$' },
    '<name>',
    'letters, digits, _ . and -',
  ).or('default'),
}

/** Options of {@link rateLimit}. */
export interface RateLimitOptions extends OptionsOf<typeof rateLimitOptions> {}

/**
 * @returns a hook that answers 429 with `retry-after` above the limit, and tells the rest by
 * `RateLimit` and `RateLimit-Policy`.
 * @throws InvalidArgument.
 * @example
 * `svc.onRequest(rateLimit({ rate: 10, burst: 50 }))`
 * @see draft-ietf-httpapi-ratelimit-headers-10.
 */
export function rateLimit(options: RateLimitOptions): RequestHook {
  const settings = readOptions('rateLimit', options, rateLimitOptions)
  const { rate, by, before, maxKeys, store, name } = settings
  const burst = settings.burst ?? Math.max(1, Math.ceil(rate))
  const take = tokenBuckets(rate, burst, maxKeys)
  const takeShared = store === undefined ? undefined : sharedBuckets(store, name, rate, burst)
  const policy = `"${name}";q=${burst};w=${Math.ceil(burst / rate)}`
  const keyOf = typeof by === 'function' ? by : { address: addressOf, caller: callerOf }[by]
  const answer = (ctx: Context, { isAllowed, remaining, waitMs }: Share) => {
    const seconds = Math.ceil(waitMs / 1000)
    ctx.response.setHeader('ratelimit-policy', policy)
    ctx.response.setHeader('ratelimit', `"${name}";r=${remaining};t=${seconds}`)
    if (!isAllowed)
      throw new TooManyRequests('expected fewer requests', {
        retryAfterSeconds: Math.max(1, seconds),
      })
  }
  const hook: RequestHook = (ctx) => {
    const key = keyOf(ctx)
    const own = () => take(key, performance.now())
    if (takeShared === undefined) return answer(ctx, own())
    return takeShared(key).then((share) => answer(ctx, share ?? own()))
  }
  return before === undefined ? hook : Object.assign(hook, { before })
}

function addressOf(ctx: Context): string {
  const { remoteAddress = 'unknown' } = ctx
  return `address ${remoteAddress.includes(':') ? networkOf(remoteAddress) : remoteAddress}`
}

/** @returns the first 64 bits of an IPv6 address, which usually belong to one user. */
function networkOf(address: string): string {
  const [left, right] = address.split('::').map((part) => (part === '' ? [] : part.split(':')))
  const zeros =
    right === undefined
      ? []
      : new Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0')
  return [...left, ...zeros, ...(right ?? [])].slice(0, 4).join(':')
}

function callerOf(ctx: Context): string {
  const owner = ownerOf(ctx)
  return owner === undefined ? addressOf(ctx) : `caller ${owner}`
}
