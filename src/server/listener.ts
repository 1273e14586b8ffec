/** Runs a service as a server. @module */

import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises'
import { endAll } from '../api/service-life.ts'
import { InvalidArgument } from '../core/errors.ts'
import { tempFileFault } from '../core/file/temp-file.ts'
import { checkThat } from '../core/options.ts'
import type { Address, Engine, ServerState } from '../engine/engine.ts'
import type { HealthState } from '../engine/health.ts'
import { createLogger, type Logger } from '../engine/log.ts'
import {
  type EngineName,
  type Listener,
  limitsOfNode,
  parseDisclosure,
  parseServeOptions,
  type ServeOptions,
} from '../engine/options.ts'
import { parseBaseUrl } from '../engine/router.ts'
import { openTlsFiles } from '../engine/tls-files.ts'
import { listenUws } from '../engine/uws/uws.ts'
import { loadUws } from '../engine/uws/uws-package.ts'
import type { GrpcEngine } from '../rpc/grpc.ts'
import type { RunnerEvent } from '../runner/worker-supervisor.ts'
import type { CallRecorder } from '../telemetry/calls/call-recorder.ts'
import { type Composition, compose } from './built-in-protocols.ts'
import { reclaimMemory } from './memory-reclaimer.ts'
import type { ServedService } from './served-service.ts'
import { createServerState } from './server-state.ts'
import type { WorkerGroup } from './workers/group-member.ts'

/**
 * Runs the startup hooks of a service, listens, and resolves once requests are answered. If that
 * fails, nothing stays open and the shutdown hooks have run.
 *
 * @throws InvalidArgument for a wrong or unknown option, or `engine: 'uws'` where it does not load;
 * SetupError for a port that cannot be listened on; whatever a startup hook throws.
 * @example
 * `const listener = await serve(svc, { port: 3000 }); process.once('SIGTERM', () =>
 * listener.close())`
 */
export function serve(service: ServedService, options: ServeOptions = {}): Promise<Listener> {
  return serveFrom(service, options)
}

/**
 * As {@link serve}, for a worker process. `opens`: `at_once` listens before the startup hooks and models, which
 * requests are refused for meanwhile; a promise is waited for when they are there. `group`: undefined for one alone.
 * `recorder`: keeps calls for the page while a service is written.
 */
export async function serveFrom(
  service: ServedService,
  options: ServeOptions,
  opens?: 'at_once' | Promise<void>,
  group?: WorkerGroup,
  recorder?: CallRecorder,
): Promise<Listener> {
  checkService(service)
  const settings = parseServeOptions(options)
  const { host, port, jobRole } = settings
  // One that runs jobs has no APIs.
  const grpcPort = jobRole === 'work' ? undefined : settings.grpcPort
  const prefix = parseBaseUrl(options.baseUrl ?? '/')
  const log = settings.logger ?? createLogger(settings.logLevel)
  const disclosure = parseDisclosure(settings)
  const fault = tempFileFault()
  if (fault !== undefined) {
    const remedy = 'large uploads fail; TMPDIR names the directory'
    const message = `no temporary file can be written (${fault.message}): ${remedy}`
    log.error({ event: 'temporary_files', err: fault }, message)
  }
  // Before the hooks: no model should be loaded when the binary is missing.
  const start = pickEngine(options.engine, log)
  if (start !== listenNode) {
    if (options.tlsClientCa !== undefined) throw new InvalidArgument(noClientCa)
    const name = limitsOfNode.find((each) => options[each] !== undefined)
    if (name !== undefined) throw new InvalidArgument(`${name} needs engine node: ${builtIn}`)
  }
  const opened: (() => unknown)[] = []
  let engine: Engine | undefined
  try {
    const composition = await compose(
      service,
      settings,
      disclosure.docs,
      log,
      group?.collect,
      recorder,
      opened,
    )
    const server = await createServerState(service, settings, prefix, log, disclosure, {
      composition,
      askProcesses: group?.ask,
    })
    if (group !== undefined) group.host = server.host
    for (const runner of service.runners)
      opened.push(runner.watch((event) => logRunner(log, runner.name, event)))
    const tls = openTlsFiles(options, log)
    const address = { host, port, tls }
    opened.push(() => tls?.close())
    opened.push(() => service.stop())
    if (opens === 'at_once') engine = await start(server, address)
    await service.start({
      modelGraceMs: settings.modelGraceMs,
      withRunners: !composition.isWithoutRunners,
    })
    // Before the port opens: it takes a while, during which requests would be refused.
    const grpc = grpcPort === undefined ? undefined : (await import('../rpc/grpc.ts')).listenGrpc
    await composition.listen({ ...server, engine: start === listenNode ? 'node' : 'uws' })
    await opens
    // Before listening: on a port shared with other workers, the first connection may come at once.
    server.health.state = 'ready'
    engine ??= await start(server, address)
    composition.ready(server)
    const grpcAddress = { ...address, port: grpcPort as number }
    const grpcEngine = await grpc?.(server, grpcAddress, disclosure.introspection, options.grpcTls)
    const reclaimer = reclaimMemory(() => server.limiter.wasIdle())
    opened.push(() => reclaimer.stop())
    return listenerOf(server, engine, grpcEngine, composition, () => endAll(opened.toReversed()))
  } catch (error) {
    await engine?.close()
    await endAll(opened.toReversed()).catch((cause) =>
      log.warn({ err: cause }, 'a shutdown hook failed after a failed start'),
    )
    throw error
  }
}

