/**
 * Many models in bounded memory: `serving/pool`. A model is loaded when it is called, and those that were not used for
 * the longest time make room.
 * @module serving/pool
 */
import { errorText, FunctionError, Overloaded, ServingError, show } from '../core/errors.ts'
import { byteSize, fn, type OptionsOf, readOptions } from '../core/option.ts'
import { checkThat } from '../core/options.ts'
import { deferred, type MaybePromise } from '../core/promise.ts'
import { counter, gauge, type MetricFamily } from '../telemetry/metrics/metric-family.ts'
import { realClock } from './clock.ts'
import { RunnerNotStarted } from './not-started.ts'
import type { RunnerLife } from './runner.ts'
import { RunnerCall } from './runner-call.ts'
import { type CallOptions, checkRunnerName } from './runner-options.ts'
import type { RunnerEvent } from './worker-supervisor.ts'

/** What `load` of a {@link ModelPool} gives. */
export interface LoadedModel<M> {
  readonly model: M
  /** What it holds until it is closed. **Units**: bytes. */
  readonly bytes: number
  /**
   * Keeps it when others need room.
   *
   * @default false
   */
  readonly pin?: boolean
  /** Called once, when no call uses the model any more. */
  close?(): unknown
}

/** A model that stays in its pool until it is released. */
export interface HeldModel<M> {
  readonly model: M
  release(): void
}

const poolOptions = {
  load: fn<(id: string) => MaybePromise<LoadedModel<unknown>>>().required(),
  /** Memory of all models together, in each worker process. */
  maxBytes: byteSize.required(),
}

/** Options of a {@link ModelPool}. */
export interface ModelPoolOptions<M> extends OptionsOf<typeof poolOptions> {
  /** Loads a model, once at a time for each id. The calls that wait throw its error, and the next call loads again. */
  readonly load: (id: string) => MaybePromise<LoadedModel<M>>
}

class PooledModel<M> {
  readonly id: string
  /** Those that wait until it is loaded. */
  readonly calls = new Set<RunnerCall>()
  readonly closed = deferred<void>()
  users = 0
  /** Reserved before it is loaded. */
  bytes = 0
  loaded: LoadedModel<M> | undefined
  isLeaving = false

  constructor(id: string) {
    this.id = id
  }
}

// Clients may choose ids: sizes of more are forgotten.
const maxSizes = 10_000

/**
 * Models by id in bounded memory. Give it to a service in `runners`. Before a model is loaded, others are closed until
 * there is room: idle ones first, of these the one whose last use is the longest ago. A model is closed after its last
 * call.
 *
 * @example
 * ```ts
 * const pool = new ModelPool('adapters', { maxBytes: '2gb', load: async (id) => ({ model, bytes, close }) })
 * await pool.use(id, (model) => model.predict(x, ctx), ctx)
 * ```
 */
export class ModelPool<M> implements RunnerLife {
  readonly name: string
  readonly waiting = 0
  readonly #load: ModelPoolOptions<M>['load']
  readonly #maxBytes: number
  /** Those that calls find, in the order of their last use. */
  readonly #models = new Map<string, PooledModel<M>>()
  /** Those that wait for room. */
  readonly #queue = new Set<PooledModel<M>>()
  /** Those that have room, also while they load or leave. */
  readonly #roomed = new Set<PooledModel<M>>()
  /** By id, of models that were loaded before. */
  readonly #sizes = new Map<string, number>()
  readonly #listeners = new Set<(event: RunnerEvent) => void>()
  readonly #counts = { loaded: 0, failed: 0, evicted: 0 }
  #starts = 0

  /** @throws InvalidArgument for wrong options. */
  constructor(name: string, options: ModelPoolOptions<M>) {
    checkRunnerName('the name of a ModelPool', name)
    const { load, maxBytes } = readOptions(`the pool ${name}`, options, poolOptions)
    this.name = name
    this.#load = load as ModelPoolOptions<M>['load']
    this.#maxBytes = maxBytes
  }

