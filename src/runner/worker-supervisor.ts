/**
 * Keeps the threads of a runner loaded: all of them before the first call, and each that ends once more.
 * @module
 */

import { InternalError, Overloaded, SetupError } from '../errors.ts'
import type { Clock } from './clock.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { LoadMessage, LoadReply } from './model-messages.ts'
import { errorFromFields } from './remote-error.ts'
import type { RunnerSettings } from './runner-options.ts'
import { pack } from './transfer.ts'
import type { ModelWorker, WorkerPool, WorkerPoolOptions } from './worker.ts'

/** What happens to a runner's threads, for the log. */
export interface RunnerEvent {
  /** `ended`: a thread died, `load_failed`: its replacement could not load the model, `replaced`: it did. */
  readonly kind: 'ended' | 'load_failed' | 'replaced'
  readonly message: string
  readonly cause?: Error
}

/** Starts the places of a kind. */
export type StartWorkers = (options: WorkerPoolOptions) => WorkerPool

/** Longest time between two attempts to replace a thread. **Units**: milliseconds. */
const maxDelayMs = 30_000
const firstDelayMs = 250
/** Time for calls that run when the runner stops. **Units**: milliseconds. */
const stopGraceMs = 1_000

/** The threads of one runner, from start to stop. */
export class WorkerSupervisor {
  readonly #settings: RunnerSettings
  readonly #dispatcher: Dispatcher
  readonly #clock: Clock
  readonly #tell: (event: RunnerEvent) => void
  readonly #pool: WorkerPool
  readonly #load: LoadMessage
  readonly #size: number
  readonly #started: Promise<void>
  #settle!: { resolve(): void; reject(error: Error): void }
  #loaded = 0
  #isStarted = false
  #failures = 0
  #problem: string | undefined
  #stopped = false
  #retry: (() => void) | undefined

  /** Starts at once. */
  constructor(
    settings: RunnerSettings,
    places: { readonly start: StartWorkers; readonly entry: URL },
    dispatcher: Dispatcher,
    clock: Clock,
    tell: (event: RunnerEvent) => void,
  ) {
    this.#settings = settings
    this.#dispatcher = dispatcher
    this.#clock = clock
    this.#tell = tell
    this.#load = {
      kind: 'load',
      runner: settings.name,
      module: settings.module,
      init: pack(settings.init),
      methods: settings.methods.map((method) => method.name),
      warmup: settings.warmup.map(([method, input]) => [method, pack(input)]),
    }
    this.#size = Math.max(1, settings.threads)
    this.#started = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject }
    })
    this.#pool = places.start({
      entry: places.entry,
      count: this.#size,
      memoryLimitMb: settings.memoryLimitMb,
      up: (worker) => this.#up(worker),
      down: (worker, cause) => this.#down(worker, cause),
    })
  }

  /** Resolves when all threads have the model. **Errors**: SetupError with what the module threw; then all have ended. */
  async started(): Promise<void> {
    try {
      await this.#started
    } catch (error) {
      await this.stop()
      throw error
    }
  }

  /** Ends all threads. Calls that wait fail at once, those that run when they are not done within a second. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#retry?.()
    const end = new Overloaded(`the runner ${this.#settings.name} has stopped`)
    this.#dispatcher.close(end)
    // Whoever still waits for the start.
    this.#settle.reject(end)
    // Native code that computes may take the whole process with it when its thread is ended: onnxruntime-node 1.30 does.
    if (this.#isStarted) await this.#dispatcher.idle(stopGraceMs)
    await this.#pool.stop()
  }

  /** Why the runner cannot answer now; undefined when it can. */
  get unready(): string | undefined {
    const { name } = this.#settings
    if (this.#stopped) return `the runner ${name} has stopped`
    if (this.#isStarted && this.#dispatcher.slots > 0) return undefined
    return this.#problem ?? `the runner ${name} is loading its model`
  }

  #up(worker: ModelWorker): void {
    if (this.#stopped) return
    if (this.#failures === 0) void this.#loadInto(worker)
    else {
      const delay = Math.min(maxDelayMs, firstDelayMs * 2 ** (this.#failures - 1))
      this.#retry = this.#clock.after(delay, () => void this.#loadInto(worker))
    }
  }

  async #loadInto(worker: ModelWorker): Promise<void> {
    const { name } = this.#settings
    let failure: Error | undefined
    try {
      const reply = (await worker.run(this.#load, [])) as LoadReply
      failure = reply.failure === undefined ? undefined : errorFromFields(reply.failure)
    } catch (error) {
      failure = error as Error
    }
    if (this.#stopped) return
    if (failure !== undefined) return this.#failed(worker, failure)
    this.#failures = 0
    this.#problem = undefined
    this.#dispatcher.close(undefined)
    this.#dispatcher.addWorker(worker)
    if (this.#isStarted) this.#tell({ kind: 'replaced', message: `the runner ${name} has its model in ${worker.name}` })
    else if (++this.#loaded === this.#size) {
      this.#isStarted = true
      this.#settle.resolve()
    }
  }

  #failed(worker: ModelWorker, cause: Error): void {
    const problem = `the runner ${this.#settings.name} could not load its model`
    const message = `${problem} in ${worker.name}: ${cause.message}`
    if (!this.#isStarted) {
      this.#settle.reject(new SetupError('internal', message, { cause }))
      return
    }
    this.#failures++
    // Without the cause, which may name files: readiness is asked by anybody.
    this.#problem = problem
    // Nobody knows whether it will ever come back: a caller should rather hear of it now than wait for its deadline.
    if (this.#dispatcher.slots === 0) this.#dispatcher.close(new Overloaded(message, { cause }))
    this.#tell({ kind: 'load_failed', message, cause })
    // A module that failed once would fail again without being run: the loader remembers it, thread by thread.
    worker.kill()
  }

  #down(worker: ModelWorker, cause: Error): void {
    this.#dispatcher.removeWorker(worker)
    const message = `the runner ${this.#settings.name} lost a model: ${cause.message}`
    if (!this.#isStarted) this.#settle.reject(new InternalError(message, { cause }))
    else if (this.#failures === 0) this.#tell({ kind: 'ended', message, cause })
  }
}
