/**
 * All that the HTTP port answers: one line for each protocol.
 * @module
 */

import type { Endpoint } from '../http/endpoint.ts'
import type { Service } from '../service/service.ts'
import { apiEndpoints } from './api-endpoint.ts'
import { connectEndpoints } from './connect.ts'
import { type Health, healthEndpoints } from './health.ts'

/** Returns the endpoints of a service whose APIs are below `prefix`. */
export function endpointsOf(service: Service, health: Health, prefix: string, introspection: boolean): Endpoint[] {
  return [
    ...apiEndpoints(service, prefix),
    ...connectEndpoints(service, prefix, introspection),
    ...healthEndpoints(health, () => service.unready),
  ]
}
