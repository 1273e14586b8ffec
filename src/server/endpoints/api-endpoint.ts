/** The functions of a service as endpoints: `{baseUrl}/{route}` with their methods. @module */

import type { Api } from '../../api/api.ts'
import { answerHttp, httpEncoding } from '../../api/call.ts'
import type { Endpoint } from '../../api/endpoint.ts'
import type { Host } from '../../api/protocol.ts'
import { Query } from '../../api/query.ts'
import { responseCache } from '../../api/response-cache.ts'
import { receiveAboveBytes } from '../../descriptors/descriptor.ts'
import { problemResponse } from '../../http/problem.ts'
import type { AsyncApi } from '../../jobs/new-job.ts'
import type { ServerJobs } from '../jobs/server-jobs.ts'
import type { ServedService } from '../served-service.ts'

/** @returns the endpoints of a service's functions. */
export function apiEndpoints(host: Host, service: ServedService, jobs?: ServerJobs): Endpoint[] {
  return [...service.apis.values(), ...service.routes.values()].flatMap((api) => {
    const endpoint = endpointOf(host, service, api)
    return hasJobs(api) && jobs !== undefined
      ? jobs.endpointsOf(endpoint, api, host.prefix)
      : [endpoint]
  })
}

function hasJobs(api: Api): api is AsyncApi {
  return api.async !== undefined
}

function endpointOf(host: Host, service: ServedService, api: Api): Endpoint {
  const { name, method, route, slots } = api
  const cache = api.cache && responseCache(service, api, api.cache, host.warn)
  return {
    name,
    access: { kind: 'api', api: name },
    origins: 'any',
    path: `${host.prefix}/${route}`,
    methods: [method],
    readsHeaders: api.readsHeaders,
    isLimited: true,
    ...(slots !== undefined && { slots: () => slots }),
    decompresses: !(api.input instanceof Query),
    problem: problemResponse,
    answer:
      cache === undefined
        ? (request, visit) => answerHttp(visit, api, request)
        : (request, visit) => cache(request, visit, () => answerHttp(visit, api, request)),
    receive(declared, visit) {
      const { ctx } = visit
      // A cache looks at the whole body.
      if (cache !== undefined || (declared !== undefined && declared <= receiveAboveBytes))
        return undefined
      const receiver = api.input.receive?.(ctx.headers, ctx, declared)
      if (receiver === undefined) return undefined
      return {
        write: (piece) => receiver.write(piece),
        end: () => visit.call(api, () => receiver.end(), httpEncoding),
        abort: (reason) => receiver.abort(reason),
      }
    },
  }
}
