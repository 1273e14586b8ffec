import { InvalidArgument } from '../core/errors.ts'
import { checkOptions, checkThat } from '../core/options.ts'
import { type HeaderLine, isHeaderName } from '../http/message.ts'

/** Which pages of other origins may call a service, and how. **Source**: Fetch standard, "CORS protocol". */
export interface CorsOptions {
  /** `*`, or origins such as `https://app.example.org`; other pages cannot read the answers. */
  readonly origin: string | readonly string[]
  /** Default: the methods of the path. */
  readonly methods?: readonly string[]
  /** Request headers that pages may send. Default: all that they ask for. */
  readonly headers?: readonly string[]
  /** Response headers that pages may read, beside x-request-id, retry-after, and those of rate limits and jobs. */
  readonly exposedHeaders?: readonly string[]
  /** Allows cookies and HTTP authentication; not with `*`. Default false. */
  readonly credentials?: boolean
  /** How long browsers may cache a preflight. **Units**: seconds. Default 600. */
  readonly maxAge?: number
}

const exposed = ['x-request-id', 'retry-after', 'ratelimit', 'ratelimit-policy', 'location', 'preference-applied']

/** The CORS protocol for one set of options. */
export class Cors {
  readonly methods: readonly string[] | undefined
  readonly #origins: ReadonlySet<string> | '*'
  readonly #headers: readonly string[] | undefined
  readonly #maxAge: number
  readonly #shared: readonly HeaderLine[]

  /** **Errors**: InvalidArgument naming the wrong option. */
  constructor(options: CorsOptions) {
    checkOptions('cors', options, ['origin', 'methods', 'headers', 'exposedHeaders', 'credentials', 'maxAge'])
    const { origin, methods, headers, exposedHeaders = [], credentials = false, maxAge = 600 } = options
    this.#origins = parseOrigins(origin)
    if (credentials && this.#origins === '*')
      throw new InvalidArgument('credentials of cors need a list of origins: any page could act as its visitor')
    checkThat(Number.isSafeInteger(maxAge) && maxAge >= 0, 'a whole number of seconds', 'maxAge of cors', maxAge)
    this.methods = methods === undefined ? undefined : parseNames(methods, 'methods')
    this.#headers = headers === undefined ? undefined : parseNames(headers, 'headers')
    this.#maxAge = maxAge
    const names = [...exposed, ...parseNames(exposedHeaders, 'exposedHeaders')].join(', ')
    this.#shared = [
      ['access-control-expose-headers', names],
      ...(credentials ? ([['access-control-allow-credentials', 'true']] as const) : []),
    ]
  }

  /** Returns the lines of every answer to a request of that Origin, if any. */
  linesFor(origin: string | undefined): readonly HeaderLine[] {
    if (this.#origins === '*') return [['access-control-allow-origin', '*'], ...this.#shared]
    // Also without an origin: a cache must not reuse that answer.
    const vary: HeaderLine = ['vary', 'Origin']
    if (origin === undefined || !this.#origins.has(origin)) return [vary]
    return [['access-control-allow-origin', origin], vary, ...this.#shared]
  }

  /** Returns more lines for a preflight. `asked`: its Access-Control-Request-Headers. */
  preflightLines(methods: readonly string[], asked: string | undefined): readonly HeaderLine[] {
    const names = this.#headers ?? (asked ?? '').split(',').map((name) => name.trim())
    const headers = names.filter(isHeaderName).join(', ')
    return [
      ['access-control-allow-methods', (this.methods ?? methods).join(', ')],
      ...(headers === '' ? [] : ([['access-control-allow-headers', headers]] as const)),
      ['access-control-max-age', String(this.#maxAge)],
      ['vary', 'Access-Control-Request-Method, Access-Control-Request-Headers'],
    ]
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
  const ok = Array.isArray(names) && names.every((name) => typeof name === 'string' && isHeaderName(name))
  checkThat(ok, 'a list of names', `${option} of cors`, names)
  return names
}
