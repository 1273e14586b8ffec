/**
 * Endpoints whose answer is one JSON value.
 * @module
 */
import { MethodNotAllowed, NotFound } from '../core/errors.ts'
import { type MaybePromise, whenReady } from '../core/promise.ts'
import type { Context } from '../http/context.ts'
import type { Endpoint, RequestTarget } from '../http/endpoint.ts'
import type { HttpRequest, HttpResponse } from '../http/message.ts'
import { attempt } from './inference.ts'
import { errorResponse } from './oip-error.ts'

/** Parameters of the path. */
export type Params = RequestTarget['params']

/** Returns the JSON value to answer; undefined for an empty body. May throw. */
export type Page = (params: Params, request: HttpRequest) => MaybePromise<unknown>

/** A value that is answered with a status of its own. */
export class WithStatus {
  readonly status: number
  readonly value: unknown

  constructor(status: number, value: unknown) {
    this.status = status
    this.value = value
  }
}

// `no-store`: a proxy that keeps an old answer would keep a dead server in rotation.
const headers = [
  ['content-type', 'application/json'],
  ['cache-control', 'no-store'],
] as const

/** Answers one path with a JSON value. */
export class PageEndpoint implements Endpoint {
  readonly name: string
  readonly path: string
  readonly methods: readonly string[]
  readonly readsHeaders = ['x-request-id', 'content-encoding']
  readonly isLimited: boolean
  readonly isOpen: boolean
  readonly decompresses = true
  readonly problem = errorResponse
  readonly #page: Page

  constructor(method: 'GET' | 'POST', path: string, page: Page, isLimited = true, isOpen = !isLimited) {
    this.name = path
    this.path = path
    this.methods = [method]
    this.isLimited = isLimited
    // Health of the server, which is what answers under any load, is for everybody.
    this.isOpen = isOpen
    this.#page = page
  }

  answer(request: HttpRequest, ctx: Context, { params }: RequestTarget): MaybePromise<HttpResponse> {
    const page = attempt(() => whenReady(this.#page(params, request), (value) => ({ value })))
    return whenReady(page, (answer) => ('error' in answer ? this.problem(answer.error, ctx.id) : respond(answer.value)))
  }
}

function respond(value: unknown): HttpResponse {
  if (value instanceof WithStatus) return { ...respond(value.value), status: value.status }
  return { headers, body: value === undefined ? '' : JSON.stringify(value) }
}

/** Refuses every path of the protocol that is none, in the protocol's JSON. */
export class UnknownEndpoint implements Endpoint {
  readonly name: string
  readonly path: string
  readonly methods = 'any'
  readonly readsHeaders = ['x-request-id']
  readonly isLimited = false
  readonly decompresses = false
  readonly problem = errorResponse
  readonly #known: readonly Endpoint[]

  /** `known`: endpoints whose paths answer 405 to other methods. */
  constructor(path: string, known: readonly Endpoint[]) {
    this.name = path
    this.path = path
    this.#known = known
  }

  answer(_: HttpRequest, ctx: Context, { method, path }: RequestTarget): HttpResponse {
    const allowed = this.#known
      .filter((endpoint) => patternOf(endpoint.path).test(path))
      .flatMap(({ methods }) => methods)
    const allow = [...new Set(allowed)].join(', ')
    if (allow === '') return this.problem(new NotFound('expected a path of the protocol, received another'), ctx.id)
    return this.problem(new MethodNotAllowed(`expected ${allow} for the path, received ${method}`, { allow }), ctx.id)
  }
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+')}$`)
}
