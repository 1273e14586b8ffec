import { expected, FunctionError, InvalidArgument, ServingError } from '../core/errors.ts'
import { checkedLater, fromCode, type OptionsOf } from '../core/option.ts'
import { isPromise, type MaybePromise } from '../core/promise.ts'
import type { Context } from '../http/context.ts'
import type { Outcome } from '../http/outcome.ts'

/** Called before the body is read. What it throws is the answer: a ServingError with its status, anything else 500. */
export interface RequestHook {
  (ctx: Context): void | Promise<void>
  /** Alternative ways to know callers, by name, for documents only. */
  readonly security?: Readonly<Record<string, SecurityScheme>>
  /** Where clients get tokens for it, which the server tells at the address of RFC 9728. */
  readonly protectedResource?: ProtectedResource
  /**
   * `'auth'`: the service's hook runs before its auth.
   *
   * @default after it
   */
  readonly before?: 'auth'
}

/** What a client has to know to get a token. */
export interface ProtectedResource {
  /** The URL that tokens are for. */
  readonly resource: string
  /** Who issues them. */
  readonly issuers: readonly string[]
  readonly scopes: readonly string[]
}

/**
 * @returns the URL of the metadata of a resource.
 * @see RFC 9728 section 3.1.
 */
export function metadataUrlOf(resource: string): URL {
  const { origin, pathname, search } = new URL(resource)
  const path = pathname === '/' ? '' : pathname
  return new URL(`/.well-known/oauth-protected-resource${path}${search}`, origin)
}

/** An OpenAPI security scheme. */
export interface SecurityScheme {
  readonly type: 'apiKey' | 'http' | 'openIdConnect' | 'oauth2' | 'mutualTLS'
  readonly scopes?: readonly string[]
  readonly [member: string]: unknown
}

/** Called once at each request's end; the server does not wait for it. */
export type ResponseHook = (ctx: Context, outcome: Outcome) => void | Promise<void>

/**
 * Called before an error is answered, also by the server, or breaks a stream. Headers that it sets synchronously are
 * sent. `error.cause` is what a function threw.
 */
export type ErrorHook = (ctx: Context, error: Error) => void | Promise<void>

/** Hooks in order, one or several; {@link Hooks} checks them. */
export const hookOptions = {
  onRequest: checkedLater<RequestHook | readonly RequestHook[]>(),
  onResponse: checkedLater<ResponseHook | readonly ResponseHook[]>(),
  onError: checkedLater<ErrorHook | readonly ErrorHook[]>(),
}

/** The hooks of a service or of one API, in order. */
export interface HookOptions extends OptionsOf<typeof hookOptions> {}

/** Lists of hooks. */
export class Hooks {
  readonly request: RequestHook[] = []
  readonly response: ResponseHook[] = []
  readonly error: ErrorHook[] = []

  constructor({ onRequest, onResponse, onError }: HookOptions = {}) {
    add(this.request, 'onRequest', onRequest)
    add(this.response, 'onResponse', onResponse)
    add(this.error, 'onError', onError)
  }

  get isEmpty(): boolean {
    return this.request.length + this.response.length + this.error.length === 0
  }
}

/** Who may call: everybody by `false`, or whom the hook admits. */
export const authOption = fromCode<RequestHook | false>(
  'a hook or false',
  (value) => value === false || typeof value === 'function',
)

/**
 * Adds one hook or several.
 *
 * @throws InvalidArgument.
 */
export function add<H>(hooks: H[], name: string, given: H | readonly H[] | undefined): void {
  if (given === undefined) return
  for (const hook of Array.isArray(given) ? given : [given]) {
    if (typeof hook !== 'function') throw new InvalidArgument(expected('a function', name, hook))
    hooks.push(hook)
  }
}

/**
 * Runs hooks in order; their headers belong to every answer. Returns the error that refuses the request. Never rejects.
 */
export function runRequestHooks(
  hooks: readonly RequestHook[],
  ctx: Context,
  from = 0,
): MaybePromise<ServingError | undefined> {
  const refuse = (error: unknown) => refusalOf(error, ctx)
  try {
    for (let i = from; i < hooks.length; i++) {
      const result = hooks[i](ctx)
      if (isPromise(result))
        return Promise.resolve(result).then(() => runRequestHooks(hooks, ctx, i + 1), refuse)
    }
  } catch (error) {
    return refuse(error)
  }
  ctx.saveHeaders()
  return undefined
}

function refusalOf(error: unknown, ctx: Context): ServingError {
  ctx.saveHeaders()
  return ServingError.is(error)
    ? error
    : new FunctionError('an onRequest hook failed', { cause: error })
}

/** Whether a path needs no auth: an entry is a path, or with `/*` all below it, too. */
export function isPublicPath(publicPaths: readonly string[], path: string): boolean {
  return publicPaths.some((each) => {
    const above = each.endsWith('/*') ? each.slice(0, -2) : undefined
    return (
      path === each || (above !== undefined && (path === above || path.startsWith(`${above}/`)))
    )
  })
}
