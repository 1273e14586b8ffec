/** A worker process: loads the service, serves it, and stops when the supervisor asks or has ended. @module */
import cluster from 'node:cluster'
import { pathsOf } from '../api/service-protocol.ts'
import { nativeStatus } from '../core/native/add-on.ts'
import { deferred } from '../core/promise.ts'
import { createLogger } from '../engine/log.ts'
import { defaultLimits, type Listener } from '../engine/options.ts'
import { serveFrom } from '../server/listener.ts'
import { joinGroup } from '../server/workers/group-member.ts'
import {
  type DrainRequest,
  isMessageOf,
  sendToSupervisor,
  type WorkerStart,
} from '../server/workers/worker-messages.ts'
import type { Service } from '../service.ts'
import { jpegStatus } from '../values/image/image-addon.ts'
import { explain } from './explain.ts'
import { loadService, modelService } from './load-service.ts'

/** Time on top of `drainTimeoutMs` for the shutdown hooks; less than the supervisor waits. **Units**: milliseconds. */
const closeMarginMs = 1_500
const settings = deferred<WorkerStart>()
// Before the settings are asked for: other messages may come together with them.
process.on('message', (message: unknown) => {
  if (isMessageOf('start', message)) settings.resolve(message)
  else settings.promise.then(() => obey(message))
})
void sendToSupervisor({ kind: 'loaded' })
const { config, opens } = await settings.promise
const { pythonPackages = [] } = config
if (pythonPackages.length > 0) process.env.SERVING_PYTHON_PACKAGES ??= JSON.stringify(pythonPackages)
const logger = createLogger(config.serve.logLevel)
// Set when the startup hooks begin; from then on there may be something to shut down.
let starting: Promise<Listener> | undefined
let service: Service | undefined
let listener: Listener | undefined
let leaving = false
const { group, leave: leaveGroup } = joinGroup(async () => (await listener?.collectMetrics()) ?? [])
const told = deferred<void>()
// Nothing may wait for it.
told.promise.catch(() => {})

// A terminal sends Ctrl-C to the whole process group: the supervisor gets it as well and asks for the stop.
process.on('SIGINT', () => {})
process.on('SIGHUP', () => {})
process.on('SIGTERM', () => leave(0))
cluster.worker?.on('disconnect', () => {
  // The supervisor is gone. Node would end this process at once, unless this says that we meant to disconnect.
  if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true
  leave(0, { atOnce: true })
})
// Unhandled rejections arrive here, too. The state of the process is unknown from here on, so it is replaced; requests
// that run are answered first.
process.on('uncaughtException', (error, origin) => {
  if (listener === undefined) return fail(error)
  logger.fatal({ event: 'uncaught', origin, err: error }, 'uncaught error; this worker finishes its requests and exits')
  leave(1)
})

try {
  service = config.models === undefined ? await loadService(config.file) : modelService(config.file, config.models)
  const when = { at_once: 'at_once', when_loaded: undefined, when_told: told.promise } as const
  starting = serveFrom(service, { ...config.serve, logger }, when[opens], group)
  listener = await starting
  const prefix = (config.serve.baseUrl ?? '/').replace(/\/+$/, '')
  const paths =
    config.serve.jobRole === 'work'
      ? []
      : [
          ...[...service.apis.values(), ...service.routes.values()].map(
            ({ method, route }) => `${method} ${prefix}/${route}`,
          ),
          ...[...service.lives.values()].map(({ route }) => `LIVE ${prefix}/${route}`),
          ...pathsOf(service.protocols, prefix),
          ...(service.mcp ? [`POST ${prefix}/mcp`] : []),
          ...[...service.mounts.keys()].map((path) => `ANY ${prefix}${path.replace(/\/$/, '')}/*`),
        ]
  if (!leaving) {
    const codecs = { nativeCodec: nativeStatus.loaded, jpegLibrary: jpegStatus.library ?? '@napi-rs/image' }
    void sendToSupervisor({ kind: 'ready', service: service.name, paths, engine: listener.engine, ...codecs })
  }
} catch (error) {
  if (leaving) logger.info({ event: 'start_cancelled', err: error }, 'the start was broken off')
  else fail(error)
}

function obey(message: unknown): void {
  if (isMessageOf('drain', message)) leave(0, message)
  else if (isMessageOf('open', message)) told.resolve()
}

function fail(error: unknown): void {
  void sendToSupervisor({ kind: 'failed', message: explain(error) }).then(() => process.exit(1))
}

/** Stops once, whoever asks first. Breaks off a start that has begun, and waits for its shutdown hooks. */
async function leave(code: number, { isReplaced, atOnce = code !== 0 }: Partial<DrainRequest> = {}): Promise<void> {
  if (leaving) return
  leaving = true
  // A shutdown hook that never ends must not keep a process that has no supervisor.
  const { drainTimeoutMs, drainDelayMs } = { ...defaultLimits, ...config.serve }
  setTimeout(() => process.exit(1), drainDelayMs + drainTimeoutMs + closeMarginMs).unref()
  try {
    if (listener === undefined) {
      service?.cancelStart()
      told.reject(new Error('the process was told to stop'))
    }
    // A start that fails runs the shutdown hooks itself, and is reported where it was called.
    listener ??= await starting?.catch(() => undefined)
    // After a fault the other workers take new connections at once; when all stop, probes must see that this one
    // drains.
    await (isReplaced ? listener?.leave() : listener?.close({ accepting: code === 0, atOnce }))
    await leaveGroup()
  } catch (error) {
    logger.error({ event: 'shutdown_failed', err: error }, 'the service did not stop in order')
    process.exit(1)
  }
  process.exit(code)
}
