/**
 * What a Runner can be told, and how its methods are typed from the module of its model.
 * @module
 */
import { pathToFileURL } from 'node:url'
import { expected, InvalidArgument } from '../errors.ts'
import { checkOptions } from '../options.ts'
import type { ModelCall } from './model-host.ts'

/** A function that loads a model, once in each thread, and answers its methods. */
export type LoadModel = (init: never) => object

/** What the module of a model exports: the function that loads it, by the name `load` or as default. */
export type ModelModule = { readonly load: LoadModel } | { readonly default: LoadModel }

/** The model that a module loads. */
export type ModelOf<M> = M extends { readonly load: (init: never) => infer R }
  ? Awaited<R>
  : M extends { readonly default: (init: never) => infer R }
    ? Awaited<R>
    : Readonly<Record<string, (input: unknown, call: ModelCall) => unknown>>

/** What the function that loads the model takes. */
export type InitOf<M> = M extends { readonly load: (...args: infer A) => unknown }
  ? A[0]
  : M extends { readonly default: (...args: infer A) => unknown }
    ? A[0]
    : unknown

/** Names of the methods of a model. */
export type MethodNames<M> = {
  [K in keyof ModelOf<M>]: ModelOf<M>[K] extends (input: never, call: ModelCall) => unknown ? K : never
}[keyof ModelOf<M>] &
  string

/** Who asks: a {@link Context} is one. */
export interface CallOptions {
  /** Aborted when the answer is not wanted any more. */
  readonly signal?: AbortSignal
  /** **Units**: milliseconds since the epoch. */
  readonly deadlineMs?: number | undefined
  /** Sends copies of large buffers, which stay usable here. Default: they are moved. */
  readonly keep?: boolean
}

type Input<F> = F extends (...args: infer A) => unknown ? A[0] : never
type Result<F> = F extends (...args: never[]) => infer R ? Awaited<R> : never
/** What a generator yields, in a list of one; never for what is no generator, and for what nothing is known of. */
type Yielded<R> = [R] extends [never]
  ? never
  : unknown extends R
    ? never
    : R extends AsyncIterable<infer Y> | Iterator<infer Y>
      ? [Y]
      : never
type Answer<R> = [Yielded<R>] extends [never] ? Promise<R> : AsyncIterableIterator<Yielded<R>[0]>

/** A method as the caller sees it: it answers a promise, or one that yields, an iterator. */
export type CallerMethod<F> = F extends () => infer R
  ? (input?: undefined, options?: CallOptions) => Answer<Awaited<R>>
  : (input: Input<F>, options?: CallOptions) => Answer<Result<F>>

/** A method that is called once for several requests. */
export interface BatchOptions {
  /**
   * Joins the rows of several requests into one call. Default false.
   *
   * **Shape**: inputs are NDArrays of one dtype and equal dimensions but `batchDim`, or lists of anything that can be sent, an element being
   * a row; what differs goes in a call of its own. Results are NDArrays or lists of as many rows, or plain objects of them.
   * **Errors**: InvalidArgument for any other input, frames among them: a list of one frame is a row.
   */
  readonly batchable?: boolean
  /** Most rows of a call; larger requests are cut into parts and put together again. Default 64. **Units**: rows. */
  readonly maxBatchSize?: number
  /** The longest that a request waits for others while a thread is free. Default 10. **Units**: milliseconds. */
  readonly maxWaitMs?: number
  /** The dimension along which inputs are joined and results split, or one for each. Default 0. */
  readonly batchDim?: number | { readonly input: number; readonly output: number }
  /**
   * What happens when a call for several requests throws. `retry`: each is called alone, once, so that only those fail that cannot be
   * answered. `fail`: all of them fail with that cause. Default `retry`. A model that knows which rows are wrong returns a list with
   * an Error in their places.
   */
  readonly onBatchError?: 'retry' | 'fail'
}

/** How a method is called. */
export interface MethodOptions extends BatchOptions {
  /** The method is a generator, whose values are sent one by one. */
  readonly stream?: boolean
  /**
   * What happens to a call that runs when nobody wants its result any more. `signal`: the method hears of it by `call.signal`, and its thread is
   * busy until it returns. `terminate`: the thread is ended and replaced, at the price of loading the model again. Default
   * `signal`.
   */
  readonly onAbort?: 'signal' | 'terminate'
}

type OptionsOf<F> = [Yielded<Result<F>>] extends [never] ? MethodOptions : { readonly stream: true }

/** Options of a {@link Runner}. */
export interface RunnerOptions<M = unknown> {
  /** File of the model's module: a URL, as of `new URL('./model.ts', import.meta.url)`, or an absolute path. */
  readonly module: URL | string
  /** The methods that can be called. */
  readonly methods: { readonly [K in MethodNames<M>]?: OptionsOf<ModelOf<M>[K]> }
  /** Threads, or processes, each with a model of its own; 0 runs the model in this thread, where it blocks everything. Default 1. */
  readonly threads?: number
  /** `process`: child processes instead of threads, for native code that may crash; everything is copied then. Default `thread`. */
  readonly isolation?: 'thread' | 'process'
  /** Calls that one thread does at the same time; more than 1 only helps methods that wait. Default 1. */
  readonly concurrency?: number
  /** Calls that may wait for a thread; one more is refused with 503. Default 1024. */
  readonly maxQueue?: number
  /** Handed to the function that loads the model. */
  readonly init?: InitOf<M>
  /** An input for each method to be called with in every thread before it counts as ready. */
  readonly warmup?: { readonly [K in MethodNames<M>]?: Input<ModelOf<M>[K]> }
  /** Heap limit of each thread or process; native memory does not count. **Units**: MiB. */
  readonly memoryLimitMb?: number
}

