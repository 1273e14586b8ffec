/**
 * Runs worker processes that share one port, restarts those that die, and stops them all without losing a request.
 * @module
 */
import cluster, { type Worker } from 'node:cluster'
import { fileURLToPath } from 'node:url'
import { InvalidArgument } from '../errors.ts'
import { defaultLimits, type EngineName, type ServeOptions, type ServeSettings } from '../server/options.ts'
import { takePort } from './free-port.ts'
import { closeLostConnections } from './handed-connections.ts'
import { healthyAfterMs, restartDelay } from './restart-delay.ts'
import {
  type DrainRequest,
  isMessageOf,
  type WorkerConfig,
  type WorkerFailed,
  type WorkerReady,
} from './worker-messages.ts'

/** Time on top of `drainTimeoutMs` for workers to exit, before they are killed. **Units**: milliseconds. */
export const exitMarginMs = 2_000

/**
 * A signal repeated within this time counts once: npm forwards a Ctrl-C that the terminal has already sent to us.
 * **Units**: milliseconds.
 */
export const sameSignalMs = 100

/** Options of {@link supervise}. */
export interface SupervisorOptions {
  /** Program of the worker processes; gets a {@link WorkerConfig} as JSON in its first argument. */
  readonly workerFile: URL
  readonly workers: number
  /** Settings of each worker; port 0 is replaced by a free one. */
  readonly config: WorkerConfig
  readonly logger: NonNullable<ServeOptions['logger']>
  /** Prints lines for a human: the address of the service once all workers are ready. */
  readonly print: (line: string) => void
}

/** The slot of one worker, with a number; outlives the worker's processes. */
interface Slot {
  readonly number: number
  worker?: Worker
  /** When the present process became ready; 0 before. **Units**: milliseconds of the monotonic clock. */
  readyAt: number
  wasReady: boolean
  restartsInARow: number
  restart?: NodeJS.Timeout
  failure?: string
}

const signals = { SIGINT: 130, SIGTERM: 143 } as const

/**
 * Runs workers until SIGTERM or SIGINT, and resolves to the exit code: 0 after an orderly stop, 128 + signal when a
 * second signal cut it short.
 *
 * Uses node:cluster: the node engine shares the port through the parent's round robin; the uws engine shares it in the
 * kernel, by SO_REUSEPORT. The parent never loads the service, so a fault in it ends at most a worker.
 *
 * **Errors**: InvalidArgument when the port is taken, or a worker fails before it was ever ready; then all are stopped.
 */
export async function supervise(options: SupervisorOptions): Promise<number> {
  const { workers, logger } = options
  const { serve } = options.config
  const shared = sharing(serve.engine, workers, process.platform)
  if (shared.warning !== undefined) logger.warn({ event: 'port_sharing' }, shared.warning)
  const { host, grpcPort } = serve
  const settings: ServeSettings = {
    ...serve,
    port: await takePort(serve.port ?? 3000, host),
    ...(grpcPort === undefined ? {} : { grpcPort: await takePort(grpcPort, host, '--grpc-port') }),
    ...(shared.engine === undefined ? {} : { engine: shared.engine }),
  }
  const config: WorkerConfig = { ...options.config, serve: settings }
  return await new Supervision({ ...options, config, workers: shared.workers }).finished
}

/**
 * Returns the engine and the number of workers that can share a port on a platform. Only Linux spreads connections over
 * sockets with SO_REUSEPORT. Elsewhere (our choice): the node engine for several workers, since their number is what a
 * user with several cores wants; but one worker when uws was asked for by name.
 */
export function sharing(
  engine: EngineName | undefined,
  workers: number,
  platform: NodeJS.Platform,
): { engine: EngineName | undefined; workers: number; warning?: string } {
  if (platform === 'linux' || workers === 1 || engine === 'node') return { engine, workers }
  const why = `on ${platform} several processes cannot share a port with the uws engine`
  if (engine === 'uws') return { engine, workers: 1, warning: `${why}: running 1 worker instead of ${workers}` }
  return { engine: 'node', workers, warning: `${why}: running ${workers} workers with the node engine` }
}

class Supervision {
  readonly finished: Promise<number>
  readonly #options: SupervisorOptions
  readonly #slots: Slot[]
  #settle!: { readonly resolve: (code: number) => void; readonly reject: (error: Error) => void }
  #announced = false
  #stopping = false
  #signalAt = Number.NEGATIVE_INFINITY
  #problem: Error | undefined

