/**
 * All that a server answers: one line for each protocol, in the order in which they are attached. No other file of the
 * server, of its engines and of the command imports one. Code is loaded by the services that use it. @module
 */

import type { Endpoint } from '../api/endpoint.ts'
import type { Mount } from '../api/mount.ts'
import type { Host, Protocol } from '../api/protocol.ts'
import { healthEndpoints } from '../engine/health.ts'
import type { JobPaths } from '../jobs/job-endpoints.ts'
import type { MetricFamily } from '../telemetry/metrics/metric-family.ts'
import { apiEndpoints } from './endpoints/api-endpoint.ts'
import { mountEndpoint } from './endpoints/mount-endpoint.ts'
import type { ServedService } from './served-service.ts'

/** What the protocols of a server are made of, beside its service. */
export interface ServedParts {
  /** Whether the documents and the page are published. */
  readonly docs: boolean
  /** Undefined if no API is asynchronous. */
  readonly jobs?: (JobPaths & { metrics?(): Promise<readonly MetricFamily[]> }) | undefined
  /** Of the server's telemetry. */
  readonly metrics: readonly Endpoint[]
}

/** @returns the protocols of a service: those that are built in, and its own. */
export function protocolsOf(
  service: ServedService,
  { docs, jobs, metrics }: ServedParts,
): Protocol[] {
  const apis = (host: Host) =>
    apiEndpoints(service, host.prefix, (message) => host.warn(message), jobs)
  const jobMetrics = jobs?.metrics && (() => jobs.metrics?.() ?? [])
  const always: Protocol[] = [
    {
      name: 'health',
      attach: (host) =>
        add(
          host,
          healthEndpoints(() => host.unready()),
        ),
    },
    { name: 'metrics', attach: (host) => add(host, metrics) },
    ...(jobMetrics
      ? [{ name: 'job metrics', attach: (host: Host) => host.metrics(jobMetrics) }]
      : []),
  ]
  // A process that only runs jobs answers no APIs, but knows them.
  if (jobs?.role === 'work') return [{ name: 'APIs', attach: (host) => void apis(host) }, ...always]
  return [
    { name: 'APIs', attach: (host) => add(host, apis(host)) },
    { name: 'jobs', attach: (host) => jobs?.attach(host, docs) },
    {
      name: 'mounts',
      attach: (host) => attachMounts(host, service.mounts.values()),
    },
    {
      name: 'RPC',
      attach: async (host) => (await import('../rpc/service-methods.ts')).attachRpc(host, service),
    },
    {
      name: 'OIP',
      attach: async (host) =>
        (await import('../protocols/oip/protocol.ts')).attachOip(host, service),
    },
    ...service.protocols.map(listed),
    { name: 'Connect', attach: attachConnect },
    ...always,
    {
      name: 'live streams',
      attach: async (host) =>
        (await import('../live/live-protocol.ts')).attachLives(host, service.lives),
    },
    ...(service.mcp ? [{ name: 'MCP', attach: attachMcp }] : []),
    // Last, since what a service itself answers at these paths wins.
    ...(docs ? [{ name: 'documents', attach: (host: Host) => attachDocs(host, service) }] : []),
  ]
}

/** Handlers with a document are on the page by their operations. */
function attachMounts(host: Host, mounts: Iterable<Mount>): void {
  for (const mount of mounts) {
    const endpoint = mountEndpoint(mount, host.prefix)
    host.http(endpoint)
    const { path, openapi } = mount
    const entry = { group: 'Mounted handlers', path: endpoint.path, methods: pageMethods }
    if (openapi === undefined)
      host.page({ ...entry, doc: `What the handler of \`${path}\` answers.` })
  }
}

const pageMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** @returns a protocol whose paths without an operation are on the page, too. */
function listed(protocol: Protocol): Protocol {
  const { name: group } = protocol
  const attach = async (host: Host) => {
    const first = host.endpoints.length
    await protocol.attach(host)
    for (const { path, methods, operation } of host.endpoints.slice(first)) {
      const isListed = host.pageEntries.some((entry) => entry.path === path)
      if (operation === undefined && methods.length > 0 && !isListed)
        host.page({ group, path, methods: methods === 'any' ? pageMethods : methods })
    }
  }
  return { name: group, attach }
}

async function attachConnect(host: Host): Promise<void> {
  const { connectEndpoints } = await import('../rpc/connect.ts')
  add(host, connectEndpoints(host.methods, host.prefix))
}

async function attachMcp(host: Host): Promise<void> {
  const { attachMcp: attach } = await import('../protocols/mcp/protocol.ts')
  attach(host)
}

async function attachDocs(host: Host, service: ServedService): Promise<void> {
  const [{ docsEndpoints }, { pageEndpoints }, { pageDataEndpoint }] = await Promise.all([
    import('../docs/openapi/docs-endpoint.ts'),
    import('../docs/page-endpoints.ts'),
    import('../docs/page-data.ts'),
  ])
  add(host, docsEndpoints(service, host.prefix, host.endpoints))
  add(host, pageEndpoints(host.prefix, host.endpoints, service.apis.values()))
  host.http(pageDataEndpoint(host.prefix, host.pageEntries))
}

function add(host: Host, endpoints: readonly Endpoint[]): void {
  for (const endpoint of endpoints) host.http(endpoint)
}
