/**
 * The runner: a model behind typed calls, off the event loop.
 * @module
 */

import { InvalidArgument } from '../errors.ts'
import { realClock } from './clock.ts'
import { Dispatcher } from './dispatcher.ts'
import { startInline } from './inline-worker.ts'
import type { OpenStream } from './job.ts'
import { startProcesses } from './process-workers.ts'
import { cutSizes, joinResults, rowsOf, splitRows } from './rows.ts'
import { RunnerCall } from './runner-call.ts'
import {
  type CallerMethod,
  type CallOptions,
  type MethodNames,
  type MethodSettings,
  type ModelOf,
  parseRunnerOptions,
  type RunnerOptions,
  type RunnerSettings,
} from './runner-options.ts'
import { RunnerStream } from './runner-stream.ts'
import { startThreads } from './thread-workers.ts'
import { claim } from './transfer.ts'
import { type RunnerEvent, type StartWorkers, WorkerSupervisor } from './worker-supervisor.ts'

/** What every runner has beside its model's methods. */
export interface RunnerLife {
  readonly name: string
  /** Why it cannot answer now; undefined when it can. */
  readonly unready: string | undefined
  /** Calls that wait for a thread. */
  readonly waiting: number
  /**
   * Loads the model in all threads. A service does this for its runners. Starting what has started counts the users.
   * **Errors**: SetupError with what the module threw.
   */
  start(): Promise<void>
  /** Ends the threads when the last user has stopped. */
  stop(): Promise<void>
  /** Tells what happens to the threads, for a log. */
  watch(listener: (event: RunnerEvent) => void): void
}

const reserved = ['name', 'unready', 'waiting', 'start', 'stop', 'watch', 'then', 'constructor', '__proto__']

/**
 * A program of ours for threads or processes. While the sources run as they are, in tests, the built one: a thread cannot be started
 * on TypeScript (Node 20 ignores `--import` there).
 */
const entryOf = (name: string) =>
  new URL(import.meta.url.endsWith('.ts') ? `../../dist/runner/${name}.js` : `./${name}.js`, import.meta.url)

class ModelRunner implements RunnerLife {
  readonly name: string
  readonly #settings: RunnerSettings
  readonly #listeners: ((event: RunnerEvent) => void)[] = []
  #dispatcher: Dispatcher | undefined
  #supervisor: WorkerSupervisor | undefined
  #users = 0
  #starting: Promise<void> | undefined

  constructor(name: string, options: RunnerOptions) {
    this.#settings = parseRunnerOptions(name, options, reserved)
    this.name = name
    for (const method of this.#settings.methods) {
      const call = method.stream
        ? (input: unknown, who?: CallOptions) => this.#stream(method, input, who ?? {})
        : (input: unknown, who?: CallOptions) => this.#call(method, input, who ?? {})
      Object.defineProperty(this, method.name, { value: call, enumerable: true })
    }
  }

  get unready(): string | undefined {
    return this.#supervisor === undefined ? `the runner ${this.name} has not started` : this.#supervisor.unready
  }

  get waiting(): number {
    return this.#dispatcher?.waiting ?? 0
  }

  start(): Promise<void> {
    this.#users++
    this.#starting ??= this.#start()
    return this.#starting
  }

