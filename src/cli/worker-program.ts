/** A worker: loads the service, serves it, and stops when the supervisor asks or has ended. @module */
import cluster from 'node:cluster'
import { nativeStatus } from '../core/native/add-on.ts'
import { deferred } from '../core/promise.ts'
import { createLogger } from '../engine/log.ts'
import { defaultLimits, type Listener } from '../engine/options.ts'
import { servicePaths } from '../server/describe-server.ts'
import { serveFrom } from '../server/listener.ts'
import { joinGroup } from '../server/workers/group-member.ts'
import {
  type DrainRequest,
  isMessageOf,
  sendToSupervisor,
  type WorkerStart,
} from '../server/workers/worker-messages.ts'
import { endLoading } from '../server/workers/worker-options.ts'
import type { Service } from '../service.ts'
import { jpegStatus } from '../values/image/image-addon.ts'
import { explain } from './explain.ts'
import { loadService, modelService } from './load-service.ts'

endLoading()

/** Time on top of `drainTimeoutMs` for the shutdown hooks; less than the supervisor waits. **Units**: milliseconds. */
const closeMarginMs = 1_500
const settings = deferred<WorkerStart>()
// Before the settings are asked for: other messages may come together with them.
process.on('message', (message: unknown) => {
  if (isMessageOf('start', message)) settings.resolve(message)
  else settings.promise.then(() => program.obey(message))
})
void sendToSupervisor({ kind: 'loaded' })
const { config, opens } = await settings.promise

/** Serves the service of this process until it is told to stop. */
class WorkerProgram {
  readonly #logger = createLogger(config.serve.logLevel)
  readonly #group = joinGroup(async () => (await this.#listener?.collectMetrics()) ?? [])
  readonly #told = deferred<void>()
  // Set when the startup hooks begin; from then on there may be something to shut down.
  #starting: Promise<Listener> | undefined
  #service: Service | undefined
  #listener: Listener | undefined
  #isLeaving = false

  constructor() {
    // Nothing may wait for it.
    this.#told.promise.catch(() => {})
    // A terminal sends Ctrl-C to the whole process group: the supervisor gets it as well and asks for the stop.
    process.on('SIGINT', () => {})
    process.on('SIGHUP', () => {})
    process.on('SIGTERM', () => this.#leave(0))
    cluster.worker?.on('disconnect', () => {
      // The supervisor is gone. Node would end this process at once, unless this says that we meant to disconnect.
      if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true
      this.#leave(0, { atOnce: true })
    })
    // Unhandled rejections arrive here, too. The state of the process is unknown from here on, so it is replaced;
    // requests that run are answered first.
    process.on('uncaughtException', (err, origin) => {
      if (this.#listener === undefined) return fail(err)
      const message = 'uncaught error; this worker finishes its requests and exits'
      this.#logger.fatal({ event: 'uncaught', origin, err }, message)
      this.#leave(1)
    })
  }

  async run(): Promise<void> {
    try {
      const { file, models } = config
      const service =
        models === undefined ? await loadService(file) : modelService({ folder: file, ...models })
      this.#service = service
      const when = {
        at_once: 'at_once',
        when_loaded: undefined,
        when_told: this.#told.promise,
      } as const
      this.#starting = serveFrom(
        service,
        { ...config.serve, logger: this.#logger },
        when[opens],
        this.#group.group,
        await openRecorder(),
      )
      this.#listener = await this.#starting
      if (!this.#isLeaving) await sendReady(service, this.#listener)
    } catch (error) {
      if (this.#isLeaving)
        this.#logger.info({ event: 'start_cancelled', err: error }, 'the start was broken off')
      else fail(error)
    }
  }

  obey(message: unknown): void {
    if (isMessageOf('drain', message)) this.#leave(0, message)
    else if (isMessageOf('open', message)) this.#told.resolve()
  }

  /** Stops once, whoever asks first. Breaks off a start that has begun, and waits for its shutdown hooks. */
  async #leave(
    code: number,
    { isReplaced, atOnce = code !== 0 }: Partial<DrainRequest> = {},
  ): Promise<void> {
    if (this.#isLeaving) return
    this.#isLeaving = true
    // A shutdown hook that never ends must not keep a process that has no supervisor.
    const { drainTimeoutMs, drainDelayMs } = { ...defaultLimits, ...config.serve }
    setTimeout(() => process.exit(1), drainDelayMs + drainTimeoutMs + closeMarginMs).unref()
    try {
      if (this.#listener === undefined) {
        this.#service?.cancelStart()
        this.#told.reject(new Error('the process was told to stop'))
      }
      // A start that fails runs the shutdown hooks itself, and is reported where it was called.
      const listener = this.#listener ?? (await this.#starting?.catch(() => undefined))
      // After a fault the other workers take new connections at once; when all stop, probes must see that this one
      // drains.
      await (isReplaced ? listener?.leave() : listener?.close({ accepting: code === 0, atOnce }))
      await this.#group.leave()
    } catch (error) {
      this.#logger.error(
        { event: 'shutdown_failed', err: error },
        'the service did not stop in order',
      )
      process.exit(1)
    }
    process.exit(code)
  }
}

async function openRecorder() {
  if (config.isDevelopment !== true) return undefined
  return (await import('../server/development/calls-protocol.ts')).openRecorder()
}

async function sendReady(service: Service, { engine }: Listener): Promise<void> {
  const prefix = (config.serve.baseUrl ?? '/').replace(/\/+$/, '')
  const paths = config.serve.jobRole === 'work' ? [] : await servicePaths(service, prefix)
  const codecs = {
    nativeCodec: nativeStatus.loaded,
    jpegLibrary: jpegStatus.library ?? '@napi-rs/image',
  }
  void sendToSupervisor({ kind: 'ready', service: service.name, paths, engine, ...codecs })
}

function fail(error: unknown): void {
  void sendToSupervisor({ kind: 'failed', message: explain(error) }).then(() => process.exit(1))
}

const { pythonPackages = [] } = config
if (pythonPackages.length > 0)
  process.env.SERVING_PYTHON_PACKAGES ??= JSON.stringify(pythonPackages)
const program = new WorkerProgram()
await program.run()
