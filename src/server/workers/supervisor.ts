/**
 * Runs worker processes that share one port, restarts those that die, and stops them all without losing a request.
 * @module
 */
import cluster, { type Worker } from 'node:cluster'
import { isatty } from 'node:tty'
import { InvalidArgument } from '../../core/errors.ts'
import { deferred } from '../../core/promise.ts'
import { type Pauses, Restarts } from '../../core/restarts.ts'
import { defaultLimits, type ServeOptions, type ServeSettings } from '../../engine/options.ts'
import type { ListeningServer } from '../../http/node-http.ts'
import { setWorkerFile, takeFirstWorker } from './first-worker.ts'
import { takePort } from './free-port.ts'
import { type WorkerOptions, warnOfKept } from './kept-options.ts'
import { watchNpmParent } from './npm-parent.ts'
import { sharing } from './port-sharing.ts'
import { originOf, readyLines } from './ready-lines.ts'
import { type WorkerGroup, workerGroup } from './worker-group.ts'
import type { Opens, WorkerConfig, WorkerReady } from './worker-messages.ts'
import { type Exit, WorkerProcess } from './worker-process.ts'

const pauses: Pauses = { firstMs: 100, longestMs: 10_000 }
/** A worker that was ready for this long was healthy. **Units**: milliseconds. */
const healthyAfterMs = 10_000

/** Time on top of `drainTimeoutMs` for workers to exit, before they are killed. **Units**: milliseconds. */
const exitMarginMs = 2_000

/**
 * A signal repeated within this time counts once: npm forwards a Ctrl-C that we had already. **Units**: milliseconds.
 */
const sameSignalMs = 100

/** Options of {@link supervise}. */
export interface SupervisorOptions {
  readonly workerFile: URL
  readonly workers: number
  /** Settings of each worker; port 0 is replaced by a free one. */
  readonly config: WorkerConfig
  readonly logger: NonNullable<ServeOptions['logger']>
  /** Prints lines for a human: the address of the service once all workers are ready. */
  readonly print: (line: string) => void
  /** Reads the options again before a reload; see {@link warnOfKept}. */
  readonly refresh?: () => Promise<WorkerOptions>
  /**
   * Reloads when sources change; a worker that does not start waits for the next change.
   *
   * @default no
   */
  readonly development?: Development
}

/** What a supervisor does while a service is written. */
export interface Development {
  watch(reload: (reason: string) => void): void
  /** Called when new processes have replaced all workers. **Units**: milliseconds. */
  onReload(durationMs: number): void
  onFailure(message: string): void
}

/** One worker with its number; outlives the worker's processes. */
interface Slot {
  readonly number: number
  /** The process that takes requests, or starts to; or undefined. */
  current?: WorkerProcess
  wasReady: boolean
  readonly restarts: Restarts
}

const signals = { SIGINT: 130, SIGTERM: 143 } as const

/**
 * Runs workers until SIGTERM or SIGINT, and resolves to the exit code: 0, or 128 + signal after a
 * second one. Workers of the node engine share a listening socket, those of uws have one each
 * (SO_REUSEPORT).
 *
 * @throws InvalidArgument when the port is taken, or a worker fails before it was ever ready; then
 * all are stopped.
 */
export async function supervise(options: SupervisorOptions): Promise<number> {
  const { workers, logger, workerFile } = options
  const { serve } = options.config
  const shared = sharing(serve.engine, workers, process.platform)
  if (shared.warning !== undefined) logger.warn({ event: 'port_sharing' }, shared.warning)
  const { host, grpcPort, metricsPort } = serve
  const settings: ServeSettings = {
    ...serve,
    port: await takePort(serve.port ?? 3000, host),
    ...(grpcPort === undefined ? {} : { grpcPort: await takePort(grpcPort, host, '--grpc-port') }),
    ...(shared.engine && { engine: shared.engine }),
  }
  const config: WorkerConfig = { ...options.config, serve: settings }
  const group = workerGroup()
  setWorkerFile(workerFile)
  cluster.on('fork', (worker) => group.follow(worker))
  const metrics =
    metricsPort === undefined ? undefined : await openMetrics(group, metricsPort, host)
  const initial = { workers, serve }
  try {
    return await new Supervision({
      ...options,
      config,
      workers: shared.workers,
      initial,
      group,
      metrics,
    }).finished
  } finally {
    await metrics?.close()
  }
}

async function openMetrics(
  group: WorkerGroup,
  port: number,
  host: string | undefined,
): Promise<ListeningServer> {
  // Loaded here: it takes the node engine and a tenth of a second before the first worker starts.
  const { listenMetrics, metricsPage } = await import('../telemetry/metrics-endpoint.ts')
  return await listenMetrics(
    metricsPage(() => group.collect()),
    port,
    host,
  )
}