  constructor(options: SupervisorOptions) {
    this.#options = options
    this.finished = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject }
    })
    cluster.setupPrimary({ exec: fileURLToPath(options.workerFile), args: [JSON.stringify(options.config)] })
    for (const signal of Object.keys(signals) as (keyof typeof signals)[])
      process.on(signal, () => this.#onSignal(signal))
    this.#slots = Array.from({ length: options.workers }, (_, i) => ({
      number: i + 1,
      readyAt: 0,
      wasReady: false,
      restartsInARow: 0,
    }))
    for (const slot of this.#slots) this.#fork(slot)
  }

  #fork(slot: Slot): void {
    slot.readyAt = 0
    slot.failure = undefined
    let worker: Worker
    try {
      worker = cluster.fork()
    } catch (error) {
      this.#onNoProcess(slot, error)
      return
    }
    slot.worker = worker
    closeLostConnections(worker, () => {
      const reason = 'it is busy, or has no file descriptor left'
      const message = `worker ${slot.number} did not take a connection in time: ${reason}`
      this.#options.logger.warn({ event: 'connection_lost', worker: slot.number }, message)
    })
    worker.on('message', (message: unknown) => {
      if (isMessageOf<WorkerReady>('ready', message)) this.#onReady(slot, message)
      else if (isMessageOf<WorkerFailed>('failed', message)) slot.failure = message.message
    })
    worker.on('error', (error) => {
      if (worker.process.pid === undefined) return this.#onNoProcess(slot, error)
      // Otherwise the worker died while we wrote to it; its exit event is handled below.
      this.#options.logger.debug({ event: 'worker_channel', worker: slot.number, err: error })
    })
    // Not 'exit', which can come before the last message: 'close' comes after the channel was read to its end.
    worker.process.on('close', (code, signal) => {
      if (worker.process.pid !== undefined) this.#onExit(slot, code ?? 0, signal)
    })
  }

  /** Called when no process could be started: out of memory, or at the limit of processes. No exit event follows. */
  #onNoProcess(slot: Slot, error: unknown): void {
    slot.failure = `worker ${slot.number} could not be started: ${error instanceof Error ? error.message : error}`
    this.#onExit(slot, -1, null)
  }

  #onReady(slot: Slot, message: WorkerReady): void {
    const { logger } = this.#options
    slot.readyAt = performance.now()
    slot.wasReady = true
    logger.info(
      { event: 'worker_ready', worker: slot.number, workerPid: slot.worker?.process.pid },
      `worker ${slot.number} is ready`,
    )
    if (this.#announced || this.#stopping || !this.#slots.every((each) => each.wasReady)) return
    this.#announced = true
    for (const line of readyLines(message, this.#options)) this.#options.print(line)
  }

  #onExit(slot: Slot, code: number, signal: string | null): void {
    const { logger } = this.#options
    const how = signal === null ? `exited with code ${code}` : `was ended by ${signal}`
    const event = { event: 'worker_exit', worker: slot.number, workerPid: slot.worker?.process.pid, code, signal }
    slot.worker = undefined
    if (this.#stopping) {
      // After a failed start, its cause is all that is told.
      const level = this.#problem === undefined ? 'info' : 'debug'
      logger[level](event, `worker ${slot.number} ${how}`)
      this.#settleWhenAlone()
      return
    }
    if (!slot.wasReady) {
      // It never served: a restart would fail the same way, and a crash loop hides its cause.
      this.#problem = new InvalidArgument(slot.failure ?? `worker ${slot.number} ${how} before it was ready`)
      this.#stop(0)
      return
    }
    if (slot.readyAt !== 0 && performance.now() - slot.readyAt >= healthyAfterMs) slot.restartsInARow = 0
    const delayMs = restartDelay(slot.restartsInARow++)
    const failure = slot.failure === undefined ? {} : { failure: slot.failure }
    logger.error(
      { ...event, ...failure, delayMs },
      `worker ${slot.number} ${how}; the next one starts in ${delayMs} ms`,
    )
    slot.restart = setTimeout(() => this.#fork(slot), delayMs)
  }

  #onSignal(signal: keyof typeof signals): void {
    if (performance.now() - this.#signalAt < sameSignalMs) return
    if (!this.#stopping) {
      this.#signalAt = performance.now()
      this.#options.logger.info({ event: 'drain', signal }, `${signal}: finishing the running requests`)
      this.#stop(this.#options.config.serve.drainTimeoutMs ?? defaultLimits.drainTimeoutMs)
      return
    }
    this.#options.logger.warn({ event: 'stop_now', signal }, `${signal} again: stopping at once`)
    this.#killAll('is stopped at once')
    this.#settle.resolve(signals[signal])
  }

  #stop(drainMs: number): void {
    this.#stopping = true
    const request: DrainRequest = { type: 'drain' }
    for (const slot of this.#slots) {
      clearTimeout(slot.restart)
      // The callback receives the error of a worker that died at this moment; without it the error would be thrown.
      slot.worker?.send(request, () => {})
    }
    setTimeout(() => this.#killAll('did not stop in time'), drainMs + exitMarginMs).unref()
    this.#settleWhenAlone()
  }

  #killAll(why: string): void {
    for (const { number, worker } of this.#slots) {
      if (worker === undefined) continue
      this.#options.logger.error({ event: 'worker_killed', worker: number }, `worker ${number} ${why}; killing it`)
      worker.process.kill('SIGKILL')
    }
  }

  #settleWhenAlone(): void {
    if (this.#slots.some((slot) => slot.worker !== undefined)) return
    if (this.#problem === undefined) this.#settle.resolve(0)
    else this.#settle.reject(this.#problem)
  }
}

function readyLines(ready: WorkerReady, { config, workers }: SupervisorOptions): string[] {
  const count = workers === 1 ? '1 worker' : `${workers} workers`
  const codec = ready.nativeCodec ? 'native codec' : 'TypeScript codec'
  const { host, port = 0, grpcPort, tlsCert } = config.serve
  const place = originOf(host, port, tlsCert === undefined ? 'http' : 'https')
  return [
    `serving ${ready.service} at ${place} (${count}, ${ready.engine} engine, ${codec}, JPEG by ${ready.jpegLibrary})`,
    ...ready.paths.map((path) => `POST ${path}`),
    ...(grpcPort === undefined ? [] : [`gRPC at ${originOf(host, grpcPort).replace('http://', '')}`]),
  ]
}

/** Returns the URL of a listening address: `localhost` for all addresses, IPv6 in brackets. */
export function originOf(host: string | undefined, port: number, scheme: 'http' | 'https' = 'http'): string {
  if (host === undefined || host === '0.0.0.0' || host === '::') return `${scheme}://localhost:${port}`
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`
}