  get unready(): string | undefined {
    return this.#starts === 0 ? `the pool ${this.name} has not started` : undefined
  }

  async start(): Promise<void> {
    this.#starts++
  }

  /** Closes all models after their calls when every `start` has had its `stop`. */
  async stop(): Promise<void> {
    if (this.#starts === 0 || --this.#starts > 0) return
    const ending = new Overloaded(`the pool ${this.name} has stopped`)
    for (const { calls } of this.#queue) for (const call of calls) call.giveUp(ending)
    await Promise.all([...this.#roomed].map((pooled) => this.#leave(pooled)))
  }

  watch(listener: (event: RunnerEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /**
   * Calls `work` with a model, which stays until its promise settles. Waits while it is loaded, as long as `options`
   * say.
   *
   * @throws what `load` or `work` throws; DeadlineExceeded, ClientClosed; InvalidArgument before the start.
   */
  async use<R>(
    id: string,
    work: (model: M) => MaybePromise<R>,
    options: CallOptions = {},
  ): Promise<R> {
    const { model, release } = await this.hold(id, options)
    try {
      return await work(model)
    } finally {
      release()
    }
  }

  /** As {@link ModelPool.use}, for streams: the model stays until `release` is called. */
  async hold(id: string, options: CallOptions = {}): Promise<HeldModel<M>> {
    if (this.#starts === 0) throw new RunnerNotStarted(this)
    const pooled = this.#models.get(id) ?? this.#add(id)
    pooled.users++
    let isReleased = false
    const release = () => {
      if (!isReleased) this.#release(pooled)
      isReleased = true
    }
    try {
      return { model: pooled.loaded?.model ?? (await this.#loadedFor(pooled, options)), release }
    } catch (error) {
      release()
      throw error
    }
  }

  /** Closes a model after its calls. The next call loads it again. */
  async unload(id: string): Promise<void> {
    const pooled = this.#models.get(id)
    if (pooled !== undefined) await this.#leave(pooled)
  }

  /** @returns its metrics. */
  families(): readonly MetricFamily[] {
    const pool = this.name
    const { loaded, failed, evicted } = this.#counts
    const one = (value: number, labels = {}) => ({ labels: { pool, ...labels }, value })
    return [
      gauge('serving_pool_models', 'Models that a pool holds.', [one(this.#roomed.size)]),
      gauge('serving_pool_bytes', 'Memory of these models.', [one(bytesOf(this.#roomed))]),
      counter('serving_pool_loads_total', 'Loads of models, by outcome.', [
        one(loaded, { outcome: 'loaded' }),
        one(failed, { outcome: 'failed' }),
      ]),
      counter('serving_pool_evictions_total', 'Models closed to make room.', [one(evicted)]),
    ]
  }

  #add(id: string): PooledModel<M> {
    const pooled = new PooledModel<M>(id)
    this.#checkFits(pooled, this.#sizes.get(id) ?? 0)
    this.#models.set(id, pooled)
    this.#queue.add(pooled)
    return pooled
  }

  #loadedFor({ calls }: PooledModel<M>, options: CallOptions): Promise<M> {
    const call = new RunnerCall({ value: undefined, rows: 1, size: 1, key: '' }, options)
    call.owner = { abandoned: () => void calls.delete(call) }
    calls.add(call)
    call.follow(options, realClock)
    if (!call.over) this.#next()
    return call.promise as Promise<M>
  }

  #release(pooled: PooledModel<M>): void {
    pooled.users--
    if (pooled.users === 0 && this.#queue.delete(pooled)) this.#forget(pooled)
    this.#touch(pooled)
    void this.#closeUnused(pooled)
    if (this.#queue.size > 0) this.#next()
  }

  #touch(pooled: PooledModel<M>): void {
    if (this.#models.get(pooled.id) !== pooled) return
    this.#models.delete(pooled.id)
    this.#models.set(pooled.id, pooled)
  }

  /** Makes room for the models that wait, one after the other, and loads them. */
  #next(): void {
    for (;;) {
      const [next] = this.#queue
      // Of one never loaded: as much as the largest so far, or all.
      const known = next && (this.#sizes.get(next.id) ?? Math.max(0, ...this.#sizes.values()))
      const bytes = next ? Math.min(known || this.#maxBytes, this.#roomFor(next)) : 0
      const free = this.#maxBytes - bytesOf(this.#roomed)
      if (bytes <= free) {
        if (next === undefined) return
        this.#queue.delete(next)
        this.#roomed.add(next)
        next.bytes = bytes
        void this.#loadInto(next)
        continue
      }
      const leaving = [...this.#roomed].filter(({ isLeaving }) => isLeaving)
      const others = [...this.#models.values()].filter(({ loaded }) => loaded && !loaded.pin)
      const victim = others.find(({ users }) => users === 0) ?? others[0]
      if (bytes <= free + bytesOf(leaving) || victim === undefined) return
      this.#counts.evicted++
      void this.#leave(victim)
    }
  }

  /** All but the memory of others that are pinned. */
  #roomFor(pooled: PooledModel<M>): number {
    const pinned = [...this.#roomed].filter((each) => each !== pooled && each.loaded?.pin)
    return this.#maxBytes - bytesOf(pinned)
  }

  #checkFits(pooled: PooledModel<M>, bytes: number): void {
    const room = this.#roomFor(pooled)
    const place = `the model ${show(pooled.id)} of the pool ${this.name}`
    checkThat(bytes >= 0 && bytes <= room, `0 to ${room} bytes`, place, bytes)
  }

  async #loadInto(pooled: PooledModel<M>): Promise<void> {
    const { id, calls } = pooled
    try {
      const loaded = await this.#load(id)
      pooled.loaded = loaded
      pooled.bytes = loaded.bytes
      this.#sizes.delete(id)
      this.#sizes.set(id, loaded.bytes)
      const [oldest] = this.#sizes.keys()
      if (this.#sizes.size > maxSizes) this.#sizes.delete(oldest)
      this.#checkFits(pooled, loaded.bytes)
      this.#counts.loaded++
      this.#touch(pooled)
      for (const call of calls) call.resolve(loaded.model)
    } catch (cause) {
      this.#counts.failed++
      const what = `the pool ${this.name} could not load the model ${show(id)}: ${errorText(cause)}`
      const failure = ServingError.is(cause) ? cause : new FunctionError(what, { cause })
      for (const call of calls) call.reject(failure)
      pooled.isLeaving = true
      if (pooled.loaded === undefined) this.#forget(pooled)
    }
    calls.clear()
    if (pooled.isLeaving) void this.#leave(pooled)
    this.#next()
  }

  /** Lets calls find it no more once it is loaded, and closes it after those that use it. Resolves then. */
  #leave(pooled: PooledModel<M>): Promise<void> {
    const { id, loaded, closed } = pooled
    pooled.isLeaving = true
    if (loaded !== undefined && this.#models.get(id) === pooled) this.#models.delete(id)
    void this.#closeUnused(pooled)
    return closed.promise
  }

  async #closeUnused(pooled: PooledModel<M>): Promise<void> {
    const { loaded, isLeaving, users, id } = pooled
    if (!isLeaving || users > 0 || loaded === undefined) return
    pooled.loaded = undefined
    try {
      await loaded.close?.()
    } catch (error) {
      const message = `the pool ${this.name} could not close the model ${show(id)}`
      const cause = error as Error
      for (const listener of this.#listeners) listener({ kind: 'ended', message, cause })
    }
    this.#forget(pooled)
    this.#next()
  }

  #forget(pooled: PooledModel<M>): void {
    this.#roomed.delete(pooled)
    if (this.#models.get(pooled.id) === pooled) this.#models.delete(pooled.id)
    pooled.closed.resolve()
  }
}

function bytesOf(models: Iterable<{ readonly bytes: number }>): number {
  let sum = 0
  for (const { bytes } of models) sum += bytes
  return sum
}
