/** Keeps the model loaded in all workers of a runner, and in each worker that replaces another. @module */

import { InternalError, Overloaded, SetupError } from '../core/errors.ts'
import { deferred } from '../core/promise.ts'
import type { RunnerCounts, ThreadStates } from '../telemetry/metrics/runner-counts.ts'
import type { Clock } from './clock.ts'
import { Dispatcher } from './dispatcher.ts'
import type { LoadMessage, LoadReply } from './model-messages.ts'
import { errorFromFields } from './remote-error.ts'
import type { RunnerSettings } from './runner-options.ts'
import { pack } from './transfer.ts'
import { deviceOf, type ModelWorker, type StartWorkers, type Transfer, type WorkerPool } from './worker.ts'

/** What happens to a runner's workers, for the log. */
export interface RunnerEvent {
  /** `load_failed`: of a replacement. `hung`: beyond `modelGraceMs`. `printed`: a line of a Python model. */
  readonly kind: 'environment' | 'ended' | 'load_failed' | 'replaced' | 'hung' | 'unhandled_rejection' | 'printed'
  readonly message: string
  readonly cause?: Error
}

/** Longest pause between two attempts to replace a worker. **Units**: milliseconds. */
const maxDelayMs = 30_000
const firstDelayMs = 250
/** Time for running calls when the runner stops. **Units**: milliseconds. */
const stopGraceMs = 1_000

/** What a supervisor needs beside its runner's settings. */
export interface SupervisorOptions {
  readonly start: StartWorkers
  readonly entry: URL
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
  readonly #pool: WorkerPool
  readonly #load: Omit<LoadMessage, 'index' | 'device'>
  readonly #loadViews: Transfer[] = []
  readonly #size: number
  readonly #started = deferred<void>()
  readonly #retries = new Map<ModelWorker, () => void>()
  readonly #hung = new Set<ModelWorker>()
  #loaded = 0
  #isStarted = false
  #failures = 0
  #problem: string | undefined
  #isStopped = false

