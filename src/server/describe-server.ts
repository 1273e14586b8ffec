/** What a server of a service would answer, without starting anything of it. @module */

import { type OpenApiDocument, openApiDocument } from '../docs/openapi/document.ts'
import { attachProtocols } from './built-in-protocols.ts'
import { createHost, type ServerHost } from './host.ts'
import type { ServedService } from './served-service.ts'
import { metricsEndpoint, metricsPage } from './telemetry/metrics-endpoint.ts'

/** @returns what `/openapi.json` of a server with default options answers. */
export async function describeServer(
  service: ServedService,
  prefix: string,
): Promise<OpenApiDocument> {
  const host = bareHost(service, prefix)
  const metrics = [metricsEndpoint(metricsPage(() => Promise.resolve([])))]
  await attachProtocols(host, service, { docs: false, metrics })
  return openApiDocument(service, prefix, host.endpoints)
}

/** @returns methods and paths of the service's own protocols, as `POST /v1/embeddings`. */
export async function protocolPaths(service: ServedService, prefix: string): Promise<string[]> {
  const host = bareHost(service, prefix)
  for (const protocol of service.protocols) await protocol.attach(host)
  return host.endpoints.flatMap(({ methods, path }) =>
    methods === 'any' ? [] : methods.map((method) => `${method} ${path}`),
  )
}

function bareHost(service: ServedService, prefix: string): ServerHost {
  const nothing = () => undefined
  return createHost({
    service,
    prefix,
    introspection: true,
    maxLive: 0,
    unready: nothing,
    logLate: nothing,
    warn: nothing,
  })
}
