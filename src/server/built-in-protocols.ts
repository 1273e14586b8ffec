/**
 * All that a server answers, and what it opens for that, with the protocols in the order in which they are attached.
 * No other file of the server, of its engines and of the command imports one. Code is loaded by the services that use
 * it. @module
 */

import { capturedApis } from '../api/capture-options.ts'
import type { Endpoint } from '../api/endpoint.ts'
import type { Mount } from '../api/mount.ts'
import type { Host, Protocol } from '../api/protocol.ts'
import type { Capture } from '../capture/capture.ts'
import { InvalidArgument } from '../core/errors.ts'
import type { ServerState } from '../engine/engine.ts'
import { healthEndpoints } from '../engine/health.ts'
import type { Logger } from '../engine/log.ts'
import type { ServerOptions } from '../engine/options.ts'
import { joinObservers } from '../engine/service-hooks.ts'
import type { RequestObserver } from '../http/outcome.ts'
import { isJobProtocol } from '../jobs/job-kind.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { isLive } from '../live/live-streams.ts'
import type { CallRecorder } from '../telemetry/calls/call-recorder.ts'
import type { CollectGroup } from '../telemetry/metrics/exposition.ts'
import { apiEndpoints } from './endpoints/api-endpoint.ts'
import { mountEndpoint } from './endpoints/mount-endpoint.ts'
import type { ServerJobs } from './jobs/server-jobs.ts'
import type { ServedService } from './served-service.ts'

/** What the protocols of a server are made of, beside its service. */
export interface ServedParts {
  /** Whether the documents and the page are published. */
  readonly docs: boolean
  /** Undefined if no API is asynchronous. */
  readonly jobs?: ServerJobs | undefined
  readonly capture?: Capture | undefined
  /** Of the calls that the page shows while the service is written. */
  readonly recorder?: CallRecorder | undefined
  /** Of the server's telemetry. */
  readonly metrics: readonly Endpoint[]
  readonly canary?: string | undefined
}

/** What a server answers, and has open for that from its start to its end. */
export type Composition = Awaited<ReturnType<typeof compose>>

/** For the last files of a capture where `drainTimeoutMs` is over. **Units**: milliseconds. */
const minCaptureMs = 1000

/**
 * Opens the telemetry of a server, and its jobs and its capture if it has any.
 *
 * @param opened - Gets what closes each of them, also if a later one does not open.
 * @throws InvalidArgument; MissingDependencyException; SetupError.
 */
export async function compose(
  service: ServedService,
  options: ServerOptions,
  docs: boolean,
  log: Logger,
  collectGroup: CollectGroup | undefined,
  recorder: CallRecorder | undefined,
  opened: (() => unknown)[],
) {
  const { startTelemetry } = await import('./telemetry/telemetry.ts')
  const telemetry = await startTelemetry(service, options, log, collectGroup)
  let capture: Capture | undefined
  let stopBy = 0
  opened.push(() => {
    const leftMs = Math.max(minCaptureMs, stopBy - performance.now())
    return Promise.all([telemetry.close(), capture?.close(leftMs)])
  })
  capture = await openCaptureOf(service, log)
  const jobs = await openJobsOf(service, options, log)
  opened.push(() => jobs?.close())
  const observed = (observers: readonly RequestObserver[]) =>
    recorder === undefined ? observers : [recorder.first, ...observers, recorder.last]
  const { canary } = options
  const parts = { docs, jobs, capture, metrics: telemetry.endpoints, recorder, canary }
  return {
    /** Attaches the protocols of the service, and its telemetry. */
    attach: (host: Host) => attachProtocols(host, service, parts),
    /** Told of all requests before the hooks of the service. */
    observers: observed(telemetry.observers),
    /** Why it cannot answer now; undefined if it can. */
    get unready() {
      return jobs?.unready
    },
    /** Whether other processes run the jobs, and nothing else needs the Runners. */
    isWithoutRunners: jobs?.role === 'submit',
    get metricsPort() {
      return telemetry.metricsPort
    },
    /** @returns the metrics of this process. */
    collect: telemetry.collect,
    /**
     * Called before the server listens.
     *
     * @throws SetupError for a port that cannot be listened on.
     */
    listen: telemetry.listen,
    /** Called once the server listens. */
    ready(server: ServerState) {
      jobs?.start(server, joinObservers(observed(telemetry.tracer ? [telemetry.tracer] : [])))
      telemetry.measure()
    },
    /** Called when the server is told to stop: begins no more work of its own. */
    async stop(graceMs: number) {
      stopBy = performance.now() + graceMs
      await jobs?.stop(graceMs)
    },
  }
}

/** Loads what records calls only for a service that asks for it. */
async function openCaptureOf(service: ServedService, log: Logger): Promise<Capture | undefined> {
  if (capturedApis(service).length === 0) return undefined
  return (await import('../capture/capture.ts')).openCapture(service, log)
}