  constructor(settings: RunnerSettings, options: SupervisorOptions) {
    this.#settings = settings
    this.#options = options
    const { name, module, init, methods, warmup, memoryLimitMb, boundary, deviceIds } = settings
    const { clock, counts, graceMs } = options
    const onHung = (worker: ModelWorker, method: string) => this.#onHung(worker, method)
    this.dispatcher = new Dispatcher({ ...settings, clock, counts, graceMs, onHung })
    // Sent to each worker: nothing in it may be moved.
    const packShared = (value: unknown) => pack(value, boundary === 'python' ? boundary : 'process', this.#loadViews)
    this.#load = {
      kind: 'load',
      runner: name,
      module,
      init: boundary === 'none' ? { value: init } : packShared(init),
      methods: methods.map((method) => method.name),
      warmup: warmup.map(([method, input]) => [method, packShared(input)]),
    }
    this.#size = Math.max(1, settings.threads)
    this.#pool = options.start({
      entry: options.entry,
      count: this.#size,
      memoryLimitMb,
      deviceIds,
      up: (worker) => this.#up(worker),
      down: (worker, cause) => this.#down(worker, cause),
      stray: (worker, cause) => this.#stray(worker, cause),
      printed: (_worker, message) => options.onEvent({ kind: 'printed', message }),
    })
  }

  /** Resolves when all workers have the model. **Errors**: SetupError; then all have ended. */
  async started(): Promise<void> {
    try {
      await this.#started.promise
    } catch (error) {
      await this.stop()
      throw error
    }
  }

  /** Ends all workers. Waiting calls fail at once, running ones after a second. */
  async stop(): Promise<void> {
    this.#isStopped = true
    for (const cancel of this.#retries.values()) cancel()
    this.#retries.clear()
    const end = new Overloaded(`the runner ${this.#settings.name} has stopped`)
    this.dispatcher.close(end)
    this.#started.reject(end)
    // onnxruntime-node may end the whole process if its thread is ended while it computes.
    if (this.#isStarted) await this.dispatcher.idle(stopGraceMs)
    await this.#pool.stop()
  }

  get unready(): string | undefined {
    const { name } = this.#settings
    if (this.#isStopped) return `the runner ${name} has stopped`
    if (this.#isStarted && this.dispatcher.usable > 0) return undefined
    if (this.dispatcher.workers > 0) return `calls of the runner ${name} hang in all of its workers`
    return this.#problem ?? `the runner ${name} is loading its model`
  }

  get threads(): ThreadStates {
    return { ...this.dispatcher.states, starting: Math.max(0, this.#size - this.dispatcher.workers) }
  }

  #up(worker: ModelWorker): void {
    if (this.#isStopped) return
    if (this.#failures === 0) {
      void this.#loadInto(worker)
      return
    }
    const delay = Math.min(maxDelayMs, firstDelayMs * 2 ** (this.#failures - 1))
    const retry = () => {
      this.#retries.delete(worker)
      void this.#loadInto(worker)
    }
    this.#retries.set(worker, this.#options.clock.after(delay, retry))
  }

  async #loadInto(worker: ModelWorker): Promise<void> {
    const { name, boundary, deviceIds } = this.#settings
    const device = boundary === 'process' && deviceIds !== undefined ? 0 : deviceOf(deviceIds, worker.index)
    const load: LoadMessage = { ...this.#load, index: worker.index, device }
    let failure: Error | undefined
    try {
      const reply = (await worker.run(load, this.#loadViews)) as LoadReply
      failure = reply.failure === undefined ? undefined : errorFromFields(reply.failure)
    } catch (error) {
      failure = error as Error
    }
    if (this.#isStopped) return
    if (failure !== undefined) {
      this.#loadFailed(worker, failure)
      return
    }
    this.#failures = 0
    this.#problem = undefined
    this.dispatcher.open()
    this.dispatcher.addWorker(worker)
    if (this.#isStarted) {
      this.#options.counts.replaced++
      this.#options.onEvent({ kind: 'replaced', message: `the runner ${name} has its model in ${worker.name}` })
    } else if (++this.#loaded === this.#size) {
      this.#isStarted = true
      this.#started.resolve()
    }
  }

  #loadFailed(worker: ModelWorker, cause: Error): void {
    const problem = `the runner ${this.#settings.name} could not load its model`
    const message = `${problem} in ${worker.name}: ${cause.message}`
    if (!this.#isStarted) {
      this.#started.reject(new SetupError('internal', message, { cause }))
      return
    }
    this.#failures++
    // Without the cause, which may name files: the readiness is public.
    this.#problem = problem
    // The model may never load again: callers hear of it now, not at their deadlines.
    if (this.dispatcher.workers === 0) this.dispatcher.close(new Overloaded(message, { cause }))
    this.#options.onEvent({ kind: 'load_failed', message, cause })
    // The module loader remembers a failure in each thread: only a new worker can try again.
    worker.kill()
  }

  #down(worker: ModelWorker, cause: Error): void {
    this.dispatcher.removeWorker(worker)
    this.#retries.get(worker)?.()
    this.#retries.delete(worker)
    const message = `the runner ${this.#settings.name} lost a model: ${cause.message}`
    if (!this.#isStarted) this.#started.reject(new InternalError(message, { cause }))
    else if (!this.#hung.delete(worker) && this.#failures === 0)
      this.#options.onEvent({ kind: 'ended', message, cause })
  }

  #onHung(worker: ModelWorker, method: string): void {
    const { name, onHang } = this.#settings
    const { graceMs } = this.#options
    if (this.#hung.has(worker)) return
    const what = `${method} of the runner ${name} has not returned in ${worker.name} ${graceMs} ms after its deadline`
    const then = onHang === 'replace' ? 'is ended and replaced' : "gets no calls until it returns (onHang is 'report')"
    this.#options.onEvent({ kind: 'hung', message: `${what}: the ${worker.name.split(' ')[0]} ${then}` })
    if (onHang === 'report') return
    this.#hung.add(worker)
    this.dispatcher.endWorker(worker)
  }

  #stray(worker: ModelWorker, cause: Error): void {
    const message = `a promise that nobody handles was rejected in ${worker.name} of the runner ${this.#settings.name}`
    this.#options.onEvent({ kind: 'unhandled_rejection', message: `${message}: ${cause.message}`, cause })
  }
}
