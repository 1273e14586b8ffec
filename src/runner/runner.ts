/** The runner: a model behind typed calls, off the event loop. @module */

import { Overloaded } from '../core/errors.ts'
import type { MetricFamily } from '../telemetry/metrics/metric-family.ts'
import { measureRunner, RunnerCounts } from '../telemetry/metrics/runner-counts.ts'
import { traceOf } from '../telemetry/tracing/active-trace.ts'
import { realClock } from './clock.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { OpenStream } from './job.ts'
import { RunnerNotStarted } from './not-started.ts'
import {
  type PythonOptions,
  type PythonSettings,
  pythonRunnerOptions,
} from './python/python-options.ts'
import {
  type RemoteLife,
  type RemoteMethods,
  type RemoteOptions,
  remoteRunnerOptions,
} from './remote-options.ts'
import { type CallInput, cutSizes, joinResults, rowsOf, splitRows } from './rows.ts'
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
import { valuesOf } from './runner-stream.ts'
import type { SplitState } from './split-state.ts'
import type { Boundary } from './transfer.ts'
import type { StartWorker } from './worker.ts'
import { type RunnerEvent, WorkerSupervisor } from './worker-supervisor.ts'

/** Options of {@link RunnerLife.start}. */
export interface StartOptions {
  /**
   * For runners that do not set it. **Units**: milliseconds.
   *
   * @default 5000
   */
  readonly modelGraceMs?: number
}

/** The versions of a Split. @internal */
export interface ModelVersions {
  /** By their roles. */
  readonly runners: Readonly<Record<string, RunnerLife>>
  readonly state: SplitState
  /** The states of the other processes, which go back if it says why; the server sets it. */
  ask(wentBack: string | null): Promise<readonly (SplitState | 'late')[]>
}

/** What every runner has beside its model's methods. */
export interface RunnerLife {
  readonly name: string
  /** Whether its model runs on another server. Default false. */
  readonly isRemote?: boolean
  /** Why it cannot answer now; undefined if it can. */
  readonly unready: string | undefined
  readonly waiting: number
  readonly pythonSettings?: PythonSettings | undefined
  /** @internal Set for a Split. */
  readonly versions?: ModelVersions
  /** @returns metrics beside those that all Runners have. */
  families?(): readonly MetricFamily[]
  /** Of a folder of models: calls `listener` with each that is loaded, and with those that will be. */
  models?(
    listener: (model: {
      readonly runner: Pick<RunnerLife, 'name'>
      readonly name: string
      readonly version: string
    }) => void,
  ): void
  /**
   * Loads the model in all threads; a service calls it. Each call needs a `stop`.
   *
   * @throws SetupError.
   */
  start(options?: StartOptions): Promise<void>
  /** Ends the threads when every `start` has had its `stop`. */
  stop(): Promise<void>
  /** Calls `listener` with a thread's events. Returns a function that removes the listener. */
  watch(listener: (event: RunnerEvent) => void): () => void
}

/** @returns the Runners that have models: those of a Split in its place. */
export function modelRunners(runners: readonly RunnerLife[]): RunnerLife[] {
  return [
    ...new Set(runners.flatMap((runner) => Object.values(runner.versions?.runners ?? { runner }))),
  ]
}

const starts: Readonly<Record<Exclude<Boundary, 'python'>, () => Promise<StartWorker>>> = {
  none: async () => (await import('./inline-worker.ts')).startInline,
  thread: async () => (await import('./thread-worker.ts')).startThread,
  process: async () => (await import('./process-worker.ts')).startProcess,
}

type AnyOptions = RunnerOptions | RemoteOptions | PythonOptions

/** Settings of Runners: members would take names from their methods. */
const settingsOf = new WeakMap<object, RunnerSettings>()

/** @returns the version of a Runner's model, if it is known. */
export async function modelVersion(runner: RunnerLife): Promise<string | undefined> {
  const version = settingsOf.get(runner)?.version
  return typeof version === 'function' ? await version() : version
}

