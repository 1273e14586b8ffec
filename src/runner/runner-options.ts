/** Options of a Runner, and the types of its methods, which follow from the module of its model. @module */
import { pathToFileURL } from 'node:url'
import { expected, InvalidArgument } from '../core/errors.ts'
import {
  checkedLater,
  fromCode,
  type OptionsOf,
  oneOf,
  onOrOff,
  readOptions,
  type SettingsOf,
  whole,
} from '../core/option.ts'
import { checkThat } from '../core/options.ts'
import type { ModelCall, ModelPlace } from './model-host.ts'
import { type RaggedOptions, type RaggedSettings, raggedOptions } from './ragged-options.ts'
import type { Boundary } from './transfer.ts'

/** Time after the deadline until a running call counts as hung. **Units**: milliseconds. */
export const defaultModelGraceMs = 5_000

/** What `load` or the default export of a module returns; else the type itself, as for models in Python. */
export type ModelOf<M> = M extends { readonly load: (init: never, place: ModelPlace) => infer R }
  ? Awaited<R>
  : M extends { readonly default: (init: never, place: ModelPlace) => infer R }
    ? Awaited<R>
    : unknown extends M
      ? Readonly<Record<string, (input: unknown, call: ModelCall) => unknown>>
      : M

/** The argument of the function that loads the model. */
export type InitOf<M> = M extends { readonly load: (...args: infer A) => unknown }
  ? A[0]
  : M extends { readonly default: (...args: infer A) => unknown }
    ? A[0]
    : unknown

/** Names of the methods of a model. */
export type MethodNames<M> = {
  [K in keyof ModelOf<M>]: ModelOf<M>[K] extends (...args: never[]) => unknown ? K : never
}[keyof ModelOf<M>] &
  string

interface TakesOneArgument {
  readonly error: 'a Runner method takes one argument and the ModelCall'
}

type IfMethod<F, T> = F extends (input: never, call: ModelCall) => unknown ? T : TakesOneArgument

/** Options of one call: give the {@link Context}, and the call ends with its request. */
export interface CallOptions {
  readonly signal?: AbortSignal
  /** **Units**: milliseconds since the epoch. */
  readonly deadlineMs?: number | undefined
  /**
   * Calls of higher ones go first.
   *
   * @default 0
   */
  readonly priority?: number
  /**
   * Weight among the callers: the call's time counts this many times less.
   *
   * @default 1
   */
  readonly share?: number
}

const callOptions = ['signal', 'deadlineMs', 'priority', 'share']

type Input<F> = F extends (...args: infer A) => unknown ? A[0] : never
type Result<F> = F extends (...args: never[]) => infer R ? Awaited<R> : never
type Yielded<R> = [R] extends [never]
  ? never
  : unknown extends R
    ? never
    : R extends AsyncIterable<infer Y> | Iterator<infer Y>
      ? [Y]
      : never
type Answer<R> = [Yielded<R>] extends [never] ? Promise<R> : AsyncIterableIterator<Yielded<R>[0]>

/** A method as the caller sees it: it returns a promise, or an iterator of a generator's values. */
export type CallerMethod<F> = F extends () => infer R
  ? (input?: undefined, options?: CallOptions) => Answer<Awaited<R>>
  : IfMethod<F, (input: Input<F>, options?: CallOptions) => Answer<Result<F>>>

/** A time in milliseconds, or without an end. */
const milliseconds = fromCode<number>(
  'a number of milliseconds from 0 up',
  (ms) => typeof ms === 'number' && ms >= 0 && (ms < 0x7fffffff || ms === Number.POSITIVE_INFINITY),
)

/** The options of a method that is called once for several requests. */
export const batchOptions = {
  /**
   * Joins the rows of several requests into one call. **Shape**: NDArrays of one dtype and equal
   * dimensions but the first, or lists. Results are NDArrays or lists of as many rows, or plain
   * objects of them. A call throws InvalidArgument for any other input. A frame goes in a list.
   *
   * @default false
   */
  batchable: onOrOff.or(false),
  /**
   * Maximum rows of a call; larger requests are cut. **Units**: rows.
   *
   * @default 64
   */
  maxBatchSize: whole(1).or(64),
  /**
   * Longest wait of a request for others while a thread is free. **Units**: milliseconds.
   *
   * @default what pays, by the measured times and the gaps between calls
   */
  maxWaitMs: milliseconds.or(Number.POSITIVE_INFINITY),
  /** Joins rows that differ. */
  batch: checkedLater<RaggedOptions>(),
  /**
   * If a batch throws: `retry` calls each request alone, once; `fail` fails all.
   *
   * @default `retry`
   */
  onBatchError: oneOf(['retry', 'fail']).or('retry'),
}

