/**
 * Functions that answer GET, as endpoints.
 * @module
 */
import type { ServingError } from '../errors.ts'
import type { Context } from '../http/context.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { bodyLoan, type HttpRequest, type HttpResponse } from '../http/message.ts'
import { problemResponse } from '../http/problem.ts'
import type { MaybePromise } from '../promise.ts'
import { callWith } from '../service/call.ts'
import { type GetApi, readQuery } from '../service/get-api.ts'

/** Returns the endpoints of functions that answer GET below a prefix. */
export function getEndpoints(gets: Iterable<GetApi>, prefix: string): Endpoint[] {
  return [...gets].map((api) => new GetEndpoint(api, prefix))
}

class GetEndpoint implements Endpoint {
  readonly name: string
  readonly api: string
  readonly path: string
  readonly methods = ['GET']
  readonly readsHeaders = 'all'
  readonly isLimited = true
  readonly slots: Endpoint['slots']
  readonly decompresses = false
  readonly #api: GetApi

  constructor(api: GetApi, prefix: string) {
    this.name = api.name
    this.api = api.name
    this.path = `${prefix}/${api.route}`
    this.slots = api.slots
    this.#api = api
  }

  answer(request: HttpRequest, ctx: Context): MaybePromise<HttpResponse> {
    bodyLoan.release(request)
    return callWith(this.#api, () => readQuery(this.#api, ctx.query), ctx)
  }

  problem(error: ServingError, requestId: string): HttpResponse {
    return problemResponse(error, requestId)
  }
}
