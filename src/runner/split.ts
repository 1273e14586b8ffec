/**
 * A Runner of several versions of one model: `serving/split`. The canary answers a share of the calls, and a shadow
 * gets copies of those that the stable version answers.
 * @module serving/split
 */
import { createHash } from 'node:crypto'
import {
  byteSize,
  checkedLater,
  duration,
  type OptionsOf,
  oneOf,
  readOptions,
  share,
  tableOf,
  whole,
} from '../core/option.ts'
import { checkThat } from '../core/options.ts'
import { Context } from '../http/context.ts'
import { ownerOf } from '../http/owner-key.ts'
import type { Tolerance } from '../values/difference.ts'
import type { ModelVersions, RunnerLife } from './runner.ts'
import { type CallOptions, checkRunnerName } from './runner-options.ts'
import { shadowOf } from './split-shadow.ts'
import { newState } from './split-state.ts'
import { callVersion, guardOf, newVersion, splitFamilies } from './split-version.ts'
import type { RunnerEvent } from './worker-supervisor.ts'

export type { Tolerance } from '../values/difference.ts'

const splitOptions = {
  stable: checkedLater<RunnerLife>().required(),
  canary: checkedLater<RunnerLife>(),
  shadow: checkedLater<RunnerLife>(),
  /**
   * `canary`: its share of the calls, which the option `canary` of the server replaces.
   *
   * @default 0
   */
  weights: tableOf({ canary: share.or(0) }).or({}),
  /**
   * What the last `calls` (100) of the canary must keep, in all worker processes together: the share that may fail by
   * its fault, and the time that 99 % keep, of streams until the first value, in milliseconds. If they do not, all
   * processes give all calls to the stable version until a reload.
   *
   * @default anything
   */
  guard: tableOf({ errorRate: share.or(1), p99Ms: whole(1), calls: whole(1).or(100) }),
  /**
   * `caller`: all calls of one caller go to the same version. Callers without a name are told apart by their address.
   *
   * @default by chance
   */
  sticky: oneOf(['caller']),
  /**
   * What the copies for the shadow may take in each worker process: `calls` at once (16), `maxBytes` (`64mb`), and the
   * `timeout` of one (`30s`). Calls beyond it are dropped and counted.
   */
  budget: tableOf({
    calls: whole(1).or(16),
    maxBytes: byteSize.or('64mb'),
    timeout: duration.or('30s'),
  }).or({}),
  /**
   * How much the answers of the shadow may differ.
   *
   * @default by their dtype
   */
  tolerance: checkedLater<Tolerance>(),
}

/** A Runner with the methods of another one. */
export type VersionOf<R> = RunnerLife & Omit<R, keyof RunnerLife>

/** Options of a {@link Split}. */
export interface SplitOptions<R extends RunnerLife = RunnerLife>
  extends OptionsOf<typeof splitOptions> {
  /** Its methods are those of the Split. The other versions must have them, too. */
  readonly stable: R
  /** Answers its share of the calls. */
  readonly canary?: VersionOf<R>
  /** Gets copies of the calls that the stable version has answered. Its answers are compared. */
  readonly shadow?: VersionOf<R>
}

function openSplit(name: string, options: SplitOptions): RunnerLife {
  checkRunnerName('the name of a Split', name)
  const place = `the split ${name}`
  const settings = readOptions(place, options, splitOptions)
  const { stable, canary, shadow, weights, guard, sticky, budget, tolerance } = settings
  const runners = { stable, ...(canary && { canary }), ...(shadow && { shadow }) }
  const all = Object.values(runners)
  const listeners = new Set<(event: RunnerEvent) => void>()
  const state = newState(weights.canary)
  const versions: ModelVersions = { runners, state, ask: async () => [] }
  const breach = (what: string) => {
    if (state.wentBack !== undefined) return
    const message = `${place} gives all calls to ${stable.name}: of ${canary?.name}, ${what}`
    Object.assign(state, { canary: 0, wentBack: message })
    void versions.ask(message)
    for (const listener of listeners) listener({ kind: 'went_back', message })
  }
  const counted = {
    stable: newVersion(stable),
    ...(canary && { canary: newVersion(canary, guard && guardOf(guard, versions, breach)) }),
    ...(shadow && { shadow: newVersion(shadow) }),
  }
  const copyOf = counted.shadow && shadowOf(counted.shadow, state, budget, tolerance)

  /** @returns a number below 1, always the same for a caller: a larger share keeps those of a smaller one. */
  const placeOf = (ctx: Context | undefined) => {
    const caller = sticky && ctx && (ownerOf(ctx) ?? ctx.remoteAddress)
    if (caller === undefined) return Math.random()
    const hash = createHash('sha256').update(`${name}\n${caller}`).digest()
    return hash.readUInt32BE() / 2 ** 32
  }
  const caller = (method: string) => (input: unknown, given?: CallOptions) => {
    const ctx = given instanceof Context ? given : undefined
    if (counted.canary && canary?.unready === undefined && placeOf(ctx) < state.canary)
      return callVersion(counted.canary, method, input, given)
    // Before the call, which may move the input away.
    const copy = copyOf?.(method, input, ctx?.id)
    return callVersion(counted.stable, method, input, given, copy)
  }
  const split: RunnerLife = {
    name,
    versions,
    families: () => splitFamilies(name, state, counted),
    /** The other versions may fail. */
    get unready() {
      return stable.unready
    },
    get waiting() {
      return stable.waiting
    },
    async start(given) {
      try {
        await Promise.all(all.map((runner) => runner.start(given)))
      } catch (error) {
        await split.stop()
        throw error
      }
    },
    async stop() {
      await Promise.all(all.map((runner) => runner.stop()))
    },
    watch(listener) {
      listeners.add(listener)
      const ends = all.map((runner) => runner.watch(listener))
      return () => {
        listeners.delete(listener)
        for (const end of ends) end()
      }
    },
  }
  const hasMethod = (runner: object, method: string) =>
    typeof Reflect.get(runner, method) === 'function'
  const methods = Object.keys(stable ?? {}).filter(
    (method) => !(method in split) && hasMethod(stable, method),
  )
  checkThat(methods.length > 0, 'a Runner', `stable of ${place}`, stable)
  for (const [role, runner] of Object.entries(runners)) {
    const lacks = methods.find((method) => !hasMethod(runner, method))
    checkThat(lacks === undefined, `a method ${lacks}`, `${role} of ${place}`, runner.name)
  }
  return Object.assign(split, Object.fromEntries(methods.map((method) => [method, caller(method)])))
}

/**
 * A Runner with the methods of `stable`. Its `canary` answers a share of the calls, `shadow` gets copies of those that
 * `stable` has answered and never answers. Give it to a service in place of its versions, which it starts and stops.
 *
 * @throws InvalidArgument for wrong options, and for a version that lacks a method of `stable`; of calls: as the
 * version that answers.
 * @example
 * `new Split('iris', { stable, canary, weights: { canary: 0.05 }, sticky: 'caller', guard: { errorRate: 0.02 } })`
 */
export const Split = openSplit as unknown as SplitClass

/** The class {@link Split}: its objects have the methods of `stable`. */
export interface SplitClass {
  new <R extends RunnerLife>(name: string, options: SplitOptions<R>): VersionOf<R>
  readonly prototype: RunnerLife
}
