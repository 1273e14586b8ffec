/** All that the HTTP port answers: one line for each protocol. @module */

import { docsEndpoints } from '../../docs/openapi/docs-endpoint.ts'
import { pageEndpoints } from '../../docs/page-endpoints.ts'
import { type Health, healthEndpoints } from '../../engine/health.ts'
import type { Disclosure } from '../../engine/options.ts'
import type { Endpoint } from '../../http/endpoint.ts'
import { oipEndpoints } from '../../oip/endpoints.ts'
import type { OipServer } from '../../oip/oip-endpoint.ts'
import { connectEndpoints } from '../../rpc/connect.ts'
import type { Service } from '../../service.ts'
import { apiEndpoints } from './api-endpoint.ts'
import { mountEndpoints } from './mount-endpoint.ts'

/** Returns the endpoints of a service whose APIs are below `prefix`; `others`: of the server. */
export function endpointsOf(
  service: Service,
  health: Health,
  prefix: string,
  { introspection, docs }: Disclosure,
  oip: OipServer,
  others: readonly Endpoint[],
): Endpoint[] {
  const protocols = [...protocolEndpoints(service, health, prefix, introspection, oip), ...others]
  const endpoints = [
    ...apiEndpoints(service, prefix),
    ...mountEndpoints(service.mounts.values(), prefix),
    ...protocols,
    ...(docs ? docsEndpoints(service, prefix, protocols) : []),
  ]
  // Last, since what a service itself answers at these paths wins.
  return docs ? [...endpoints, ...pageEndpoints(prefix, endpoints, service.apis.values())] : endpoints
}

/** Returns the endpoints of a service beside those of its APIs. */
export function protocolEndpoints(
  service: Service,
  health: Health,
  prefix: string,
  introspection: boolean,
  oip: OipServer,
): Endpoint[] {
  return [
    ...connectEndpoints(service, prefix, introspection),
    ...oipEndpoints(oip),
    ...healthEndpoints(health, () => service.unready),
  ]
}