function logRunner(log: Logger, runner: string, { kind, message, cause }: RunnerEvent): void {
  const fields = { event: `runner_${kind}`, runner, err: cause }
  if (kind === 'replaced' || kind === 'printed' || kind === 'environment') log.info(fields, message)
  else log.error(fields, message)
}

const noClientCa =
  'tlsClientCa needs engine node: uWebSockets.js asks clients for a certificate but lets them in without one; ' +
  "use --engine node (engine: 'node'), or a proxy in front that checks the certificates of clients"

const builtIn =
  'uWebSockets.js closes connections that send no whole headers, or nothing, for 10 s, and does not tell which ' +
  "one has closed; use --engine node (engine: 'node'), or a proxy in front"

type StartEngine = (server: ServerState, address: Address) => Promise<Engine>

/** As the engine's own, which is loaded where it listens. */
async function listenNode(server: ServerState, address: Address): Promise<Engine> {
  const node = await import('../engine/node/node.ts')
  return await node.listenNode(server, address)
}

/**
 * @returns the engine of that name, or the fastest that loads.
 * @throws InvalidArgument if `uws` is named and does not.
 */
export function pickEngine(
  name: EngineName | undefined,
  log: Logger,
  load: typeof loadUws = loadUws,
): StartEngine {
  if (name === 'node') return listenNode
  const uws = load()
  if (typeof uws !== 'string') {
    log.debug({ uws: uws.origin }, `the engine is ${uws.origin}`)
    return (server, address) => listenUws(uws.uws, server, address)
  }
  if (name === 'uws') throw new InvalidArgument(`engine uws does not load here: ${uws}`)
  log.warn(
    { reason: uws },
    'uWebSockets.js does not load here; serving on node:http, which is slower',
  )
  return listenNode
}

/** Time for the next request of a connection in use, when a successor has taken over. **Units**: milliseconds. */
const maxLastRequestMs = 1000

/** Time for the close frames of live streams. **Units**: milliseconds. */
const lastFramesMs = 1000

/** Resolves when the event loop has handled what its sockets have received. */
async function polled(): Promise<void> {
  // The first turn may end before the loop looks at the sockets, the second accepts, the third reads.
  for (let turns = 0; turns < 3; turns++) await turn()
}

function listenerOf(
  { health, limiter, limits, lives, log }: ServerState,
  engine: Engine,
  grpc: GrpcEngine | undefined,
  composition: Composition,
  closeRest: () => Promise<void>,
): Listener {
  const delay = new AbortController()
  let closing: Promise<void> | undefined
  let stopping: Promise<void> | undefined

  /** Takes no more jobs from now on: those that run have the time to drain, then other processes take them. */
  const stop = () => {
    stopping ??= composition.stop(limits.drainTimeoutMs)
  }

  const drain = async (timeoutMs = limits.drainTimeoutMs) => {
    // The socket stays open meanwhile, so that the readiness probe sees `draining` instead of a refused connection.
    health.state = 'draining'
    grpc?.drain()
    if (!(await limiter.idle(timeoutMs))) {
      log.warn(
        { inFlight: limiter.open },
        'requests still ran at the end of drainTimeoutMs and were aborted',
      )
    }
    await lives.stop(lastFramesMs)
    await stopping
    await Promise.all([engine.close(), grpc?.close()])
    await closeRest()
  }

  const handOver = async (state: HealthState) => {
    // Connections that the kernel has made and nobody has accepted yet would be reset.
    await polled()
    engine.stopAccepting()
    grpc?.leave()
    // Not before: from now on answers close their connections, and their clients connect again.
    health.state = state
    const lastRequestMs = Math.min(maxLastRequestMs, limits.drainTimeoutMs)
    await wait(lastRequestMs)
    // A loop that is late runs its timers before it reads new bytes.
    await polled()
    await limiter.idle(limits.drainTimeoutMs - lastRequestMs)
    await drain(0)
  }

  const drainLater = async () => {
    health.state = 'stopping'
    grpc?.drain()
    await wait(limits.drainDelayMs, undefined, { signal: delay.signal }).catch(() => {})
    await handOver('stopping')
  }

  return {
    port: engine.port,
    engine: engine.name,
    grpcPort: grpc?.port,
    metricsPort: composition.metricsPort,
    collectMetrics: composition.collect,
    close({ accepting = true, atOnce = !accepting } = {}) {
      if (!accepting && closing === undefined) engine.stopAccepting()
      if (atOnce) delay.abort()
      stop()
      closing ??= atOnce || limits.drainDelayMs === 0 ? drain() : drainLater()
      return closing
    },
    leave() {
      stop()
      closing ??= handOver('leaving')
      return closing
    },
  }
}

/** By its members, not instanceof: the service's file may have loaded another copy of the package. */
function checkService(service: unknown): void {
  const { apis, start, stop } = (service ?? {}) as Partial<ServedService>
  const isService = [apis?.values, start, stop].every((each) => typeof each === 'function')
  checkThat(isService, 'a Service', 'serve', service)
}