/** Loads the code of jobs only for a service that has them. */
async function openJobsOf(
  service: ServedService,
  options: ServerOptions,
  log: Logger,
): Promise<ServerJobs | undefined> {
  const hasKinds = service.protocols.some((each) => isJobProtocol(each) && each.jobKinds.length > 0)
  if (hasKinds || [...service.apis.values()].some((api) => api.async !== undefined))
    return await (await import('./jobs/server-jobs.ts')).openJobs(service, options, log)
  if (options.jobRole === 'both') return undefined
  throw new InvalidArgument(
    `the service ${service.name} has no asynchronous API (async), whose jobs it could run`,
  )
}

/** Attaches the protocols of a service to its server: those that are built in, and its own. */
export async function attachProtocols(
  host: Host,
  service: ServedService,
  parts: ServedParts,
): Promise<void> {
  const { docs, jobs, recorder } = parts
  const apis = apiEndpoints(host, service, jobs)
  // A process that only runs jobs answers no APIs, but knows them.
  if (jobs?.role === 'work') return await attachOperations(host, service, parts)
  add(host, apis)
  jobs?.attach(host, docs)
  attachMounts(host, service.mounts.values())
  const { attachRpc } = await import('../rpc/service-methods.ts')
  attachRpc(host, service)
  const { attachOip } = await import('../protocols/oip/protocol.ts')
  attachOip(host, service)
  for (const protocol of service.protocols) await attachOwn(host, protocol, jobs?.jobs)
  const { connectEndpoints } = await import('../rpc/connect.ts')
  add(host, connectEndpoints(host))
  await attachOperations(host, service, parts)
  const { attachLives } = await import('../live/live-protocol.ts')
  attachLives(host, service.lives)
  await attachResources(host, service)
  if (service.mcp) {
    const { attachMcp } = await import('../protocols/mcp/endpoint.ts')
    attachMcp(host, service, jobs?.jobs)
  }
  if (!docs) return
  if (recorder) {
    const { attachCalls } = await import('./development/calls-protocol.ts')
    attachCalls(host, recorder)
  }
  // Last, since what a service itself answers at these paths wins.
  await attachDocs(host, service)
}

/** Health, metrics and splits, which every process answers. */
async function attachOperations(
  host: Host,
  { runners }: ServedService,
  { jobs, capture, metrics, canary }: ServedParts,
): Promise<void> {
  add(host, healthEndpoints(host.unready))
  if (canary !== undefined || runners.some(({ versions }) => versions !== undefined)) {
    const { attachSplits } = await import('./endpoints/splits.ts')
    attachSplits(host, runners, canary)
  }
  add(host, metrics)
  for (const each of [jobs, capture]) if (each) host.metrics(() => each.metrics())
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

/** Lists the paths of a protocol that have no operation on the page, too. The document has its live streams. */
async function attachOwn(host: Host, protocol: Protocol, jobs: Jobs | undefined): Promise<void> {
  const { name: group } = protocol
  const first = host.endpoints.length
  await (isJobProtocol(protocol) ? protocol.attach(host, jobs) : protocol.attach(host))
  for (const endpoint of host.endpoints.slice(first)) {
    const { path, methods, operation } = endpoint
    const isListed =
      host.pageEntries.some((entry) => entry.path === path) ||
      (isLive(endpoint) && path.startsWith(`${host.prefix}/`))
    if (operation === undefined && methods.length > 0 && !isListed)
      host.page({ group, path, methods: methods === 'any' ? pageMethods : methods })
  }
}

async function attachResources(host: Host, service: ServedService): Promise<void> {
  const { auth, apis, routes, lives } = service
  const guarded = [...apis.values(), ...routes.values(), ...lives.values()]
  const resources = [auth, ...guarded.map((each) => each.auth || undefined)].flatMap(
    (hook) => hook?.protectedResource ?? [],
  )
  if (resources.length === 0) return
  const { resourceEndpoints } = await import('./endpoints/protected-resources.ts')
  add(host, resourceEndpoints(resources))
}

async function attachDocs(host: Host, service: ServedService): Promise<void> {
  const [{ docsEndpoints }, { pageEndpoints }, { pageDataEndpoint }] = await Promise.all([
    import('../docs/openapi/docs-endpoint.ts'),
    import('../docs/page-endpoints.ts'),
    import('../docs/page-data.ts'),
  ])
  add(host, docsEndpoints(service, host.prefix, host.endpoints))
  add(host, pageEndpoints(host.prefix, host.endpoints, service.apis.values()))
  host.http(pageDataEndpoint(host.prefix, host.pageEntries, host.endpoints))
}

function add(host: Host, endpoints: readonly Endpoint[]): void {
  for (const endpoint of endpoints) host.http(endpoint)
}