/** The options of a method. */
export const methodOptions = {
  ...batchOptions,
  /**
   * The method is a generator, whose values are sent one by one.
   *
   * @default false
   */
  stream: onOrOff.or(false),
  /**
   * A call without callers. `signal`: `call.signal` is aborted. `terminate`: ends the thread.
   *
   * @default `signal`
   */
  onAbort: oneOf(['signal', 'terminate']).or('signal'),
}

/** Options of a method that is called once for several requests. */
export interface BatchOptions extends OptionsOf<typeof batchOptions> {}

/** Options of a method. */
export interface MethodOptions extends OptionsOf<typeof methodOptions> {}

type MethodOptionsOf<F> = IfMethod<
  F,
  [Yielded<Result<F>>] extends [never] ? MethodOptions : { readonly stream: true }
>

/** The options of a {@link Runner} of any model. */
export const anyRunnerOptions = {
  methods: checkedLater<object>().required(),
  /**
   * Threads or processes, each with its own model. 0 runs the model in this thread, which it
   * blocks.
   *
   * @default 1
   */
  threads: whole(0).or(1),
  /**
   * Calls that one thread does at the same time: more than 1 helps methods that wait, and streams.
   *
   * @default 1
   */
  concurrency: whole(1).or(1),
  /**
   * Calls that may wait for a thread; one more is refused with 503.
   *
   * @default 1024
   */
  maxQueue: whole(1).or(1024),
  /** Devices of the threads or processes, in turn: `load` gets its `device`. A process sees it alone, as number 0. */
  deviceIds: fromCode<readonly number[]>(
    'a list of whole numbers from 0 up',
    (ids) =>
      Array.isArray(ids) &&
      ids.length > 0 &&
      ids.every((id) => Number.isSafeInteger(id) && id >= 0),
  ),
  init: checkedLater<unknown>(),
  /**
   * Of the model, as captures have it. A function is asked by servers that record calls.
   *
   * @default unknown; the SHA-256 of the file for `onnxRunner`
   */
  version: fromCode<string | (() => Promise<string>)>(
    'a text, or a function that returns one',
    (version) => ['string', 'function'].includes(typeof version),
  ),
  /** An input for each method, called in every thread before it counts as ready. */
  warmup: checkedLater<object>(),
  /**
   * Heap limit of each thread or process, which is replaced if it reaches the limit. Default for threads: half of the
   * memory, divided by them, at most 2048; for processes: Node's. **Units**: MiB.
   */
  memoryLimitMb: whole(8),
  /**
   * How long after its deadline a call may run before it counts as hung. **Units**: milliseconds.
   *
   * @default 5000
   */
  modelGraceMs: milliseconds,
  /**
   * A thread whose call hangs: `replace` ends it, `report` waits, since native code may crash.
   *
   * @default `replace`
   */
  onHang: oneOf(['replace', 'report']).or('replace'),
}

/** The options of a {@link Runner} whose model is a module. */
export const runnerOptions = {
  ...anyRunnerOptions,
  /** The model's module: a URL, as of `new URL('./model.ts', import.meta.url)`, or an absolute path. */
  module: checkedLater<URL | string>().required(),
  /**
   * `process`: child processes, for native code that may crash or hang.
   *
   * @default `thread`
   */
  isolation: oneOf(['thread', 'process']).or('thread'),
}

/** Options of a {@link Runner}. */
export interface RunnerOptions<M = unknown> extends OptionsOf<typeof runnerOptions> {
  readonly methods: { readonly [K in MethodNames<M>]?: MethodOptionsOf<ModelOf<M>[K]> }
  /** What `load` gets. */
  readonly init?: InitOf<M>
  /** An input for each method, called in every thread before it counts as ready. */
  readonly warmup?: { readonly [K in MethodNames<M>]?: Input<ModelOf<M>[K]> }
  readonly python?: never
}

