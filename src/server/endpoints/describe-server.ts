/** The OpenAPI document of a service without a server. @module */

import { type OpenApiDocument, openApiDocument } from '../../docs/openapi/document.ts'
import { Models } from '../../oip/models.ts'
import type { OipServer } from '../../oip/oip-endpoint.ts'
import type { Service } from '../../service.ts'
import { MetricsPage, metricsEndpoint } from '../telemetry/metrics-endpoint.ts'
import { protocolEndpoints } from './endpoints.ts'

/** Returns what `/openapi.json` of a server with default options answers. Nothing of the service is started. */
export function describeServer(service: Service, prefix: string): OpenApiDocument {
  const unready = () => undefined
  const oip: OipServer = { models: new Models(service), prefix, introspection: true, unready, onLateError: unready }
  const protocols = protocolEndpoints(service, { state: 'starting' }, prefix, true, oip)
  const metrics = metricsEndpoint(new MetricsPage(() => Promise.resolve([])))
  return openApiDocument(service, prefix, [...protocols, metrics])
}
