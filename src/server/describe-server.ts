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

/** @returns what a server of the service answers, as `POST /v1/embeddings`, in the order of registration. */
export async function servicePaths(service: ServedService, prefix: string): Promise<string[]> {
  const { apis, routes, lives, mounts, protocols, mcp } = service
  const host = bareHost(service, prefix)
  for (const protocol of protocols) await protocol.attach(host)
  return [
    ...[...apis.values(), ...routes.values()].map(
      ({ method, route }) => `${method} ${prefix}/${route}`,
    ),
    ...[...lives.values()].map(({ route }) => `LIVE ${prefix}/${route}`),
    ...host.endpoints.flatMap(({ methods, path }) =>
      methods === 'any' ? [] : methods.map((method) => `${method} ${path}`),
    ),
    ...(mcp ? [`POST ${prefix}/mcp`] : []),
    ...[...mounts.keys()].map((path) => `ANY ${prefix}${path.replace(/\/$/, '')}/*`),
  ]
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
