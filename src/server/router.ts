/**
 * Paths and methods, looked up in tables that are built once.
 * @module
 */

import { expected, InvalidArgument, MethodNotAllowed, NotFound, type ServingError } from '../errors.ts'
import type { HttpResponse } from '../http/message.ts'
import type { Api } from '../service/api.ts'

/** Where a request goes: to an API, to a page of the server itself, or nowhere. */
export type Route = { readonly api: Api } | { readonly page: () => HttpResponse } | { readonly error: ServingError }

/** Finds the route of a method and a request target. */
export interface Router {
  /** Full path of each API, for engines that match paths natively. */
  readonly apis: ReadonlyMap<string, Api>
  /** `target` is the path, or an absolute URL (RFC 9112 section 3.2.2), without its query. */
  resolve(method: string, target: string): Route
}

const segment = /^[A-Za-z0-9_~][A-Za-z0-9_.~-]*$/

/**
 * A base URL becomes a prefix without a slash at its end: `/` → ``, `/v1/` → `/v1`.
 * **Errors**: InvalidArgument for other than an absolute path of plain segments.
 */
export function parseBaseUrl(baseUrl: string): string {
  const ok = typeof baseUrl === 'string' && baseUrl.startsWith('/')
  const path = ok ? baseUrl.replace(/\/$/, '') : ''
  const plain =
    path === '' ||
    path
      .slice(1)
      .split('/')
      .every((part) => segment.test(part))
  if (!ok || !plain) throw new InvalidArgument(expected('a path like / or /v1', 'baseUrl', baseUrl))
  return path
}

/**
 * APIs below a prefix and the server's own pages become a router. An API answers POST alone and a page GET and HEAD; paths
 * match exactly, so a slash at the end is another path.
 * **Cost**: one Map lookup a request.
 */
export function createRouter(
  apis: Iterable<Api>,
  prefix: string,
  pages: ReadonlyMap<string, () => HttpResponse>,
): Router {
  const paths = new Map<string, Api>()
  for (const api of apis) paths.set(`${prefix}/${api.route}`, api)
  return {
    apis: paths,
    resolve(method, target) {
      const path = target.startsWith('/') ? target : pathOf(target)
      const api = paths.get(path)
      if (api !== undefined) return method === 'POST' ? { api } : { error: wrongMethod('POST', path, method) }
      const page = pages.get(path)
      if (page === undefined) return { error: new NotFound(expected('the path of an API', 'the request', path)) }
      const readable = method === 'GET' || method === 'HEAD'
      return readable ? { page } : { error: wrongMethod('GET, HEAD', path, method) }
    },
  }
}

function pathOf(target: string): string {
  const match = /^https?:\/\/[^/]*(\/.*)?$/i.exec(target)
  return match === null ? target : (match[1] ?? '/')
}

function wrongMethod(allow: string, path: string, method: string): MethodNotAllowed {
  return new MethodNotAllowed(expected(allow, path, method), { allow })
}