  async stop(): Promise<void> {
    if (this.#users === 0 || --this.#users > 0) return
    const supervisor = this.#supervisor
    this.#starting = undefined
    this.#supervisor = undefined
    await supervisor?.stop()
  }

  watch(listener: (event: RunnerEvent) => void): void {
    this.#listeners.push(listener)
  }

  async #start(): Promise<void> {
    const { name, methods, maxQueue, concurrency, isolation, threads } = this.#settings
    let start: StartWorkers = isolation === 'process' ? startProcesses : startThreads
    if (threads === 0) start = startInline
    const moves = threads === 0 || isolation === 'thread'
    const entry = entryOf(isolation === 'process' ? 'model-process' : 'model-thread')
    const dispatcher = new Dispatcher({ name, methods, maxQueue, concurrency, moves, clock: realClock })
    this.#dispatcher = dispatcher
    this.#supervisor = new WorkerSupervisor(this.#settings, { start, entry }, dispatcher, realClock, (event) => {
      for (const listener of this.#listeners) listener(event)
    })
    try {
      await this.#supervisor.started()
    } catch (error) {
      this.#users = 0
      this.#supervisor = undefined
      this.#starting = undefined
      throw error
    }
  }

  #running(): Dispatcher {
    if (this.#supervisor === undefined || this.#dispatcher === undefined) {
      throw new InvalidArgument(
        `the runner ${this.name} has not started: give it to new Service(name, { runners: [...] }), or await its start()`,
      )
    }
    const refusal = this.#dispatcher.refusal()
    if (refusal !== undefined) throw refusal
    return this.#dispatcher
  }

  #call(method: MethodSettings, input: unknown, who: CallOptions): Promise<unknown> {
    try {
      const dispatcher = this.#running()
      const { maxBatchSize, inputDim, batchable } = method
      const rows = batchable ? rowsOf(input, inputDim) : { count: 1, key: '' }
      const value = claim(input, `the runner ${this.name}`, who.keep)
      const send = (part: unknown, count: number) => {
        const call = new RunnerCall(part, count, rows.key, who.deadlineMs)
        call.follow(who, realClock)
        dispatcher.push(method.name, call)
        return call
      }
      if (!batchable || rows.count <= maxBatchSize) return send(value, rows.count).promise
      const sizes = cutSizes(rows.count, maxBatchSize)
      return joined(
        splitRows(value, sizes, inputDim).map((part, i) => send(part, sizes[i])),
        method.outputDim,
      )
    } catch (error) {
      return Promise.reject(error)
    }
  }

  #stream(method: MethodSettings, input: unknown, who: CallOptions): RunnerStream<unknown> {
    const value = claim(input, `the runner ${this.name}`, who.keep)
    const begin = async () => {
      const call = new RunnerCall(value, 1, '', who.deadlineMs)
      const dispatcher = this.#running()
      call.follow(who, realClock)
      dispatcher.push(method.name, call)
      return (await call.promise) as OpenStream
    }
    return new RunnerStream(begin, who)
  }
}

/** The answers to the parts of a request become its answer. */
async function joined(calls: readonly RunnerCall[], dim: number): Promise<unknown> {
  try {
    return joinResults(await Promise.all(calls.map((call) => call.promise)), dim)
  } catch (error) {
    // The rest of a request that has failed need not be computed.
    for (const call of calls) call.giveUp(error as Error)
    throw error
  }
}

/**
 * A model in worker threads, with the methods of its own that `options.methods` names.
 *
 * The module exports a function `load` (or one as default) that loads the model, once in each thread, and answers an object of
 * methods; each takes one input and a `ModelCall`. `M` is the type of the module: with it, every method here is typed
 * as the module's.
 *
 * Calls go to a free thread, first come first served; the second argument, best the function's `ctx`, lets a call end with its
 * request. Inputs and results: plain data and NDArrays. **The caller's rule**: an NDArray of 16 KiB or more is moved, not copied:
 * after the call its `data` throws, unless `{ keep: true }` was given; smaller ones must not be changed before the answer is
 * there. The same holds for what a method returns. Memory of a SharedArrayBuffer is shared.
 *
 * **Errors**: InvalidArgument for wrong options; of calls: those of the method, with class, code and status (what is no
 * ServingError comes as FunctionError), Overloaded when `maxQueue` calls wait, DeadlineExceeded, ClientClosed, and
 * InternalError when the thread died.
 * **Cost**: a message to a thread and back, about 50 µs, shared by the short calls of one turn of the event loop; 80 µs with
 * 600 KB there and back. Each thread has a model of its own: memory is workers × threads × model; cores are used well with
 * workers × threads = cores, one more for each worker that answers many small requests. A stream keeps its thread until it
 * ends, however slow its reader is, unless `concurrency` is above 1.
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

/** The class {@link Runner}: its objects have methods that its type parameter names. */
export interface RunnerClass {
  new <M = unknown>(name: string, options: RunnerOptions<M>): Runner<M>
  readonly prototype: RunnerLife
}

/** A runner of a model that the module type `M` loads. */
export type Runner<M = unknown> = RunnerLife & {
  readonly [K in MethodNames<M>]: CallerMethod<ModelOf<M>[K]>
}
