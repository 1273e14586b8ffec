/** Keeps the model loaded in all workers of a runner, and in each worker that replaces another. @module */

import { Overloaded, SetupError } from '../core/errors.ts'
import { deferred, within } from '../core/promise.ts'
import { type After, type Pauses, Restarts } from '../core/restarts.ts'
import type { RunnerCounts, ThreadStates } from '../telemetry/metrics/runner-counts.ts'
import type { Clock } from './clock.ts'
import { Dispatcher } from './dispatcher.ts'
import type { LoadMessage, LoadReply } from './model-messages.ts'
import { errorFromFields } from './remote-error.ts'
import type { RunnerSettings } from './runner-options.ts'
import { pack } from './transfer.ts'
import {
  deviceOf,
  type ModelWorker,
  type StartWorker,
  type Transfer,
  WorkerEnded,
  type WorkerOptions,
} from './worker.ts'

/** What happens to a runner's workers, for the log. */
export interface RunnerEvent {
  /**
   * `load_failed`: of a replacement. `hung`: beyond `modelGraceMs`. `printed`: a line of a Python model. `went_back`: a
   * Split to its stable version.
   */
  readonly kind:
    | 'environment'
    | 'ended'
    | 'load_failed'
    | 'replaced'
    | 'hung'
    | 'unhandled_rejection'
    | 'printed'
    | 'went_back'
  readonly message: string
  readonly cause?: Error
}

/** Pauses between the starts of a worker whose model does not load. */
const pauses: Pauses = { firstMs: 250, longestMs: 30_000, atOnce: true }
/** Time for loading models, and then for running calls, when the runner stops. **Units**: milliseconds. */
const stopGraceMs = 1_000

/** What a supervisor needs beside its runner's settings. */
export interface SupervisorOptions {
  readonly start: StartWorker
  readonly clock: Clock
  readonly counts: RunnerCounts
  readonly graceMs: number
  onEvent(event: RunnerEvent): void
}

/** The workers of one runner and the dispatcher that gives them calls, from start to stop. */
export class WorkerSupervisor {
  readonly dispatcher: Dispatcher
  readonly #settings: RunnerSettings
  readonly #options: SupervisorOptions
  readonly #workerOptions: WorkerOptions
  readonly #load: Omit<LoadMessage, 'index' | 'device'>
  /** Sent to each worker: nothing in it may be moved. */
  readonly #loadViews: Transfer[] = []
  readonly #restarts: readonly Restarts[]
  readonly #workers = new Set<ModelWorker>()
  readonly #loads = new Set<Promise<unknown>>()
  readonly #hung = new Set<ModelWorker>()
  readonly #started = deferred<void>()
  /** Why the model was not loaded again. */
  #problem: string | undefined
  #state: 'starting' | 'started' | 'stopped' = 'starting'

