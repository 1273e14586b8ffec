import { createHash, timingSafeEqual } from 'node:crypto'
import { InvalidArgument, Unauthorized } from '../../core/errors.ts'
import { checkOptions, checkThat } from '../../core/options.ts'
import type { Context } from '../../http/context.ts'
import { cookieOf } from '../../http/cookies.ts'
import { isHeaderName } from '../../http/message.ts'
import type { RequestHook } from '../hooks.ts'
import { bearerOf, checkCookie, cookieScheme } from './bearer.ts'

/** The SHA-256 of a key in hexadecimal, alone or with the caller's name. */
export type ApiKey = string | { readonly name: string; readonly hash: string }

/** Options of {@link apiKey}. */
export interface ApiKeyOptions {
  /** `printf %s KEY | sha256sum` gives a hash. Several keys allow a change of keys. */
  readonly keys: readonly ApiKey[]
  /**
   * Header with the key, beside `authorization: Bearer`.
   *
   * @default `x-api-key`
   */
  readonly header?: string
  /**
   * Cookie with the key if no header has it, for browsers' EventSource. Default: no cookie. Other sites can cause
   * requests with cookies: set it with `httpOnly`, `secure` and `sameSite: 'strict'`.
   */
  readonly cookie?: string
}

/**
 * Others get 401 (UNAUTHENTICATED).
 *
 * @returns a hook that admits callers with a key, and sets `ctx.state.caller`, whose name is the
 * key's or the hash's first eight digits.
 * @throws InvalidArgument.
 * @example
 * `new Service('iris', { auth: apiKey({ keys: process.env.API_KEY_HASHES!.split(',') }) })`
 */
export function apiKey(options: ApiKeyOptions): RequestHook {
  checkOptions('apiKey', options, ['keys', 'header', 'cookie'])
  const { keys, header = 'x-api-key', cookie } = options
  checkThat(Array.isArray(keys) && keys.length > 0, 'a list of hashes', 'keys of apiKey', keys)
  checkThat(
    typeof header === 'string' && isHeaderName(header),
    'the name of a header',
    'header of apiKey',
    header,
  )
  checkCookie(cookie, 'apiKey')
  const known = keys.map(parseKey)
  const name = header.toLowerCase()
  const places =
    cookie === undefined
      ? `${name} or authorization`
      : `${name}, authorization or the cookie ${cookie}`
  const hook = (ctx: Context) => {
    const { headers } = ctx
    const key =
      headers.get(name) ??
      bearerOf(headers) ??
      (cookie === undefined ? undefined : cookieOf(headers, cookie))
    if (key === undefined) throw new Unauthorized(`expected a key in ${places}, received none`)
    const digest = createHash('sha256').update(key).digest()
    let caller: string | undefined
    // All of them, so that the time tells nothing about the keys.
    for (const each of known) if (timingSafeEqual(each.digest, digest)) caller = each.name
    if (caller === undefined)
      throw new Unauthorized('expected a known key, received another one', {
        challenge: 'Bearer error="invalid_token"',
      })
    ctx.state.caller = { name: caller }
  }
  const security = {
    apiKey: { type: 'apiKey', in: 'header', name },
    bearer: { type: 'http', scheme: 'bearer' },
    ...cookieScheme(cookie),
  } as const
  return Object.assign(hook, { security })
}

function parseKey(key: ApiKey): { readonly name: string; readonly digest: Buffer } {
  const { name, hash } =
    typeof key === 'string' ? { name: key.slice(0, 8), hash: key } : (key ?? {})
  // Not shown in the message: it may be the key itself.
  if (
    typeof hash !== 'string' ||
    !/^[\da-f]{64}$/i.test(hash) ||
    typeof name !== 'string' ||
    name === ''
  )
    throw new InvalidArgument(
      'expected the SHA-256 of each key in hexadecimal, or { name, hash }, for keys of apiKey',
    )
  return { name, digest: Buffer.from(hash, 'hex') }
}
