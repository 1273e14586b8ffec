/**
 * The runner: a model behind typed calls, off the event loop.
 * @module
 */

import { InvalidArgument, Overloaded } from '../core/errors.ts'
import { measureRunner, RunnerCounts } from '../telemetry/metrics/runner-counts.ts'
import { tracer } from '../telemetry/tracing/tracer.ts'
import { realClock } from './clock.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { OpenStream } from './job.ts'
import { type PythonOptions, type PythonSettings, pythonRunnerOptions } from './python/python-options.ts'
import { addRemoteLife } from './remote-life.ts'
import { type RemoteMethods, type RemoteOptions, remoteRunnerOptions } from './remote-options.ts'
import { cutSizes, joinResults, rowsOf, splitRows } from './rows.ts'
import { RunnerCall } from './runner-call.ts'
import {
  type CallerMethod,
  type CallOptions,
  defaultModelGraceMs,
  type MethodNames,
  type MethodSettings,
  type ModelOf,
  parseCallOptions,
  parseRunnerOptions,
  type RunnerOptions,
  type RunnerSettings,
} from './runner-options.ts'
import { RunnerStream } from './runner-stream.ts'
import type { Boundary } from './transfer.ts'
import type { StartWorkers } from './worker.ts'
import { type RunnerEvent, WorkerSupervisor } from './worker-supervisor.ts'

/** Options of {@link RunnerLife.start}. */
export interface StartOptions {
  /** For runners that do not set it themselves; see RunnerOptions. Default 5000. **Units**: milliseconds. */
  readonly modelGraceMs?: number
}

/** What every runner has beside its model's methods. */
export interface RunnerLife {
  readonly name: string
  /** Whether its model runs on another server. Default: no. */
  readonly isRemote?: boolean
  /** Why it cannot answer now; undefined when it can. */
  readonly unready: string | undefined
  /** Calls that wait for a thread. */
  readonly waiting: number
  /** What its model in Python needs. Undefined for other models. */
  readonly pythonSettings?: PythonSettings | undefined
  /**
   * Loads the model in all threads; a service does so for its runners. Each call needs a `stop` of its own, and only
   * the first starts anything.
   * **Errors**: SetupError with what the module threw.
   */
  start(options?: StartOptions): Promise<void>
  /** Ends the threads when every `start` has had its `stop`. */
  stop(): Promise<void>
  /** Calls `listener` when something happens to a thread, for a log. Returns a function that removes the listener. */
  watch(listener: (event: RunnerEvent) => void): () => void
}

const reserved = [
  'name',
  'isRemote',
  'unready',
  'waiting',
  'pythonSettings',
  'start',
  'stop',
  'watch',
  'then',
  'constructor',
  '__proto__',
]

/** Each loaded where it is used: the pool of threads takes 20 ms. */
const startWorkers: Readonly<Record<Exclude<Boundary, 'python'>, () => Promise<StartWorkers>>> = {
  none: async () => (await import('./inline-worker.ts')).startInline,
  thread: async () => (await import('./thread-workers.ts')).startThreads,
  process: async () => (await import('./process-workers.ts')).startProcesses,
}

/**
 * The URL of a program for threads or processes: always the compiled one, also when the sources run uncompiled in
 * tests, since a thread cannot be started on TypeScript (Node 20 ignores `--import` there).
 */
const entryOf = (name: string) =>
  new URL(import.meta.url.endsWith('.ts') ? `../../dist/runner/${name}.js` : `./${name}.js`, import.meta.url)

class ModelRunner implements RunnerLife {
  readonly name: string
  readonly isRemote: boolean
  readonly #settings: RunnerSettings
  readonly #listeners = new Set<(event: RunnerEvent) => void>()
  readonly #counts = new RunnerCounts()
  readonly #python: PythonSettings | undefined
  #supervisor: WorkerSupervisor | undefined
  /** Ends what a remote model has open, and the making of an environment of Python. */
  #stopped = new AbortController()
  /** Why a remote model cannot answer, or how far the making of an environment of Python is. */
  #problem: string | undefined
  #users = 0
  #starting: Promise<void> | undefined

