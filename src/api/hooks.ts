/** Functions of an application around its requests. @module */
import { expected, FunctionError, InvalidArgument, ServingError } from '../core/errors.ts'
import { isPromise, type MaybePromise } from '../core/promise.ts'
import type { Context } from '../http/context.ts'
import type { Outcome } from '../http/outcome.ts'

/**
 * Called before the body of a request is read. What it throws is the answer, and the body is not received: a
 * ServingError with its status, anything else as 500.
 */
export interface RequestHook {
  (ctx: Context): void | Promise<void>
  /** How callers are known, each way by a name; one of them suffices. For documents: nothing else reads it. */
  readonly security?: Readonly<Record<string, SecurityScheme>>
  /** `'auth'` for a hook of a service that runs before its auth does. Default: after it. */
  readonly before?: 'auth'
}

/** A way in which callers are known, as OpenAPI has it. */
export interface SecurityScheme {
  readonly type: 'apiKey' | 'http' | 'openIdConnect' | 'oauth2' | 'mutualTLS'
  /** What a caller must be allowed. */
  readonly scopes?: readonly string[]
  readonly [member: string]: unknown
}

/** Called once for each request when it is over; nothing waits for it. */
export type ResponseHook = (ctx: Context, outcome: Outcome) => void | Promise<void>

/**
 * Called before an error is answered, refusals by the server included, and for what breaks a stream off. Headers that
 * it sets without awaiting anything are sent with the error. `error.cause` is what a function threw.
 */
export type ErrorHook = (ctx: Context, error: Error) => void | Promise<void>

/** The hooks of a service or of one API, in the order in which they run. */
export interface HookOptions {
  readonly onRequest?: RequestHook | readonly RequestHook[]
  readonly onResponse?: ResponseHook | readonly ResponseHook[]
  readonly onError?: ErrorHook | readonly ErrorHook[]
}

/** Lists of hooks. */
export class Hooks {
  readonly request: RequestHook[] = []
  readonly response: ResponseHook[] = []
  readonly error: ErrorHook[] = []

  /** **Errors**: InvalidArgument for what is no function. */
  constructor({ onRequest, onResponse, onError }: HookOptions = {}) {
    add(this.request, 'onRequest', onRequest)
    add(this.response, 'onResponse', onResponse)
    add(this.error, 'onError', onError)
  }

  get isEmpty(): boolean {
    return this.request.length + this.response.length + this.error.length === 0
  }
}

/** Returns the option `auth` of an API. **Errors**: InvalidArgument. */
export function parseAuth(auth: RequestHook | false | undefined, name: string): RequestHook | false | undefined {
  if (auth === undefined || auth === false || typeof auth === 'function') return auth
  throw new InvalidArgument(expected('a hook or false', name, auth))
}

/** Adds a hook or a list of them. **Errors**: InvalidArgument for what is no function. */
export function add<H>(hooks: H[], name: string, given: H | readonly H[] | undefined): void {
  for (const hook of Array.isArray(given) ? given : given === undefined ? [] : [given]) {
    if (typeof hook !== 'function') throw new InvalidArgument(expected('a function', name, hook))
    hooks.push(hook)
  }
}

/**
 * Runs hooks one after another; afterwards the headers that they set belong to every answer. Returns the error that
 * refuses the request, undefined when none does. Never throws, never rejects; synchronous while nothing is awaited.
 */
export function runRequestHooks(hooks: readonly RequestHook[], ctx: Context): MaybePromise<ServingError | undefined> {
  for (let i = 0; i < hooks.length; i++) {
    try {
      const result = hooks[i](ctx)
      if (isPromise(result)) return runRest(result, hooks, i + 1, ctx)
    } catch (error) {
      return refusalOf(error, ctx)
    }
  }
  ctx.saveHeaders()
  return undefined
}

async function runRest(
  pending: PromiseLike<void>,
  hooks: readonly RequestHook[],
  next: number,
  ctx: Context,
): Promise<ServingError | undefined> {
  try {
    await pending
    for (let i = next; i < hooks.length; i++) await hooks[i](ctx)
  } catch (error) {
    return refusalOf(error, ctx)
  }
  ctx.saveHeaders()
  return undefined
}

function refusalOf(error: unknown, ctx: Context): ServingError {
  ctx.saveHeaders()
  return ServingError.is(error) ? error : new FunctionError('an onRequest hook failed', { cause: error })
}

/** Whether a path is among those that need no auth: an entry is one path, or with `/*` at its end all below it, too. */
export function isPublicPath(publicPaths: readonly string[], path: string): boolean {
  return publicPaths.some((each) => {
    const above = each.endsWith('/*') ? each.slice(0, -2) : undefined
    return path === each || (above !== undefined && (path === above || path.startsWith(`${above}/`)))
  })
}