  constructor(settings: RunnerSettings, options: SupervisorOptions) {
    this.#settings = settings
    this.#options = options
    const onHung = this.#onHung.bind(this)
    this.dispatcher = new Dispatcher({ ...settings, ...options, onHung })
    this.#load = this.#loadMessage()
    this.#workerOptions = {
      ...settings,
      count: this.#size,
      stray: (worker, cause) => {
        if (this.#state === 'stopped') return
        const message = `a promise that nobody handles was rejected in ${worker.name} of the runner ${settings.name}`
        this.#tell('unhandled_rejection', `${message}: ${cause.message}`, cause)
      },
      printed: (_worker, message) => this.#tell('printed', message),
    }
    const after: After = (ms, run) => options.clock.after(ms, run)
    this.#restarts = Array.from(
      { length: this.#size },
      (_, index) => new Restarts(() => void this.#run(index), pauses, after),
    )
    for (let index = 0; index < this.#size; index++) void this.#run(index)
  }

  get unready(): string | undefined {
    const { name } = this.#settings
    if (this.#state === 'stopped') return `the runner ${name} has stopped`
    if (this.#state === 'started' && this.dispatcher.usable > 0) return undefined
    if (this.dispatcher.workers > 0) return `calls of the runner ${name} hang in all of its workers`
    return this.#problem ?? `the runner ${name} is loading its model`
  }

  get threads(): ThreadStates {
    const starting = Math.max(0, this.#size - this.dispatcher.workers)
    return { ...this.dispatcher.states, starting }
  }

  /**
   * Resolves when all workers have the model.
   *
   * @throws SetupError; then all have ended.
   */
  async started(): Promise<void> {
    try {
      await this.#started.promise
    } catch (error) {
      await this.stop()
      throw error
    }
  }

  /** Ends all workers. Waiting calls fail at once, running ones and models that load have a second. */
  async stop(): Promise<void> {
    this.#state = 'stopped'
    for (const restarts of this.#restarts) restarts.cancel()
    const end = new Overloaded(`the runner ${this.#settings.name} has stopped`)
    this.dispatcher.close(end)
    this.#started.reject(end)
    // onnxruntime-node may end the whole process if its thread is ended while it loads or computes.
    await within(Promise.all(this.#loads), stopGraceMs, undefined)
    await this.dispatcher.idle(stopGraceMs)
    await Promise.all([...this.#workers].map((worker) => worker.end()))
  }

  get #size(): number {
    return Math.max(1, this.#settings.threads)
  }

  #loadMessage(): Omit<LoadMessage, 'index' | 'device'> {
    const { name, module, init, methods, warmup, boundary } = this.#settings
    const views = boundary === 'thread' ? [] : this.#loadViews
    const packShared = (value: unknown) =>
      pack(value, boundary === 'python' ? boundary : 'process', views)
    return {
      kind: 'load',
      runner: name,
      module,
      init: boundary === 'none' ? { value: init } : packShared(init),
      methods: methods.map((method) => method.name),
      warmup: warmup.map(([method, input]) => [method, packShared(input)]),
    }
  }

  /** Runs a worker until it ends, and the next one after a pause. */
  async #run(index: number): Promise<void> {
    let worked = false
    try {
      worked = await this.#runOne(index)
    } catch (error) {
      this.#loadFailed(error as Error)
    }
    if (this.#state === 'started') this.#restarts[index].again(worked)
  }

  /**
   * Resolves when a worker has ended, to whether it had the model.
   *
   * @throws of the system, which starts no other.
   */
  async #runOne(index: number): Promise<boolean> {
    const worker = this.#options.start(this.#workerOptions, index)
    this.#workers.add(worker)
    const load = this.#loadInto(worker, index)
    this.#loads.add(load)
    const isLoaded = await load
    this.#loads.delete(load)
    const cause = await worker.ended
    this.#workers.delete(worker)
    this.dispatcher.removeWorker(worker)
    const wasHung = this.#hung.delete(worker)
    if (this.#state === 'starting') this.#loadFailed(cause)
    else if (this.#state === 'started' && isLoaded && !wasHung)
      this.#tell('ended', `the runner ${this.#settings.name} lost a model: ${cause.message}`, cause)
    return isLoaded
  }

  /** Resolves to whether the worker has the model. */
  async #loadInto(worker: ModelWorker, index: number): Promise<boolean> {
    const { boundary, deviceIds } = this.#settings
    const device =
      boundary === 'process' && deviceIds !== undefined ? 0 : deviceOf(deviceIds, index)
    const message: LoadMessage = { ...this.#load, index, device }
    try {
      const { failure } = (await worker.run(message, this.#loadViews)) as LoadReply
      if (failure !== undefined) throw errorFromFields(failure)
    } catch (error) {
      this.#loadFailed(error as Error, worker)
      return false
    }
    if (this.#state !== 'stopped') this.#loaded(worker)
    return true
  }

  #loaded(worker: ModelWorker): void {
    const { name } = this.#settings
    this.#problem = undefined
    this.dispatcher.open()
    this.dispatcher.addWorker(worker)
    if (this.#state === 'started') {
      this.#options.counts.replaced++
      this.#tell('replaced', `the runner ${name} has its model in ${worker.name}`)
    } else if (this.dispatcher.workers === this.#size) {
      this.#state = 'started'
      this.#started.resolve()
    }
  }

  #loadFailed(cause: Error, worker?: ModelWorker): void {
    const failed = `the runner ${this.#settings.name} could not load its model`
    // A worker that has ended says itself which one it was.
    const place = worker === undefined || cause instanceof WorkerEnded ? '' : ` in ${worker.name}`
    const message = `${failed}${place}: ${cause.message}`
    if (this.#state === 'stopped') return
    if (this.#state === 'starting') {
      this.#started.reject(new SetupError('internal', message, { cause }))
      return
    }
    // Without the cause, which may name files: the readiness is public.
    this.#problem = failed
    // The model may never load again: callers hear of it now, not at their deadlines.
    if (this.dispatcher.workers === 0) this.dispatcher.close(new Overloaded(message, { cause }))
    this.#tell('load_failed', message, cause)
    // The module loader remembers a failure in each thread: only a new worker can try again.
    worker?.kill()
  }

  #onHung(worker: ModelWorker, method: string): void {
    if (this.#hung.has(worker)) return
    const { name, onHang } = this.#settings
    const call = `${method} of the runner ${name}`
    const what = `${call} has not returned in ${worker.name} ${this.#options.graceMs} ms after its deadline`
    const then =
      onHang === 'replace'
        ? 'is ended and replaced'
        : "gets no calls until it returns (onHang is 'report')"
    this.#tell('hung', `${what}: the ${worker.name.split(' ')[0]} ${then}`)
    if (onHang === 'report') return
    this.#hung.add(worker)
    this.dispatcher.endWorker(worker)
  }

  #tell(kind: RunnerEvent['kind'], message: string, cause?: Error): void {
    this.#options.onEvent({ kind, message, ...(cause && { cause }) })
  }
}
