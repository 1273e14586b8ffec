import { InvalidArgument } from '../core/errors.ts'
import { checkOptions, checkThat } from '../core/options.ts'
import { type HeaderLine, isHeaderName } from '../http/message.ts'

/**
 * Which pages of other origins may call a service, and how.
 *
 * @see Fetch standard, "CORS protocol".
 */
export interface CorsOptions {
  /** `*`, or origins such as `https://app.example.org`; other pages cannot read the answers. */
  readonly origin: string | readonly string[]
  /** @default the methods of the path */
  readonly methods?: readonly string[]
  /**
   * Request headers that pages may send.
   *
   * @default all that they ask for
   */
  readonly headers?: readonly string[]
  /** Response headers that pages may read, beside x-request-id, retry-after, and those of rate limits and jobs. */
  readonly exposedHeaders?: readonly string[]
  /** Allows cookies and HTTP authentication; not with `*`. Default false. */
  readonly credentials?: boolean
  /**
   * How long browsers may cache a preflight. **Units**: seconds.
   *
   * @default 600
   */
  readonly maxAge?: number
}

const exposed = [
  'x-request-id',
  'retry-after',
  'ratelimit',
  'ratelimit-policy',
  'location',
  'preference-applied',
]

/** The CORS protocol for one set of options. */
export type Cors = ReturnType<typeof corsBy>

/** @throws InvalidArgument naming the wrong option. */
export function corsBy(options: CorsOptions) {
  checkOptions('cors', options, [
    'origin',
    'methods',
    'headers',
    'exposedHeaders',
    'credentials',
    'maxAge',
  ])
  const { methods: own, exposedHeaders = [], credentials = false, maxAge = 600 } = options
  const origins = parseOrigins(options.origin)
  if (credentials && origins === '*')
    throw new InvalidArgument(
      'credentials of cors need a list of origins: any page could act as its visitor',
    )
  checkThat(
    Number.isSafeInteger(maxAge) && maxAge >= 0,
    'a whole number of seconds',
    'maxAge of cors',
    maxAge,
  )
  if (own !== undefined) parseNames(own, 'methods')
  const allowed = options.headers === undefined ? undefined : parseNames(options.headers, 'headers')
  const names = [...exposed, ...parseNames(exposedHeaders, 'exposedHeaders')].join(', ')
  const shared: readonly HeaderLine[] = [
    ['access-control-expose-headers', names],
    ...(credentials ? ([['access-control-allow-credentials', 'true']] as const) : []),
  ]
  return {
    /** Whether pages of this origin may call. */
    allows: (origin: string): boolean => origins === '*' || origins.has(origin),
    /** @returns the lines of every answer to a request of that Origin, if any. */
    linesFor(origin: string | undefined): readonly HeaderLine[] {
      if (origins === '*') return [['access-control-allow-origin', '*'], ...shared]
      // Also without an origin: a cache must not reuse that answer.
      const vary: HeaderLine = ['vary', 'Origin']
      if (origin === undefined || !origins.has(origin)) return [vary]
      return [['access-control-allow-origin', origin], vary, ...shared]
    },
    /**
     * `asked`: its Access-Control-Request-Headers.
     *
     * @returns more lines for a preflight.
     */
    preflightLines(methods: readonly string[], asked = ''): readonly HeaderLine[] {
      const names = allowed ?? asked.split(',').map((name) => name.trim())
      const headers = names.filter(isHeaderName).join(', ')
      return [
        ['access-control-allow-methods', (own ?? methods).join(', ')],
        ...(headers === '' ? [] : ([['access-control-allow-headers', headers]] as const)),
        ['access-control-max-age', String(maxAge)],
        ['vary', 'Access-Control-Request-Method, Access-Control-Request-Headers'],
      ]
    },
  }
}

function parseOrigins(origin: unknown): ReadonlySet<string> | '*' {
  if (origin === '*') return '*'
  const list = Array.isArray(origin) ? origin : [origin]
  for (const each of list) {
    // As browsers write it: without a path, a slash or a default port.
    const isOrigin = typeof each === 'string' && URL.canParse(each) && new URL(each).origin === each
    checkThat(isOrigin, "'*' or an origin like https://app.example.org", 'origin of cors', each)
  }
  return new Set(list)
}

function parseNames(names: readonly string[], option: string): readonly string[] {
  const ok =
    Array.isArray(names) && names.every((name) => typeof name === 'string' && isHeaderName(name))
  checkThat(ok, 'a list of names', `${option} of cors`, names)
  return names
}
