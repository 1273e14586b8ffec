/**
 * All that the HTTP port answers: one line for each protocol.
 * @module
 */

import { pageEndpoints } from '../docs/page-endpoints.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { type OipServer, oipEndpoints } from '../oip/endpoints.ts'
import { docsEndpoints } from '../openapi/docs-endpoint.ts'
import type { Service } from '../service/service.ts'
import { apiEndpoints } from './api-endpoint.ts'
import { connectEndpoints } from './connect.ts'
import { type Health, healthEndpoints } from './health.ts'
import { mountEndpoints } from './mount-endpoint.ts'
import type { Disclosure } from './options.ts'

/** Returns the endpoints of a service whose APIs are below `prefix`. */
export function endpointsOf(
  service: Service,
  health: Health,
  prefix: string,
  { introspection, docs }: Disclosure,
  oip: OipServer,
): Endpoint[] {
  const endpoints = [
    ...apiEndpoints(service, prefix),
    ...mountEndpoints(service.mounts.values(), prefix),
    ...connectEndpoints(service, prefix, introspection),
    ...oipEndpoints(oip),
    ...(docs ? docsEndpoints(service, prefix) : []),
    ...healthEndpoints(health, () => service.unready),
  ]
  // Last, since what a service itself answers at these paths wins.
  return docs ? [...endpoints, ...pageEndpoints(prefix, endpoints)] : endpoints
}
