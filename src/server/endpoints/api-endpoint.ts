/** The functions of a service as endpoints: `POST {baseUrl}/{route}`, and GET for those that answer it. @module */

import type { Api } from '../../api/api.ts'
import { call, callWith } from '../../api/call.ts'
import { type GetApi, readQuery } from '../../api/get-api.ts'
import { ResponseCache } from '../../api/response-cache.ts'
import { receiveAboveBytes } from '../../descriptors/descriptor.ts'
import type { Endpoint } from '../../http/endpoint.ts'
import { problemResponse } from '../../http/problem.ts'
import type { JobPaths } from '../../jobs/job-endpoints.ts'
import type { AsyncApi } from '../../jobs/jobs.ts'
import type { Service } from '../../service.ts'

/** Returns the endpoints of a service's functions below a prefix. */
export function apiEndpoints(service: Service, prefix: string, jobs?: JobPaths): Endpoint[] {
  const { apis, gets } = service
  return [
    ...[...apis.values()].flatMap((api) => {
      const endpoint = postEndpoint(api, prefix, service)
      return hasJobs(api) && jobs !== undefined ? jobs.endpointsOf(endpoint, api, prefix) : [endpoint]
    }),
    ...[...gets.values()].map((api) => getEndpoint(api, prefix)),
  ]
}

function hasJobs(api: Api): api is AsyncApi {
  return api.async !== undefined
}

function postEndpoint(api: Api, prefix: string, service: Service): Endpoint {
  const cache = api.cache && new ResponseCache(service, api, api.cache)
  return {
    ...common(api, prefix),
    methods: ['POST'],
    readsHeaders: api.readsHeaders,
    decompresses: true,
    answer:
      cache === undefined
        ? (request, ctx) => call(api, request, ctx)
        : (request, ctx) => cache.answer(request, ctx, () => call(api, request, ctx)),
    receive(declared, ctx) {
      // A cache looks at the whole body.
      if (cache !== undefined || (declared !== undefined && declared <= receiveAboveBytes)) return undefined
      const receiver = api.input.receive?.(ctx.headers, ctx, declared)
      if (receiver === undefined) return undefined
      return {
        write: (piece) => receiver.write(piece),
        end: () => callWith(api, () => receiver.end(), ctx),
        abort: (reason) => receiver.abort(reason),
      }
    },
  }
}

function getEndpoint(api: GetApi, prefix: string): Endpoint {
  return {
    ...common(api, prefix),
    methods: ['GET'],
    readsHeaders: 'all',
    decompresses: false,
    answer(request, ctx) {
      request.release()
      return callWith(api, () => readQuery(api, ctx.query), ctx)
    },
  }
}

function common({ name, route, slots }: Pick<Api, 'name' | 'route' | 'slots'>, prefix: string) {
  return { name, api: name, path: `${prefix}/${route}`, isLimited: true, slots, problem: problemResponse }
}
