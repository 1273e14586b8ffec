/** Finds the endpoint of a method and a path. @module */

import { isPathSegment } from '../api/api.ts'
import type { Endpoint } from '../api/endpoint.ts'
import { noParams } from '../api/visit.ts'
import {
  BadInput,
  expected,
  InvalidArgument,
  MethodNotAllowed,
  NotFound,
  type ServingError,
} from '../core/errors.ts'

/** An endpoint and its path parameters, or a mismatch: then `endpoint` has the error's format. */
export type Route =
  | { readonly endpoint: Endpoint; readonly params: Readonly<Record<string, string>> }
  | { readonly error: ServingError; readonly endpoint?: Endpoint | undefined }

/** Finds the route of a method and a request target. */
export interface Router {
  /** POST paths without parameters, for engines that match them natively. */
  readonly posts: ReadonlyMap<string, Endpoint>
  /** `path`: of {@link pathOf}. Refuses dot segments and backslashes with 400. */
  resolve(method: string, path: string): Route
}

/** Makes the endpoint that answers OPTIONS on all paths. */
export type MakePreflight = (methodsOf: (path: string) => readonly string[]) => Endpoint

const commonMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
// URL parsers drop tabs and line breaks, and read a backslash as a slash.
// biome-ignore lint/suspicious/noControlCharactersInRegex: the search is for them
const ambiguous = /[\\\x00-\x1f]|\/(?:\.|%2e){1,2}(?:\/|$)/i
const parameter = /^\{(\w+)\}$/

/**
 * `/v1/` → `/v1`.
 *
 * @throws InvalidArgument.
 */
export function parseBaseUrl(baseUrl: string): string {
  const ok = typeof baseUrl === 'string' && baseUrl.startsWith('/')
  const path = ok ? baseUrl.replace(/\/$/, '') : ''
  const plain = path === '' || path.slice(1).split('/').every(isPathSegment)
  if (!ok || !plain) throw new InvalidArgument(expected('a path like / or /v1', 'baseUrl', baseUrl))
  return path
}

/**
 * Literal segments take precedence over parameters, and those over `*`.
 *
 * @throws InvalidArgument for a conflict.
 */
export function createRouter(endpoints: Iterable<Endpoint>, preflight?: MakePreflight): Router {
  const exact = new Map<string, Endpoint[]>()
  const byPattern = new Map<string, Endpoint[]>()
  for (const endpoint of endpoints) {
    const { path } = endpoint
    const paths = /\/(?:\{|\*$)/.test(path) ? byPattern : exact
    const there = paths.get(path) ?? []
    const rival = there.find((other) => methodsOverlap(other, endpoint))
    if (rival !== undefined)
      throw new InvalidArgument(
        `the path ${path} belongs to both ${rival.name} and ${endpoint.name}`,
      )
    paths.set(path, [...there, endpoint])
  }
  const patterns = [...byPattern].map(([path, group]) => compilePattern(path, group))
  patterns.sort((a, b) => (a.rank < b.rank ? -1 : Number(a.rank > b.rank)))
  const posts = new Map<string, Endpoint>()
  for (const [path, group] of exact) {
    const endpoint = group.find((each) => takes(each, 'POST'))
    if (endpoint !== undefined) posts.set(path, endpoint)
  }
  const at = (path: string) => [
    ...(exact.get(path) ?? []),
    ...patterns.filter(({ regex }) => regex.test(path)).flatMap(({ endpoints: group }) => group),
  ]
  const options = preflight?.((path) => methodsOf(at(path)))
  return {
    posts,
    resolve(method, path) {
      if (method === 'OPTIONS' && options !== undefined)
        return { endpoint: options, params: noParams }
      const others: Endpoint[] = []
      const group = exact.get(path)
      if (group !== undefined) {
        for (const endpoint of group)
          if (takes(endpoint, method)) return { endpoint, params: noParams }
        others.push(...group)
      }
      // A mounted handler would see another path than auth and hooks.
      if (ambiguous.test(path))
        return {
          error: new BadInput(
            expected('a path without dot segments and backslashes', 'the request', path),
          ),
        }
      for (const pattern of patterns) {
        const match = pattern.regex.exec(path)
        if (match === null) continue
        const endpoint = pattern.endpoints.find((each) => takes(each, method))
        if (endpoint !== undefined) return withParams(endpoint, match.groups, path)
        others.push(...pattern.endpoints)
      }
      return {
        error: wrongRequest(others, path, method),
        endpoint: others.find(({ methods }) => methods.length === 0),
      }
    },
  }
}

interface Pattern {
  readonly regex: RegExp
  readonly rank: string
  readonly endpoints: readonly Endpoint[]
}

function compilePattern(path: string, endpoints: readonly Endpoint[]): Pattern {
  let source = ''
  let rank = ''
  for (const part of path.slice(1).split('/')) {
    const name = parameter.exec(part)?.[1]
    if (part === '*') {
      source += '(?:/.*)?'
      rank += '2'
    } else if (name !== undefined) {
      source += `/(?<${name}>[^/]+)`
      rank += '1'
    } else {
      source += `/${part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}`
      rank += '0'
    }
  }
  return { regex: new RegExp(`^${source}$`, 's'), rank, endpoints }
}

function takes({ methods }: Endpoint, method: string): boolean {
  return (
    methods === 'any' || methods.includes(method) || (method === 'HEAD' && methods.includes('GET'))
  )
}

function methodsOverlap(a: Endpoint, b: Endpoint): boolean {
  if (a.methods === 'any' || b.methods === 'any') return true
  return (
    a.methods.some((method) => takes(b, method)) || b.methods.some((method) => takes(a, method))
  )
}

function withParams(
  endpoint: Endpoint,
  groups: Record<string, string> | undefined,
  path: string,
): Route {
  if (groups === undefined) return { endpoint, params: noParams }
  const params: Record<string, string> = {}
  try {
    for (const name of Object.keys(groups)) params[name] = decodeURIComponent(groups[name])
  } catch {
    return { error: new BadInput(expected('percent-encoded UTF-8', 'the path', path)) }
  }
  return { endpoint, params }
}

/** @returns the path and the query of a request target. */
export function splitTarget(target: string): { readonly path: string; readonly query: string } {
  const mark = target.indexOf('?')
  if (mark === -1) return { path: pathOf(target), query: '' }
  return { path: pathOf(target.slice(0, mark)), query: target.slice(mark + 1) }
}

/** A request target may be an absolute URL (RFC 9112 section 3.2.2). */
export function pathOf(target: string): string {
  if (target.startsWith('/')) return target
  const match = /^https?:\/\/[^/]*(\/.*)?$/i.exec(target)
  return match === null ? target : (match[1] ?? '/')
}

function methodsOf(endpoints: readonly Endpoint[]): string[] {
  const allowed = new Set<string>()
  for (const { methods } of endpoints) {
    for (const each of methods === 'any' ? commonMethods : methods) {
      allowed.add(each)
      if (each === 'GET') allowed.add('HEAD')
    }
  }
  return [...allowed]
}

function wrongRequest(endpoints: readonly Endpoint[], path: string, method: string): ServingError {
  const allow = methodsOf(endpoints).join(', ')
  if (allow === '') return new NotFound(expected('the path of an API', 'the request', path))
  return new MethodNotAllowed(expected(allow, path, method), { allow })
}
