import { checkOptions, checkThat, isRecord } from '../core/options.ts'
import type { Context } from '../http/context.ts'
import { isPathSegment, requireFreePath } from './api.ts'

/** A handler of the Fetch standard, as Hono, itty-router and H3 export; Hono has the context as `c.env`. */
export type FetchHandler = (request: Request, ctx: Context) => Response | Promise<Response>

/** Options of `svc.mount`. */
export interface MountOptions {
  /** The handler's OpenAPI document, merged into the service's. Its paths begin with that of the mount. */
  readonly openapi?: Readonly<Record<string, unknown>>
}

/** A handler for all below a path. */
export interface Mount extends MountOptions {
  readonly path: string
  readonly handler: FetchHandler
}

/** @throws InvalidArgument for an invalid or reserved path, and for a value that is no function. */
export function createMount(path: string, handler: FetchHandler, options: MountOptions): Mount {
  checkThat(typeof handler === 'function', 'a function', 'svc.mount', handler)
  const segments = typeof path === 'string' ? path.slice(1).split('/') : []
  const isPath = path === '/' || (String(path).startsWith('/') && segments.every(isPathSegment))
  checkThat(isPath, 'a path like / or /app', 'svc.mount', path)
  if (path !== '/') requireFreePath(path, segments)
  const { openapi } = checkOptions('svc.mount', options, ['openapi'])
  if (openapi === undefined) return { path, handler }
  const paths =
    isRecord(openapi) && isRecord(openapi.paths) ? Object.keys(openapi.paths) : [openapi]
  const isBelow = (each: unknown) =>
    path === '/' || each === path || String(each).startsWith(`${path}/`)
  const stray = paths.find((each) => typeof each !== 'string' || !isBelow(each))
  checkThat(
    stray === undefined,
    `an OpenAPI document whose paths begin with ${path}`,
    'openapi of svc.mount',
    stray,
  )
  return { path, handler, openapi }
}