/** A method's options, checked, with defaults. */
export interface MethodSettings extends Omit<SettingsOf<typeof methodOptions>, 'batch'> {
  readonly name: string
  readonly ragged: RaggedSettings
}

/** A runner's options, checked, with defaults. */
export type RunnerSettings = ReturnType<typeof parseRunnerOptions>

/** @throws InvalidArgument. */
export function checkRunnerName(what: string, name: string): void {
  const isName = typeof name === 'string' && /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(name)
  checkThat(isName, 'letters, digits, _ . and -', what, name)
}

/** @throws InvalidArgument that names the wrong option. */
export function parseRunnerOptions(
  name: string,
  options: RunnerOptions,
  reserved: readonly string[],
) {
  checkRunnerName('the name of a Runner', name)
  const place = `the runner ${name}`
  const settings = readOptions(place, options, runnerOptions)
  const named = Object.entries<MethodOptions | undefined>({ ...settings.methods })
  if (named.length === 0)
    throw new InvalidArgument(`expected at least one method in methods of ${place}`)
  const taken = named.find(([method]) => reserved.includes(method))
  if (taken !== undefined) {
    throw new InvalidArgument(
      `a method of ${place} cannot be called ${taken[0]}: every runner has that already`,
    )
  }
  const methods = named.map(([method, own]) =>
    parseMethod(method, own ?? {}, `${method} of ${place}`),
  )
  const warmup = Object.entries<unknown>({ ...settings.warmup })
  const stranger = warmup.find(([method]) => !methods.some((known) => known.name === method))
  if (stranger !== undefined)
    throw new InvalidArgument(`warmup of ${place} names ${stranger[0]}, which is not in methods`)
  return {
    ...settings,
    name,
    methods,
    warmup,
    module: parseModule(settings.module, place),
    boundary: settings.threads === 0 ? 'none' : (settings.isolation as Boundary),
  }
}

function parseMethod(name: string, options: MethodOptions, place: string): MethodSettings {
  const { batch, ...method } = readOptions(place, options, methodOptions)
  if (batch !== undefined && !method.batchable)
    throw new InvalidArgument(`${place} has the option batch, for which it must be batchable`)
  const ragged = readOptions(`batch of ${place}`, batch ?? {}, raggedOptions)
  if (ragged.pad === undefined && (ragged.buckets ?? ragged.trim) !== undefined)
    throw new InvalidArgument(`batch of ${place} has buckets or trim, for which it needs pad`)
  if (method.batchable && method.stream)
    throw new InvalidArgument(`${place} cannot be both batchable and a stream`)
  return { ...method, name, ragged }
}

/**
 * @throws InvalidArgument unless it is a context or options, as a second argument meant for the
 * model.
 */
export function parseCallOptions(options: unknown, method: string, runner: string): CallOptions {
  if (options === undefined || options === null) return {}
  if (typeof options === 'object') {
    if (callOptions.some((name) => name in options)) return options as CallOptions
    if (Object.getPrototypeOf(options) === Object.prototype && Object.keys(options).length === 0)
      return options
  }
  const place = `the second argument of ${method} of the runner ${runner}`
  const remedy = 'a method takes one argument, which may be an object of several'
  throw new InvalidArgument(
    `${expected(`ctx or { ${callOptions.join(', ')} }`, place, options)}: ${remedy}`,
  )
}

function parseModule(module: unknown, place: string): string {
  const url = fileUrl(module)
  const what = "a file URL such as new URL('./model.ts', import.meta.url), or an absolute path,"
  checkThat(url !== undefined, what, `module of ${place}`, module)
  return url.href
}

/** @returns the URL of a file that is given by it, or by an absolute path; undefined for others. */
export function fileUrl(file: unknown): URL | undefined {
  const text = file instanceof URL ? file.href : file
  if (typeof text !== 'string') return undefined
  if (text.startsWith('file://')) return new URL(text)
  if (text.startsWith('/') || /^[A-Za-z]:[\\/]/.test(text)) return pathToFileURL(text)
  return undefined
}
