import { checkThat } from '../core/options.ts'
import type { Context } from '../http/context.ts'
import { isPathSegment, requireFreePath } from './api.ts'

/** A handler of the Fetch standard, as Hono, itty-router and H3 export; Hono has the context as `c.env`. */
export type FetchHandler = (request: Request, ctx: Context) => Response | Promise<Response>

/** A handler for all below a path. */
export interface Mount {
  readonly path: string
  readonly handler: FetchHandler
}

/** **Errors**: InvalidArgument for an invalid or reserved path, and for a value that is no function. */
export function createMount(path: string, handler: FetchHandler): Mount {
  checkThat(typeof handler === 'function', 'a function', 'svc.mount', handler)
  const segments = typeof path === 'string' ? path.slice(1).split('/') : []
  const isPath = path === '/' || (String(path).startsWith('/') && segments.every(isPathSegment))
  checkThat(isPath, 'a path like / or /app', 'svc.mount', path)
  if (path !== '/') requireFreePath(path, segments)
  return { path, handler }
}