  constructor(name: string, options: RunnerOptions | RemoteOptions | PythonOptions) {
    this.isRemote = 'url' in options
    if (isPython(options)) {
      const { own, python } = pythonRunnerOptions(name, options)
      this.#settings = { ...parseRunnerOptions(name, own, reserved), boundary: 'python' }
      this.#python = python
    } else {
      const own = 'url' in options ? remoteRunnerOptions(name, options) : options
      this.#settings = parseRunnerOptions(name, own, reserved)
    }
    this.name = name
    measureRunner(this, () => ({
      name,
      counts: this.#counts,
      waiting: this.waiting,
      threads: this.#supervisor?.threads ?? { busy: 0, idle: 0, hung: 0, starting: 0 },
    }))
    for (const method of this.#settings.methods) {
      const call = method.stream
        ? (input: unknown, options?: CallOptions) => this.#stream(method, input, options)
        : (input: unknown, options?: CallOptions) => this.#call(method, input, options)
      Object.defineProperty(this, method.name, { value: call, enumerable: true })
    }
  }

  get unready(): string | undefined {
    if (this.#supervisor === undefined) return this.#problem ?? `the runner ${this.name} has not started`
    return this.#problem ?? this.#supervisor.unready
  }

  get pythonSettings(): PythonSettings | undefined {
    return this.#python
  }

  get waiting(): number {
    return this.#supervisor?.dispatcher.waiting ?? 0
  }

  start(options: StartOptions = {}): Promise<void> {
    this.#users++
    this.#starting ??= this.#start(options)
    return this.#starting
  }

  async stop(): Promise<void> {
    if (this.#users === 0 || --this.#users > 0) return
    const supervisor = this.#supervisor
    this.#starting = undefined
    this.#supervisor = undefined
    await supervisor?.stop()
    this.#stopped.abort()
  }

  watch(listener: (event: RunnerEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Returns what starts the workers. **Errors**: SetupError where Python cannot run, or its environment be made. */
  async #startWorkers(): Promise<StartWorkers> {
    const { boundary, concurrency } = this.#settings
    if (boundary !== 'python') return await startWorkers[boundary]()
    const [{ pythonExecutable }, { pythonWorkers }] = await Promise.all([
      import('./python/environment.ts'),
      import('./python/python-workers.ts'),
    ])
    const place = `the runner ${this.name}`
    const executable = await pythonExecutable(place, this.#python as PythonSettings, {
      stopped: this.#stopped.signal,
      report: (message) => {
        this.#problem = message
        this.#tell({ kind: 'environment', message })
      },
    })
    this.#problem = undefined
    return pythonWorkers({ executable, concurrency })
  }

  async #start({ modelGraceMs = defaultModelGraceMs }: StartOptions): Promise<void> {
    const { boundary, modelGraceMs: ownGraceMs } = this.#settings
    this.#stopped = new AbortController()
    const start = await this.#startWorkers()
    if (this.#users === 0) throw new Overloaded(`the runner ${this.name} has stopped`)
    const supervisor = new WorkerSupervisor(this.isRemote ? this.#remoteSettings() : this.#settings, {
      start,
      entry: entryOf(boundary === 'process' ? 'model-process' : 'model-thread'),
      clock: realClock,
      counts: this.#counts,
      graceMs: ownGraceMs ?? modelGraceMs,
      onEvent: (event) => this.#tell(event),
    })
    this.#supervisor = supervisor
    try {
      await supervisor.started()
    } catch (error) {
      this.#users = 0
      this.#supervisor = undefined
      this.#starting = undefined
      throw error
    }
  }

  #tell(event: RunnerEvent): void {
    for (const listener of this.#listeners) listener(event)
  }

  #remoteSettings(): RunnerSettings {
    const report = (problem: string | undefined) => {
      this.#problem = problem
    }
    const life = addRemoteLife({ stopped: this.#stopped.signal, report })
    return { ...this.#settings, init: { ...(this.#settings.init as object), life } }
  }

  /** **Errors**: InvalidArgument before the start; Overloaded when the runner takes no calls. */
  #dispatcher(): Dispatcher {
    const dispatcher = this.#supervisor?.dispatcher
    if (dispatcher === undefined) {
      throw new InvalidArgument(
        `the runner ${this.name} has not started: give it to new Service(name, { runners: [...] }), ` +
          'or await its start()',
      )
    }
    const refusal = dispatcher.refusal()
    if (refusal !== undefined) throw refusal
    return dispatcher
  }

  #call(method: MethodSettings, input: unknown, given: CallOptions | undefined): Promise<unknown> {
    try {
      const options = parseCallOptions(given, method.name, this.name)
      const dispatcher = this.#dispatcher()
      const { maxBatchSize, batchable } = method
      const { count, key } = batchable ? rowsOf(input) : { count: 1, key: '' }
      const send = (part: unknown, rows: number) => {
        const call = new RunnerCall(part, rows, key, options.deadlineMs)
        call.trace = tracer?.call(this.name, method.name, options)
        call.follow(options, realClock)
        dispatcher.push(method.name, call)
        return call
      }
      if (!batchable || count <= maxBatchSize) return send(input, count).promise
      const sizes = cutSizes(count, maxBatchSize)
      return joined(splitRows(input, sizes).map((part, i) => send(part, sizes[i])))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  #stream(method: MethodSettings, input: unknown, given: CallOptions | undefined): RunnerStream<unknown> {
    const options = parseCallOptions(given, method.name, this.name)
    const begin = async () => {
      const dispatcher = this.#dispatcher()
      const call = new RunnerCall(input, 1, '', options.deadlineMs)
      call.trace = tracer?.call(this.name, method.name, options)
      call.follow(options, realClock)
      dispatcher.push(method.name, call)
      return (await call.promise) as OpenStream
    }
    return new RunnerStream(begin, options)
  }
}

function isPython(options: RunnerOptions | RemoteOptions | PythonOptions): options is PythonOptions {
  return (options as Partial<PythonOptions>).python !== undefined
}

/** Joins the answers to the parts of a request. **Errors**: the first part's that fails; the rest are given up. */
async function joined(calls: readonly RunnerCall[]): Promise<unknown> {
  try {
    return joinResults(await Promise.all(calls.map((call) => call.promise)))
  } catch (error) {
    for (const call of calls) call.giveUp(error as Error)
    throw error
  }
}

/**
 * A model in worker threads, with the methods that `options.methods` names.
 *
 * The module exports a function `load` (or one as default) that loads the model, once in each thread, and returns an
 * object of methods; each takes one input and a `ModelCall`. `M` is the type of the module: with it, every method here
 * has the types of the module's.
 *
 * Calls go to a free thread, first come first served. The second argument, best the function's `ctx`, lets a call end
 * with its request. Inputs and results are plain data, NDArrays, pictures, files, frames, and objects of classes that
 * `registerSerializer` knows. **Ownership**: they are copied, at every size, when the message is sent: do not change an
 * argument before the answer is there. `move(x)` gives the memory of a large array away instead, as argument and as
 * result. Memory of a SharedArrayBuffer is shared, but for arrays of at most 64 bytes.
 *
 * **Errors**: InvalidArgument for wrong options; of calls: those of the method, with class, code and status (what is no
 * ServingError comes as FunctionError), Overloaded when `maxQueue` calls wait, DeadlineExceeded, ClientClosed, and
 * InternalError when the thread died.
 * **Cost**: a message to a thread and back, about 50 µs, shared by the short calls of one turn of the loop: 2 µs
 * each with 64 callers. Large arrays one copy each way, about 0.1 ms at 600 KB, or next to nothing with `move`.
 * Each thread has a model of its own: memory is workers × threads × model; cores are used well with workers ×
 * threads = cores, one more for each worker that answers many small requests. A stream keeps its thread until it ends,
 * however slow its reader is, unless `concurrency` is above 1.
 * **Source** SPEC "Runner"; `bench/micro/runner.ts`.
 * **Example**
 * ```ts
 * const iris = new Runner<typeof import('./model.ts')>('iris', {
 *   module: new URL('./model.ts', import.meta.url),
 *   methods: { predict: { batchable: true, maxBatchSize: 64 } },
 * })
 * const svc = new Service('iris_classifier', { runners: [iris] })
 * svc.api({ input, output }, async function classify(x, ctx) { return iris.predict(x, ctx) })
 * ```
 */
export const Runner = ModelRunner as unknown as RunnerClass

/** A Runner whose model runs on another server. */
export type RemoteRunner = RunnerLife & RemoteMethods

/** The class {@link Runner}: its objects have methods that its type parameter names. */
export interface RunnerClass {
  /** A model of another server. */
  new (name: string, options: RemoteOptions): RemoteRunner
  /** A model of a module whose type is `M`, or a model in Python that has the methods of `M`. */
  new <M = unknown>(name: string, options: RunnerOptions<M> | PythonOptions<M>): Runner<M>
  readonly prototype: RunnerLife
}

/** A runner of a model that the module type `M` loads. */
export type Runner<M = unknown> = RunnerLife & {
  readonly [K in MethodNames<M>]: CallerMethod<ModelOf<M>[K]>
}
