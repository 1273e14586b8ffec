/** What a server of a service would answer, without starting anything of it. @module */

import { type OpenApiDocument, openApiDocument } from '../docs/openapi/document.ts'
import { protocolsOf } from './built-in-protocols.ts'
import { ServerHost } from './host.ts'
import type { ServedService } from './served-service.ts'
import { metricsEndpoint, metricsPage } from './telemetry/metrics-endpoint.ts'

/** @returns what `/openapi.json` of a server with default options answers. */
export async function describeServer(
  service: ServedService,
  prefix: string,
): Promise<OpenApiDocument> {
  const host = await hostOf(service, prefix)
  return openApiDocument(service, prefix, host.endpoints)
}

/** @returns methods and paths of the service's own protocols, as `POST /v1/embeddings`. */
export async function protocolPaths(service: ServedService, prefix: string): Promise<string[]> {
  const { endpoints } = await bareHost(service, prefix).attach(service.protocols)
  return endpoints.flatMap(({ methods, path }) =>
    methods === 'any' ? [] : methods.map((method) => `${method} ${path}`),
  )
}

function hostOf(service: ServedService, prefix: string): Promise<ServerHost> {
  const metrics = [metricsEndpoint(metricsPage(() => Promise.resolve([])))]
  return bareHost(service, prefix).attach(protocolsOf(service, { docs: false, metrics }))
}

function bareHost(service: ServedService, prefix: string): ServerHost {
  const nothing = () => undefined
  return new ServerHost({
    service,
    prefix,
    introspection: true,
    maxLive: 0,
    unready: nothing,
    logLate: nothing,
    warn: nothing,
  })
}