interface SupervisionOptions extends SupervisorOptions {
  /** Before ports were chosen. */
  readonly initial: WorkerOptions
  readonly group: WorkerGroup
  readonly metrics: ListeningServer | undefined
}

class Supervision {
  readonly #finished = deferred<number>()
  readonly finished = this.#finished.promise
  readonly #options: SupervisionOptions
  readonly #slots: Slot[]
  /** All that run: current ones, successors that start, and predecessors that leave. */
  readonly #processes = new Set<WorkerProcess>()
  #config: WorkerConfig
  /** One that runs already and has no number yet. */
  #first: Worker | undefined
  #announced = false
  #stopping = false
  #reloading = false
  #pendingReload: string | undefined
  #signalAt = Number.NEGATIVE_INFINITY
  #problem: Error | undefined

  constructor(options: SupervisionOptions) {
    this.#options = options
    this.#config = this.#configOf(options.config.serve)
    for (const signal of Object.keys(signals) as (keyof typeof signals)[])
      process.on(signal, () => this.#onSignal(signal))
    this.#first = takeFirstWorker()
    const onTerminal = isatty(2)
    const onHangUp = () => {
      if (!onTerminal || isatty(2)) {
        this.#reload('SIGHUP')
        return
      }
      // The terminal was closed: the signal ends this process, as without a listener, and the workers leave in order.
      // Not by `exit`, which crashes without the terminal (Node 20.20).
      process.off('SIGHUP', onHangUp)
      process.kill(process.pid, 'SIGHUP')
    }
    process.on('SIGHUP', onHangUp)
    watchNpmParent(() => this.#onSignal('SIGTERM'))
    this.#slots = Array.from({ length: options.workers }, (_, i) => {
      const restarts = new Restarts(() => this.#startCurrent(slot), pauses)
      const slot: Slot = { number: i + 1, wasReady: false, restarts }
      return slot
    })
    for (const slot of this.#slots) this.#startCurrent(slot)
    options.development?.watch((reason) => this.#reload(reason))
  }

  #configOf(settings: ServeSettings): WorkerConfig {
    const { config } = this.#options
    const { port, grpcPort, host, engine, metricsPort } = config.serve
    // Metrics on a port of their own are answered by this process: workers only count.
    const metrics =
      metricsPort !== undefined && settings.metrics === false ? 'count' : settings.metrics
    return {
      ...config,
      serve: { ...settings, port, grpcPort, host, engine, metrics, metricsPort: undefined },
    }
  }

  #startCurrent(slot: Slot): void {
    slot.current = this.#start(slot, this.#opensOf(slot))
    slot.current.started.then((ready) => ready !== undefined && this.#onCurrentReady(slot, ready))
  }

  /** The first worker answers probes while it loads; the others must not answer requests before it does. */
  #opensOf({ number }: Slot): Opens {
    if (this.#slots.some(({ wasReady }) => wasReady)) return 'when_loaded'
    return number === 1 ? 'at_once' : 'when_told'
  }

  #start(slot: Slot, opens: Opens = 'when_loaded'): WorkerProcess {
    const { group, logger } = this.#options
    const first = this.#first
    this.#first = undefined
    if (first !== undefined) group.follow(first)
    const worker = new WorkerProcess(slot.number, this.#config, logger, opens, first)
    this.#processes.add(worker)
    worker.started.then((ready) => {
      if (ready === undefined) return
      const event = { event: 'worker_ready', worker: slot.number, workerPid: worker.pid }
      logger.info(event, `worker ${slot.number} is ready`)
    })
    worker.ended.then((exit) => this.#onExit(slot, worker, exit))
    return worker
  }

  #onCurrentReady(slot: Slot, ready: WorkerReady): void {
    slot.wasReady = true
    if (slot.number === 1)
      for (const other of this.#slots) if (!other.wasReady) other.current?.open()
    if (this.#announced || this.#stopping || !this.#slots.every((each) => each.wasReady)) return
    this.#announced = true
    const { workers, config, metrics, print } = this.#options
    print(readyLines(ready, workers, config.serve).join('\n'))
    if (metrics !== undefined)
      print(`metrics at ${originOf(config.serve.host, metrics.port)}/metrics`)
    this.#reloadIfPending()
  }

  #onExit(slot: Slot, worker: WorkerProcess, { code, signal }: Exit): void {
    const { group, logger, development } = this.#options
    this.#processes.delete(worker)
    const how = signal === null ? `exited with code ${code}` : `was ended by ${signal}`
    const event = { event: 'worker_exit', worker: slot.number, workerPid: worker.pid, code, signal }
    const isCurrent = slot.current === worker
    if (isCurrent) slot.current = undefined
    if (this.#stopping || !isCurrent) {
      const level = this.#problem === undefined ? 'info' : 'debug'
      logger[level](event, `worker ${slot.number} ${how}`)
      if (this.#stopping) this.#settleWhenAlone()
      return
    }
    if (!slot.wasReady) {
      // It never served: a restart would fail the same way, and a crash loop hides its cause.
      const failure = worker.failure ?? `worker ${slot.number} ${how} before it was ready`
      if (development !== undefined) {
        development.onFailure(failure)
        this.#reloadIfPending()
        return
      }
      this.#problem = new InvalidArgument(failure)
      this.#stop(0)
      return
    }
    const { readyAt } = worker
    const worked = readyAt !== 0 && performance.now() - readyAt >= healthyAfterMs
    const delayMs = slot.restarts.again(worked)
    const { failure } = worker
    logger.error(
      { ...event, failure, delayMs },
      `worker ${slot.number} ${how}; the next one starts in ${delayMs} ms`,
    )
    group.restarted()
  }

  /**
   * Replaces the workers one by one; each successor is ready before its predecessor leaves. If asked meanwhile, once
   * more.
   */
  async #reload(reason: string): Promise<void> {
    this.#pendingReload = reason
    // A worker that starts for the first time may have read some of the changes since.
    const isStarting = this.#slots.some(
      ({ current, wasReady }) => !wasReady && current !== undefined,
    )
    if (this.#reloading || this.#stopping || isStarting) return
    this.#reloading = true
    this.#pendingReload = undefined
    const { logger, development } = this.#options
    logger.info({ event: 'reload' }, `${reason}: replacing the workers one by one`)
    const begun = performance.now()
    const failure = await this.#replaceAll().catch((error: Error) => error.message)
    this.#reloading = false
    if (this.#stopping) return
    const durationMs = Math.round(performance.now() - begun)
    if (development !== undefined) {
      if (failure === undefined) development.onReload(durationMs)
      else development.onFailure(failure)
    } else if (failure === undefined)
      logger.info({ event: 'reloaded', durationMs }, `reloaded in ${durationMs} ms`)
    else
      logger.error(
        { event: 'reload_failed', failure },
        'the new worker did not start; the old ones stay',
      )
    this.#reloadIfPending()
  }

  #reloadIfPending(): void {
    if (this.#pendingReload !== undefined) this.#reload(this.#pendingReload)
  }

  async #replaceAll(): Promise<string | undefined> {
    const { initial, logger, refresh, group } = this.#options
    const next = await refresh?.()
    group.reloaded()
    if (next !== undefined) {
      warnOfKept(logger, initial, next)
      this.#config = this.#configOf(next.serve)
    }
    let left: Promise<unknown> | undefined
    for (const slot of this.#slots) {
      await left
      if (this.#stopping) return undefined
      const next = this.#start(slot)
      const ready = await next.started
      if (this.#stopping) return undefined
      if (ready === undefined)
        return next.failure ?? `worker ${slot.number} ended before it was ready`
      slot.restarts.cancel()
      const previous = slot.current
      slot.current = next
      this.#onCurrentReady(slot, ready)
      if (previous !== undefined) left = this.#handOver(previous)
    }
    return undefined
  }

  async #handOver(worker: WorkerProcess): Promise<void> {
    worker.drain({ isReplaced: true })
    const late = setTimeout(
      () => worker.kill('did not leave in time'),
      this.#drainMs + exitMarginMs,
    )
    await worker.ended
    clearTimeout(late)
  }

  get #drainMs(): number {
    return this.#options.config.serve.drainTimeoutMs ?? defaultLimits.drainTimeoutMs
  }

  #onSignal(signal: keyof typeof signals): void {
    if (performance.now() - this.#signalAt < sameSignalMs) return
    if (!this.#stopping) {
      this.#signalAt = performance.now()
      this.#options.logger.info(
        { event: 'drain', signal },
        `${signal}: finishing the running requests`,
      )
      // Behind Ctrl-C there is a user who waits, and no load balancer.
      const atOnce = signal === 'SIGINT'
      const { drainDelayMs = defaultLimits.drainDelayMs } = this.#options.config.serve
      this.#stop(this.#drainMs + (atOnce ? 0 : drainDelayMs), atOnce)
      return
    }
    this.#options.logger.warn({ event: 'stop_now', signal }, `${signal} again: stopping at once`)
    this.#killAll('is stopped at once')
    this.#finished.resolve(signals[signal])
  }

  #stop(drainMs: number, atOnce = true): void {
    this.#stopping = true
    for (const slot of this.#slots) slot.restarts.cancel()
    for (const worker of this.#processes) worker.drain({ atOnce })
    setTimeout(() => this.#killAll('did not stop in time'), drainMs + exitMarginMs).unref()
    this.#settleWhenAlone()
  }

  #killAll(why: string): void {
    for (const worker of this.#processes) worker.kill(why)
  }

  #settleWhenAlone(): void {
    if (this.#processes.size > 0) return
    if (this.#problem === undefined) this.#finished.resolve(0)
    else this.#finished.reject(this.#problem)
  }
}