class ModelRunner implements RunnerLife {
  readonly name: string
  readonly isRemote: boolean
  readonly pythonSettings: PythonSettings | undefined
  readonly #settings: RunnerSettings
  readonly #listeners = new Set<(event: RunnerEvent) => void>()
  readonly #counts = new RunnerCounts()
  #supervisor: WorkerSupervisor | undefined
  #stopped = new AbortController()
  /** Why a remote model cannot answer, or the progress of making a Python environment. */
  #problem: string | undefined
  #users = 0
  #starting: Promise<void> | undefined

  constructor(name: string, options: AnyOptions) {
    this.isRemote = 'url' in options
    if ('python' in options && options.python !== undefined) {
      const { own, python } = pythonRunnerOptions(name, options)
      this.#settings = { ...parseRunnerOptions(name, own, reserved), boundary: 'python' }
      this.pythonSettings = python
    } else {
      const own = 'url' in options ? remoteRunnerOptions(name, options) : options
      this.#settings = parseRunnerOptions(name, own, reserved)
    }
    this.name = name
    settingsOf.set(this, this.#settings)
    measureRunner(this, () => ({
      name,
      counts: this.#counts,
      waiting: this.waiting,
      threads: this.#supervisor?.threads ?? { busy: 0, idle: 0, hung: 0, starting: 0 },
    }))
    for (const method of this.#settings.methods)
      Object.assign(this, { [method.name]: this.#caller(method) })
  }

  get unready(): string | undefined {
    if (this.#supervisor === undefined)
      return this.#problem ?? `the runner ${this.name} has not started`
    return this.#problem ?? this.#supervisor.unready
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

  #caller(method: MethodSettings): (input: unknown, options?: CallOptions) => unknown {
    if (method.stream) return (input, options) => this.#stream(method, input, options)
    return (input, options) => this.#call(method, input, options)
  }

  async #startOf(): Promise<StartWorker> {
    const { boundary } = this.#settings
    if (boundary !== 'python') return await starts[boundary]()
    const [{ pythonExecutable }, { startPython }] = await Promise.all([
      import('./python/environment.ts'),
      import('./python/python-worker.ts'),
    ])
    const place = `the runner ${this.name}`
    const executable = await pythonExecutable(place, this.pythonSettings as PythonSettings, {
      stopped: this.#stopped.signal,
      report: (message) => {
        this.#problem = message
        this.#tell({ kind: 'environment', message })
      },
    })
    this.#problem = undefined
    return startPython(executable)
  }

  async #start({ modelGraceMs = defaultModelGraceMs }: StartOptions): Promise<void> {
    const { modelGraceMs: ownGraceMs, init } = this.#settings
    this.#stopped = new AbortController()
    const life: RemoteLife = {
      stopped: this.#stopped.signal,
      report: (problem) => {
        this.#problem = problem
      },
    }
    const remote = this.isRemote && { init: { ...(init as object), life } }
    const start = await this.#startOf()
    if (this.#users === 0) throw new Overloaded(`the runner ${this.name} has stopped`)
    const supervisor = new WorkerSupervisor(
      { ...this.#settings, ...remote },
      {
        start,
        clock: realClock,
        counts: this.#counts,
        graceMs: ownGraceMs ?? modelGraceMs,
        onEvent: (event) => this.#tell(event),
      },
    )
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

  /** @throws InvalidArgument before the start; Overloaded if the runner takes no calls. */
  #dispatcher(): Dispatcher {
    const dispatcher = this.#supervisor?.dispatcher
    if (dispatcher === undefined) throw new RunnerNotStarted(this)
    const refusal = dispatcher.refusal()
    if (refusal !== undefined) throw refusal
    return dispatcher
  }

  #call(method: MethodSettings, value: unknown, given: CallOptions | undefined): Promise<unknown> {
    try {
      const options = parseCallOptions(given, method.name, this.name)
      const dispatcher = this.#dispatcher()
      const { maxBatchSize, batchable, ragged } = method
      if (!batchable) return this.#send(dispatcher, method, alone(value), options).promise
      const send = (input: CallInput) => this.#send(dispatcher, method, input, options)
      const input = rowsOf(value, ragged)
      if (input.rows <= maxBatchSize) return send(input).promise
      const parts = splitRows(value, cutSizes(input.rows, maxBatchSize))
      return joined(parts.map((part) => send(rowsOf(part, ragged))))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  #stream(
    method: MethodSettings,
    input: unknown,
    given: CallOptions | undefined,
  ): AsyncIterableIterator<unknown> {
    const options = parseCallOptions(given, method.name, this.name)
    const begin = async () =>
      (await this.#send(this.#dispatcher(), method, alone(input), options).promise) as OpenStream
    return valuesOf(begin, options)
  }

  #send(
    dispatcher: Dispatcher,
    method: MethodSettings,
    input: CallInput,
    options: CallOptions,
  ): RunnerCall {
    const call = new RunnerCall(input, options)
    call.trace = traceOf(options)?.call(this.name, method.name)
    call.follow(options, realClock)
    dispatcher.push(method.name, call, options)
    return call
  }
}

const alone = (value: unknown): CallInput => ({ value, rows: 1, size: 1, key: '' })

/** Names that no method may have; a promise would call `then`. */
const reserved = [
  ...Object.getOwnPropertyNames(ModelRunner.prototype),
  'name',
  'isRemote',
  'pythonSettings',
  'versions',
  'families',
  'models',
  'then',
  '__proto__',
]

/**
 * Joins the answers to the parts of a request.
 *
 * @throws the first part's that fails; the rest are given up.
 */
async function joined(calls: readonly RunnerCall[]): Promise<unknown> {
  try {
    return joinResults(await Promise.all(calls.map((call) => call.promise)))
  } catch (error) {
    for (const call of calls) call.giveUp(error as Error)
    throw error
  }
}

/** Without the methods, which the type of the model's module adds. */
const runnerClass: new (name: string, options: AnyOptions) => RunnerLife = ModelRunner

/**
 * A model in worker threads, with the methods that `options.methods` names. The module exports
 * `load` (or a default function), called once in each thread, which returns an object of methods;
 * each takes one input and a `ModelCall`. `M` is the type of the module. Give calls the function's
 * `ctx`, so that they end with its request. Inputs and results are plain data, NDArrays, pictures,
 * files, frames, and classes of `registerSerializer`. **Ownership**: they are copied: do not change
 * an argument before the answer. `move(x)` gives a large array away; a SharedArrayBuffer is shared.
 *
 * @throws InvalidArgument for wrong options; of calls: those of the method (FunctionError for other
 * classes), Overloaded if `maxQueue` calls wait, DeadlineExceeded, ClientClosed, and InternalError
 * if the thread died.
 * @example
 * `new Runner<typeof import('./model.ts')>('iris', { module, methods: { predict: { batchable: true
 * } } })`
 */
export const Runner = runnerClass as RunnerClass

/** A Runner whose model runs on another server. */
export type RemoteRunner = RunnerLife & RemoteMethods

/** The class {@link Runner}: its objects have the methods of its type parameter. */
export interface RunnerClass {
  new (name: string, options: RemoteOptions): RemoteRunner
  /** A model of a module whose type is `M`, or a Python model with the methods of `M`. */
  new <M = unknown>(name: string, options: RunnerOptions<M> | PythonOptions<M>): Runner<M>
  readonly prototype: RunnerLife
}

/** A runner of a model that the module type `M` loads. */
export type Runner<M = unknown> = RunnerLife & {
  readonly [K in MethodNames<M>]: CallerMethod<ModelOf<M>[K]>
}