/** A method's options, checked and filled in. */
export interface MethodSettings {
  readonly name: string
  readonly batchable: boolean
  readonly maxBatchSize: number
  readonly maxWaitMs: number
  readonly inputDim: number
  readonly outputDim: number
  readonly retries: boolean
  readonly stream: boolean
  readonly terminates: boolean
}

/** A runner's options, checked and filled in. */
export interface RunnerSettings {
  readonly name: string
  readonly module: string
  readonly methods: readonly MethodSettings[]
  readonly threads: number
  readonly isolation: 'thread' | 'process'
  readonly concurrency: number
  readonly maxQueue: number
  readonly init: unknown
  readonly warmup: readonly (readonly [string, unknown])[]
  readonly memoryLimitMb: number | undefined
}

const runnerOptionNames = [
  'module',
  'methods',
  'threads',
  'isolation',
  'concurrency',
  'maxQueue',
  'init',
  'warmup',
  'memoryLimitMb',
]
const methodOptionNames = ['batchable', 'maxBatchSize', 'maxWaitMs', 'batchDim', 'onBatchError', 'stream', 'onAbort']

/** Checks a runner's name and options. **Errors**: InvalidArgument naming what is wrong. */
export function parseRunnerOptions(name: string, options: RunnerOptions, reserved: readonly string[]): RunnerSettings {
  if (typeof name !== 'string' || !/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(name)) {
    throw new InvalidArgument(expected('letters, digits, _ . and -', 'the name of a Runner', name))
  }
  const place = `the runner ${name}`
  checkOptions(place, options, runnerOptionNames)
  const { isolation = 'thread', init, warmup = {}, memoryLimitMb } = options
  oneOf(isolation, ['thread', 'process'], `isolation of ${place}`)
  const given = Object.entries((options.methods ?? {}) as Record<string, MethodOptions>)
  if (given.length === 0) throw new InvalidArgument(`expected at least one method in methods of ${place}`)
  const taken = given.find(([method]) => reserved.includes(method))
  if (taken !== undefined) {
    throw new InvalidArgument(`a method of ${place} cannot be called ${taken[0]}: every runner has that already`)
  }
  const methods = given.map(([method, own]) => parseMethod(method, own ?? {}, `${method} of ${place}`))
  const inputs = Object.entries(warmup as Record<string, unknown>)
  const stranger = inputs.find(([method]) => !methods.some((known) => known.name === method))
  if (stranger !== undefined)
    throw new InvalidArgument(`warmup of ${place} names ${stranger[0]}, which is not in methods`)
  return {
    name,
    module: parseModule(options.module, place),
    methods,
    threads: whole(options.threads ?? 1, 0, `threads of ${place}`),
    isolation,
    concurrency: whole(options.concurrency ?? 1, 1, `concurrency of ${place}`),
    maxQueue: whole(options.maxQueue ?? 1024, 1, `maxQueue of ${place}`),
    init,
    warmup: inputs,
    memoryLimitMb: memoryLimitMb === undefined ? undefined : whole(memoryLimitMb, 8, `memoryLimitMb of ${place}`),
  }
}

function parseMethod(name: string, options: MethodOptions, place: string): MethodSettings {
  checkOptions(place, options, methodOptionNames)
  const { batchable = false, stream = false, onBatchError = 'retry', onAbort = 'signal', maxWaitMs = 10 } = options
  if (batchable && stream) throw new InvalidArgument(`${place} cannot be both batchable and a stream`)
  oneOf(onBatchError, ['retry', 'fail'], `onBatchError of ${place}`)
  oneOf(onAbort, ['signal', 'terminate'], `onAbort of ${place}`)
  if (!(typeof maxWaitMs === 'number' && maxWaitMs >= 0 && maxWaitMs < 0x7fffffff)) {
    throw new InvalidArgument(expected('a number of milliseconds from 0 up', `maxWaitMs of ${place}`, maxWaitMs))
  }
  const { batchDim = 0 } = options
  const dims = typeof batchDim === 'number' ? { input: batchDim, output: batchDim } : batchDim
  return {
    name,
    batchable,
    maxBatchSize: whole(options.maxBatchSize ?? 64, 1, `maxBatchSize of ${place}`),
    maxWaitMs,
    inputDim: whole(dims.input, 0, `batchDim of ${place}`),
    outputDim: whole(dims.output, 0, `batchDim of ${place}`),
    retries: onBatchError === 'retry',
    stream,
    terminates: onAbort === 'terminate',
  }
}

function parseModule(module: unknown, place: string): string {
  if (module instanceof URL && module.protocol === 'file:') return module.href
  if (typeof module === 'string') {
    if (module.startsWith('file://')) return module
    if (module.startsWith('/') || /^[A-Za-z]:[\\/]/.test(module)) return pathToFileURL(module).href
  }
  const what = "a file URL such as new URL('./model.ts', import.meta.url), or an absolute path,"
  throw new InvalidArgument(expected(what, `module of ${place}`, module))
}

function oneOf(value: unknown, known: readonly string[], place: string): void {
  if (!known.includes(value as string)) {
    throw new InvalidArgument(expected(known.map((one) => `'${one}'`).join(' or '), place, value))
  }
}

function whole(value: unknown, least: number, place: string): number {
  if (Number.isSafeInteger(value) && (value as number) >= least) return value as number
  throw new InvalidArgument(expected(`a whole number from ${least} up`, place, value))
}
