/** Fetch handlers beside the APIs of a service. @module */
import { expected, InvalidArgument } from '../core/errors.ts'
import type { Context } from '../http/context.ts'
import { isPathSegment, requireFreePath } from './api.ts'

/**
 * A handler of the Fetch standard: what Hono, itty-router and H3 export as `fetch`. The second argument is the context,
 * which Hono has as `c.env`.
 */
export type FetchHandler = (request: Request, ctx: Context) => Response | Promise<Response>

/** A handler and the path below which it answers. */
export interface Mount {
  readonly path: string
  readonly handler: FetchHandler
}

/** Checks a mount. **Errors**: InvalidArgument for a path that is none or reserved, and for what is no function. */
export function createMount(path: string, handler: FetchHandler): Mount {
  if (typeof handler !== 'function') throw new InvalidArgument(expected('a function', 'svc.mount', handler))
  const segments = typeof path === 'string' ? path.slice(1).split('/') : []
  if (path !== '/' && !(String(path).startsWith('/') && segments.every(isPathSegment)))
    throw new InvalidArgument(expected('a path like / or /app', 'svc.mount', path))
  if (path !== '/') requireFreePath(path, segments)
  return { path, handler }
}
