/** Callers known by a key. @module */
import { createHash, timingSafeEqual } from 'node:crypto'
import { expected, InvalidArgument, Unauthorized } from '../../core/errors.ts'
import { checkOptions } from '../../core/options.ts'
import type { Context } from '../../http/context.ts'
import { cookieOf } from '../../http/cookies.ts'
import { isHeaderName } from '../../http/message.ts'
import type { RequestHook } from '../hooks.ts'
import { bearerOf, checkCookie, cookieScheme } from './bearer.ts'

/** A key that callers may have: the SHA-256 of its text in hexadecimal, alone or with the caller's name. */
export type ApiKey = string | { readonly name: string; readonly hash: string }

/** Options of {@link apiKey}. */
export interface ApiKeyOptions {
  /** `printf %s KEY | sha256sum` gives the hash of a key; more than one, so that keys can be changed. */
  readonly keys: readonly ApiKey[]
  /** Header that carries the key, beside `authorization: Bearer`. Default `x-api-key`. */
  readonly header?: string
  /**
   * Cookie that carries the key where neither header does: browsers' EventSource sends no headers. Default: none.
   * Browsers send cookies with requests that other sites cause, too: set the cookie with `httpOnly`, `secure` and
   * `sameSite: 'strict'`.
   */
  readonly cookie?: string
}

/**
 * Returns a hook that lets in whoever has one of the keys, and leaves its name in `ctx.state.caller`; the name of a
 * bare hash is its first eight digits. **Errors**: InvalidArgument for a wrong option. Requests without a key or with a
 * wrong one get 401, over gRPC UNAUTHENTICATED.
 * **Example** `new Service('iris', { auth: apiKey({ keys: process.env.API_KEY_HASHES!.split(',') }) })`
 */
export function apiKey(options: ApiKeyOptions): RequestHook {
  checkOptions('apiKey', options, ['keys', 'header', 'cookie'])
  const { keys, header = 'x-api-key', cookie } = options
  if (!Array.isArray(keys) || keys.length === 0)
    throw new InvalidArgument(expected('a list of hashes', 'keys of apiKey', keys))
  if (typeof header !== 'string' || !isHeaderName(header))
    throw new InvalidArgument(expected('the name of a header', 'header of apiKey', header))
  checkCookie(cookie, 'apiKey')
  const known = keys.map(parseKey)
  const name = header.toLowerCase()
  const places = cookie === undefined ? `${name} or authorization` : `${name}, authorization or the cookie ${cookie}`
  const hook = (ctx: Context) => {
    const { headers } = ctx
    const key = headers.get(name) ?? bearerOf(headers) ?? (cookie === undefined ? undefined : cookieOf(headers, cookie))
    if (key === undefined) throw new Unauthorized(`expected a key in ${places}, received none`)
    const digest = createHash('sha256').update(key).digest()
    let caller: string | undefined
    // All of them, so that the time does not tell which one is near.
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
  const { name, hash } = typeof key === 'string' ? { name: key.slice(0, 8), hash: key } : (key ?? {})
  // The value is not shown: it may be the key itself, written here by mistake.
  if (typeof hash !== 'string' || !/^[\da-f]{64}$/i.test(hash) || typeof name !== 'string' || name === '')
    throw new InvalidArgument('expected the SHA-256 of each key in hexadecimal, or { name, hash }, for keys of apiKey')
  return { name, digest: Buffer.from(hash, 'hex') }
}
