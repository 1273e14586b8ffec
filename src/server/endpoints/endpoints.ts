/** All that the HTTP port answers: one line for each protocol. @module */

import type { Endpoint } from '../../api/endpoint.ts'
import { docsEndpoints } from '../../docs/openapi/docs-endpoint.ts'
import { type OpenApiDocument, openApiDocument } from '../../docs/openapi/document.ts'
import { pageEndpoints } from '../../docs/page-endpoints.ts'
import { type Health, healthEndpoints } from '../../engine/health.ts'
import type { Disclosure } from '../../engine/options.ts'
import type { JobPaths } from '../../jobs/job-endpoints.ts'
import { oipEndpoints } from '../../protocols/oip/endpoints.ts'
import { ModelGroup } from '../../protocols/oip/model-group.ts'
import { Models } from '../../protocols/oip/models.ts'
import type { OipServer } from '../../protocols/oip/oip-endpoint.ts'
import { connectEndpoints } from '../../rpc/connect.ts'
import type { Service } from '../../service.ts'
import { metricsEndpoint, metricsPage } from '../telemetry/metrics-endpoint.ts'
import { apiEndpoints } from './api-endpoint.ts'
import { mountEndpoints } from './mount-endpoint.ts'

/** Returns the endpoints of a service with APIs below `prefix`. `others`: of the server; `warn`: writes its log. */
export function endpointsOf(
  service: Service,
  health: Health,
  prefix: string,
  { introspection, docs }: Disclosure,
  oip: OipServer,
  others: readonly Endpoint[],
  warn: (message: string) => void,
  jobs?: JobPaths,
): Endpoint[] {
  const apis = apiEndpoints(service, prefix, warn, jobs)
  if (jobs?.role === 'work') return [...readiness(service, health, jobs), ...others]
  const protocols = [...protocolEndpoints(service, health, prefix, introspection, oip, jobs), ...others]
  const endpoints = [
    ...apis,
    ...(jobs?.endpoints(prefix, docs) ?? []),
    ...mountEndpoints(service.mounts.values(), prefix),
    ...protocols,
    ...(docs ? docsEndpoints(service, prefix, protocols) : []),
  ]
  // Last, since what a service itself answers at these paths wins.
  return docs ? [...endpoints, ...pageEndpoints(prefix, endpoints, service.apis.values())] : endpoints
}

/** Returns the endpoints of a service beside those of its APIs. */
function protocolEndpoints(
  service: Service,
  health: Health,
  prefix: string,
  introspection: boolean,
  oip: OipServer,
  jobs?: JobPaths,
): Endpoint[] {
  return [
    ...connectEndpoints(service, prefix, introspection, jobs?.rpcs),
    ...oipEndpoints(oip),
    ...service.protocols.flatMap((each) => each.endpoints(prefix, oip.onLateError)),
    ...readiness(service, health, jobs),
  ]
}

function readiness(service: Service, health: Health, jobs: JobPaths | undefined): Endpoint[] {
  return healthEndpoints(health, () => service.unready ?? jobs?.unready)
}

/** Returns what `/openapi.json` of a server with default options answers. Nothing of the service is started. */
export function describeServer(service: Service, prefix: string): OpenApiDocument {
  const unready = () => undefined
  const models = new Models(service)
  const group = new ModelGroup(models, undefined)
  const oip: OipServer = { models, group, prefix, introspection: true, unready, onLateError: unready }
  const protocols = protocolEndpoints(service, { state: 'starting' }, prefix, true, oip)
  const metrics = metricsEndpoint(metricsPage(() => Promise.resolve([])))
  return openApiDocument(service, prefix, [...protocols, metrics])
}
