/**
 * The APIs of a service as endpoints: `POST {baseUrl}/{route}`.
 * @module
 */
import { receiveAboveBytes } from '../descriptors/descriptor.ts'
import type { ServingError } from '../errors.ts'
import type { Context } from '../http/context.ts'
import type { Endpoint, EndpointReceiver } from '../http/endpoint.ts'
import type { HttpRequest, HttpResponse } from '../http/message.ts'
import { problemResponse } from '../http/problem.ts'
import type { MaybePromise } from '../promise.ts'
import type { Api } from '../service/api.ts'
import { call, callReceived } from '../service/call.ts'

/** Returns the endpoints of a service's APIs below a prefix. */
export function apiEndpoints({ apis }: { readonly apis: ReadonlyMap<string, Api> }, prefix: string): Endpoint[] {
  return [...apis.values()].map((api) => new ApiEndpoint(api, prefix))
}

class ApiEndpoint implements Endpoint {
  readonly name: string
  readonly api: string
  readonly path: string
  readonly methods = ['POST']
  readonly readsHeaders: readonly string[] | 'all'
  readonly isLimited = true
  readonly slots: Endpoint['slots']
  readonly decompresses = true
  readonly #api: Api

  constructor(api: Api, prefix: string) {
    this.name = api.name
    this.api = api.name
    this.path = `${prefix}/${api.route}`
    this.readsHeaders = api.readsHeaders
    this.slots = api.slots
    this.#api = api
  }

  answer(request: HttpRequest, ctx: Context): MaybePromise<HttpResponse> {
    return call(this.#api, request, ctx)
  }

  problem(error: ServingError, requestId: string): HttpResponse {
    return problemResponse(error, requestId)
  }

  receive(declared: number | undefined, ctx: Context): EndpointReceiver | undefined {
    const api = this.#api
    if (declared !== undefined && declared <= receiveAboveBytes) return undefined
    const receiver = api.input.receive?.(ctx.headers, ctx)
    if (receiver === undefined) return undefined
    return {
      write: (piece) => receiver.write(piece),
      end: () => callReceived(api, receiver, ctx),
      abort: (reason) => receiver.abort(reason),
    }
  }
}
