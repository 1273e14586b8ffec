import { createHash, timingSafeEqual } from 'node:crypto'
import { InvalidArgument, Unauthorized } from '../../core/errors.ts'
import { listOf, type OptionsOf, readOptions } from '../../core/option.ts'
import { checkThat } from '../../core/options.ts'
import type { Context } from '../../http/context.ts'
import { cookieOf } from '../../http/cookies.ts'
import type { RequestHook } from '../hooks.ts'
import { bearerOf, cookieOption, cookieScheme, headerOption } from './bearer.ts'

/** The SHA-256 of a key in hexadecimal, alone or with the caller's name. */
export type ApiKey = string | { readonly name: string; readonly hash: string }

/** The options of {@link apiKey}. */
export const apiKeyOptions = {
  /** `printf %s KEY | sha256sum` gives a hash. Several keys allow a change of keys. */
  keys: listOf<ApiKey>('a list of hashes', (key) => key !== undefined).required(),
  /**
   * Header with the key, beside `authorization: Bearer`.
   *
   * @default `x-api-key`
   */
  header: headerOption.or('x-api-key'),
  /**
   * Cookie with the key if no header has it, for browsers' EventSource. Default: no cookie. Other sites can cause
   * requests with cookies: set it with `httpOnly`, `secure` and `sameSite: 'strict'`.
   */
  cookie: cookieOption,
}

/** Options of {@link apiKey}. */
export interface ApiKeyOptions extends OptionsOf<typeof apiKeyOptions> {}

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
  const { keys, header, cookie } = readOptions('apiKey', options, apiKeyOptions)
  checkThat(keys.length > 0, 'a list of hashes', 'keys of apiKey', keys)
  const known = keys.map(parseKey)
  const name = header.toLowerCase()
  const places =
    cookie === undefined
      ? `${name} or authorization`
      : `${name}, authorization or the cookie ${cookie}`
  const hook = (ctx: Context) => {
    const { headers } = ctx
    const key = headers.get(name) ?? bearerOf(headers) ?? cookieOf(headers, cookie)
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
