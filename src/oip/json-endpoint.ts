/** Endpoints whose answer is one JSON value. @module */
import { type MaybePromise, whenReady } from '../core/promise.ts'
import type { Context } from '../http/context.ts'
import type { Endpoint, RequestTarget } from '../http/endpoint.ts'
import type { HttpRequest, HttpResponse } from '../http/message.ts'
import { attempt } from './inference.ts'
import { errorResponse } from './oip-error.ts'

/** Parameters of the path. */
export type Params = RequestTarget['params']

/** Undefined is an empty body. May throw. */
export type Answer = (params: Params, request: HttpRequest) => MaybePromise<unknown>

/** A value that is answered with a status of its own. */
export class WithStatus {
  readonly status: number
  readonly value: unknown

  constructor(status: number, value: unknown) {
    this.status = status
    this.value = value
  }
}

// A proxy that keeps an old answer would keep a dead server in rotation.
const headers = [
  ['content-type', 'application/json'],
  ['cache-control', 'no-store'],
] as const

/** Answers one path with a JSON value. */
export class JsonEndpoint implements Endpoint {
  readonly name: string
  readonly path: string
  readonly methods: readonly string[]
  readonly readsHeaders = ['x-request-id', 'content-encoding']
  readonly isLimited: boolean
  readonly isOpen: boolean
  readonly decompresses = true
  readonly problem = errorResponse
  readonly #answer: Answer

  constructor(method: 'GET' | 'POST', path: string, answer: Answer, isLimited = true, isOpen = !isLimited) {
    this.name = path
    this.path = path
    this.methods = [method]
    this.isLimited = isLimited
    // Health is open to everybody, under any load.
    this.isOpen = isOpen
    this.#answer = answer
  }

  answer(request: HttpRequest, ctx: Context, { params }: RequestTarget): MaybePromise<HttpResponse> {
    const made = attempt(() => whenReady(this.#answer(params, request), (value) => ({ value })))
    return whenReady(made, (answer) => ('error' in answer ? this.problem(answer.error, ctx.id) : respond(answer.value)))
  }
}

function respond(value: unknown): HttpResponse {
  if (value instanceof WithStatus) return { ...respond(value.value), status: value.status }
  return { headers, body: value === undefined ? '' : JSON.stringify(value) }
}
