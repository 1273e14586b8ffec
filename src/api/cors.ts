import { InvalidArgument } from '../core/errors.ts'
import {
  checkedLater,
  listOf,
  type OptionsOf,
  onOrOff,
  readOptions,
  whole,
} from '../core/option.ts'
import { checkThat } from '../core/options.ts'
import { type HeaderLine, isHeaderName } from '../http/message.ts'

const names = listOf<string>(
  'names of methods or headers',
  (name) => typeof name === 'string' && isHeaderName(name),
)

/** The options of CORS. */
export const corsOptions = {
  /** `*`, or origins such as `https://app.example.org`; other pages cannot read the answers. */
  origin: checkedLater<string | readonly string[]>().required(),
  /** @default the methods of the path */
  methods: names,
  /**
   * Request headers that pages may send.
   *
   * @default all that they ask for
   */
  headers: names,
  /** Response headers that pages may read, beside x-request-id, retry-after, and those of rate limits and jobs. */
  exposedHeaders: names.or([]),
  /**
   * Allows cookies and HTTP authentication; not with `*`.
   *
   * @default false
   */
  credentials: onOrOff.or(false),
  /**
   * How long browsers may cache a preflight. **Units**: seconds.
   *
   * @default 600
   */
  maxAge: whole(0).or(600),
}

/**
 * Which pages of other origins may call a service, and how.
 *
 * @see Fetch standard, "CORS protocol".
 */
export interface CorsOptions extends OptionsOf<typeof corsOptions> {}

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
  const settings = readOptions('cors', options, corsOptions)
  const { methods: own, headers: allowed, credentials, maxAge } = settings
  const origins = parseOrigins(settings.origin)
  if (credentials && origins === '*')
    throw new InvalidArgument(
      'credentials of cors need a list of origins: any page could act as its visitor',
    )
  const readable = [...exposed, ...settings.exposedHeaders].join(', ')
  const shared: readonly HeaderLine[] = [
    ['access-control-expose-headers', readable],
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
    checkThat(
      isOrigin(each),
      "'*' or an origin like https://app.example.org",
      'origin of cors',
      each,
    )
  }
  return new Set(list)
}

/** Whether a value is an origin as browsers write it: without a path, a slash or a default port. */
export function isOrigin(value: unknown): boolean {
  return typeof value === 'string' && URL.canParse(value) && new URL(value).origin === value
}
