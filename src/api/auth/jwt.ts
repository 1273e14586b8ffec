/** Callers known by a JSON Web Token. The only file that imports jose, where such a hook is made. @module */
import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import type { JWTVerifyGetKey } from 'jose'
import {
  expected,
  Forbidden,
  InvalidArgument,
  Overloaded,
  Unauthorized,
} from '../../core/errors.ts'
import {
  fromCode,
  listOf,
  type OptionsOf,
  readOptions,
  type SettingsOf,
  whole,
} from '../../core/option.ts'
import type { Caller, Context } from '../../http/context.ts'
import { cookieOf } from '../../http/cookies.ts'
import { metadataUrlOf, type RequestHook } from '../hooks.ts'
import { bearerOf, cookieOption, cookieScheme } from './bearer.ts'

const isAsymmetric = (name: unknown) =>
  /^(?:[RPE]S\d+|EdDSA|Ed25519|ML-DSA-\d+)$/.test(String(name))
const asymmetric = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
]
const textOrTexts = fromCode<string | readonly string[]>(
  'a text or a list of them',
  (value) => typeof value === 'string' || (Array.isArray(value) && value.length > 0),
)

/** The options of {@link jwt}. */
export const jwtOptions = {
  /** A URL or a file with the issuer's JSON Web Key Set. */
  jwks: fromCode<URL | string>(
    'a URL or a path',
    (value) => value instanceof URL || typeof value === 'string',
  ).required(),
  /** Accepted `iss`. */
  issuer: textOrTexts.required(),
  /**
   * Accepted `aud`.
   *
   * @default `resource`
   */
  audience: textOrTexts,
  /**
   * The URL that tokens are for, as `https://shop.example/mcp`. With it the server tells clients where to log in: by
   * RFC 9728, and by `www-authenticate`.
   */
  resource: fromCode<string>(
    'a URL of http or https without #',
    (value) => typeof value === 'string' && /^https?:\/\/[^#]+$/.test(value) && URL.canParse(value),
  ),
  /**
   * Allowed clock difference. **Units**: seconds.
   *
   * @default 5
   */
  clockTolerance: whole(0).or(5),
  /**
   * Asymmetric algorithms: with a symmetric one, the published keys would be secrets.
   *
   * @default those of RFC 7518 and RFC 8037
   */
  algorithms: fromCode<readonly string[]>(
    'asymmetric ones such as ES256',
    (value) => Array.isArray(value) && value.length > 0 && value.every(isAsymmetric),
  ).or(asymmetric),
  /** What the claim `scope` or `scp` must hold; else 403. */
  scopes: listOf<string>('a list of scopes', (scope) => typeof scope === 'string').or([]),
  /**
   * Verified tokens to remember until they expire.
   *
   * @default 1000
   */
  cacheSize: whole(0).or(1000),
  /**
   * Cookie with the token if no header has it, for browsers' EventSource. Default: no cookie. Other sites can cause
   * requests with cookies: set it with `httpOnly`, `secure` and `sameSite: 'strict'`.
   */
  cookie: cookieOption,
}

/** Options of {@link jwt}. */
export interface JwtOptions extends OptionsOf<typeof jwtOptions> {}

/** **Units**: seconds since the epoch. */
interface Verified {
  readonly caller: Caller
  readonly notBefore: number
  readonly expires: number
}

/**
 * A withdrawn token is valid until it expires.
 *
 * @returns a hook that admits callers with a valid `authorization: Bearer` token that expires, and
 * sets `ctx.state.caller` to subject and claims.
 * @throws InvalidArgument. Others get 401, without a scope 403; 503 if the URL of the keys does not
 * answer.
 */
export function jwt(options: JwtOptions): RequestHook {
  const settings = readOptions('jwt', options, jwtOptions)
  const { clockTolerance, cacheSize, scopes, cookie, issuer, resource } = settings
  const audience = settings.audience ?? resource
  if (audience === undefined)
    throw new InvalidArgument('expected audience of jwt, or its resource, received neither')
  // By digest; a full cache drops the oldest.
  const tokens = new Map<string, Verified>()
  const challengeOf = challenges(resource, scopes)
  const verify = verifier({ ...settings, audience }, challengeOf('error="invalid_token"'))
  const admit = (ctx: Context, { caller }: Verified) => {
    const held = scopesOf(caller.claims ?? {})
    const missing = scopes.filter((scope) => !held.includes(scope))
    if (missing.length > 0) {
      throw new Forbidden(
        `expected a token with the scope ${missing.join(' ')}, received one without`,
        { challenge: challengeOf('error="insufficient_scope"') },
      )
    }
    ctx.state.caller = caller
  }
  const places = `authorization: Bearer${cookie === undefined ? '' : ` or the cookie ${cookie}`}`
  const hook: RequestHook = (ctx) => {
    const token = bearerOf(ctx.headers) ?? cookieOf(ctx.headers, cookie)
    if (token === undefined)
      throw new Unauthorized(`expected a token in ${places}, received none`, {
        challenge: challengeOf(),
      })
    const key = createHash('sha256').update(token).digest('base64')
    const now = Date.now() / 1000
    const known = tokens.get(key)
    const isCurrent = known !== undefined && known.expires > now - clockTolerance
    if (isCurrent && known.notBefore <= now + clockTolerance) return admit(ctx, known)
    tokens.delete(key)
    return verify(token).then((verified) => {
      tokens.set(key, verified)
      const [oldest] = tokens.keys()
      if (tokens.size > cacheSize) tokens.delete(oldest)
      admit(ctx, verified)
    })
  }
  const scheme = { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', scopes } as const
  return Object.assign(hook, {
    security: { jwt: scheme, ...cookieScheme(cookie, scopes) },
    ...(resource !== undefined && {
      protectedResource: { resource, issuers: [issuer].flat(), scopes },
    }),
  })
}

/**
 * @returns what tells a client in `www-authenticate` what it lacks.
 * @see RFC 6750 section 3, RFC 9728 section 5.1.
 */
function challenges(resource: string | undefined, scopes: readonly string[]) {
  const where = resource && `resource_metadata="${metadataUrlOf(resource)}"`
  return (error?: string): string => {
    const isTold = where !== undefined || error?.includes('scope')
    const scope = isTold && scopes.length > 0 && `scope="${scopes.join(' ')}"`
    return ['Bearer', [error, scope, where].filter(Boolean).join(', ')].join(' ').trimEnd()
  }
}

type VerifierSettings = SettingsOf<typeof jwtOptions> & {
  readonly audience: string | readonly string[]
}

function verifier(
  { jwks, issuer, audience, clockTolerance, algorithms }: VerifierSettings,
  challenge: string,
): (token: string) => Promise<Verified> {
  // At once: Node's `import` fails for good after one failure, as without a free file descriptor.
  const ready = import('jose').then((jose) => [jose, keysOf(jose, jwks)] as const)
  // The first token reports the error.
  ready.catch(() => {})
  return async (token) => {
    const [jose, keys] = await ready
    try {
      const { payload } = await jose.jwtVerify(token, keys, {
        issuer: [issuer].flat(),
        audience: [audience].flat(),
        clockTolerance,
        requiredClaims: ['exp'],
        algorithms: [...algorithms],
      })
      const { sub = '', exp = 0, nbf = 0 } = payload
      if (typeof sub !== 'string')
        throw new jose.errors.JWTInvalid(expected('a text', 'the claim sub', sub))
      return { caller: { name: sub, claims: payload }, notBefore: nbf, expires: exp }
    } catch (cause) {
      const { JOSEError, JWKSTimeout } = jose.errors
      if (
        !(cause instanceof JOSEError) ||
        cause instanceof JWKSTimeout ||
        cause.code === 'ERR_JOSE_GENERIC'
      )
        throw new Overloaded('the keys of the issuer cannot be read', { cause })
      throw new Unauthorized(`expected a valid token, received one that is not: ${cause.message}`, {
        cause,
        challenge,
      })
    }
  }
}

function keysOf(jose: typeof import('jose'), jwks: URL | string): JWTVerifyGetKey {
  const file = typeof jwks === 'string' && /^https?:/.test(jwks) ? new URL(jwks) : jwks
  if (file instanceof URL && file.protocol !== 'file:')
    return jose.createRemoteJWKSet(file, { timeoutDuration: 5_000 })
  let changed = 0
  let keys: JWTVerifyGetKey | undefined
  return async (header, token) => {
    // Reads changed keys.
    const { mtimeMs } = statSync(file)
    if (keys === undefined || mtimeMs !== changed) {
      keys = jose.createLocalJWKSet(JSON.parse(readFileSync(file, 'utf8')))
      changed = mtimeMs
    }
    return keys(header, token)
  }
}

function scopesOf({ scope, scp }: Readonly<Record<string, unknown>>): readonly unknown[] {
  const value = scope ?? scp
  if (typeof value === 'string') return value.split(' ')
  return Array.isArray(value) ? value : []
}
