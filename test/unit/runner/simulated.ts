/** Runners in simulated time: the same events in each run, however busy the machine is. @module */
import type { Clock } from '../../../src/runner/clock.ts'
import { Dispatcher } from '../../../src/runner/dispatcher.ts'
import { packList, unpackList } from '../../../src/runner/lists.ts'
import type { RunMessage, RunReply } from '../../../src/runner/model-messages.ts'
import { RunnerCall } from '../../../src/runner/runner-call.ts'
import type { MethodSettings } from '../../../src/runner/runner-options.ts'
import type { ModelWorker } from '../../../src/runner/worker.ts'
import { RunnerCounts } from '../../../src/telemetry/metrics/runner-counts.ts'

const fail = (error: unknown): never => {
  throw error
}

// More promises than stand between an answer and the end of its call.
const settlingTurns = 20

/** Time that goes from one event to the next. */
class SimulatedClock implements Clock {
  #now = 1_000
  #soon: (() => void)[] = []
  /** The latest first. */
  readonly #timers: { readonly at: number; readonly run: () => void }[] = []

  now = () => this.#now
  date = () => this.#now

  after(ms: number, run: () => void) {
    const timer = { at: this.#now + ms, run }
    let at = this.#timers.length
    while (at > 0 && this.#timers[at - 1].at <= timer.at) at--
    this.#timers.splice(at, 0, timer)
    return () => {
      const index = this.#timers.indexOf(timer)
      if (index !== -1) this.#timers.splice(index, 1)
    }
  }

  soon(run: () => void) {
    this.#soon.push(run)
  }

  /** Lets time pass, and everything happen that does in it. */
  async passTo(end: number): Promise<void> {
    for (;;) {
      while (this.#soon.length > 0) for (const run of this.#soon.splice(0)) run()
      const next = this.#timers.at(-1)
      if (next === undefined || next.at > end) break
      this.#timers.pop()
      this.#now = next.at
      next.run()
      for (let i = 0; i < settlingTurns; i++) await null
    }
    this.#now = end
  }
}

/** What a batch of so many rows takes. **Units**: milliseconds. */
export type Cost = (rows: number) => number

/** A thread that computes for a time which only the rows decide. */
class SimulatedWorker implements ModelWorker {
  readonly name = 'thread'
  readonly ended = new Promise<never>(() => {})
  readonly #clock: Clock
  readonly #cost: Cost

  constructor(clock: Clock, cost: Cost) {
    this.#clock = clock
    this.#cost = cost
  }

  run(message: unknown): Promise<unknown> {
    const [rows] = unpackList((message as RunMessage).inputs, fail) as [unknown[]]
    const ms = this.#cost(rows.length)
    const results = packList([rows], 'none', [], fail)
    return new Promise((resolve) =>
      this.#clock.after(ms, () => resolve({ results, failed: [], ms } satisfies RunReply)),
    )
  }

  open(): never {
    throw new Error('no streams here')
  }

  kill() {}
  async end() {}
}

/** When calls come, and how long each may take. **Units**: milliseconds. */
export interface Arrivals {
  readonly times: readonly number[]
  readonly limitMs: number
}

/** @returns calls at random times, so many on average, each of which may take 50 ms. */
export function poisson(perMs: number, forMs: number): Arrivals {
  const random = randomNumbers()
  const times: number[] = []
  for (let at = 0; at < forMs; at += -Math.log(random()) / perMs) times.push(at)
  return { times, limitMs: 50 }
}

/** Numbers from 0 to 1, the same in each run. **Source**: a linear congruential generator. */
function randomNumbers(): () => number {
  let state = 1
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state + 1) / (2 ** 32 + 1)
  }
}

/** @returns how many calls a Runner that is told `maxBatchSize` alone answers in time. */
export async function answeredInTime(
  { times, limitMs }: Arrivals,
  { threads, cost, maxBatchSize }: { threads: number; cost: Cost; maxBatchSize: number },
): Promise<number> {
  const clock = new SimulatedClock()
  const method: MethodSettings = {
    ...{ name: 'predict', batchable: true, maxBatchSize, ragged: {}, stream: false },
    ...{ maxWaitMs: Number.POSITIVE_INFINITY, onBatchError: 'retry', onAbort: 'signal' },
  }
  const dispatcher = new Dispatcher({
    ...{ name: 'simulated', methods: [method], maxQueue: 1e6, concurrency: 1, boundary: 'none' },
    ...{ clock, counts: new RunnerCounts(), graceMs: 1e6, onHung: fail },
  })
  for (let i = 0; i < threads; i++) dispatcher.addWorker(new SimulatedWorker(clock, cost))
  let inTime = 0
  const start = clock.now()
  for (const time of times) {
    await clock.passTo(start + time)
    const dueMs = clock.now() + limitMs
    const options = { deadlineMs: dueMs }
    const call = new RunnerCall({ value: [0], rows: 1, size: 1, key: 'list' }, options)
    call.promise.then(
      () => {
        if (clock.now() <= dueMs) inTime++
      },
      () => {},
    )
    dispatcher.push('predict', call, options)
  }
  await clock.passTo(start + (times.at(-1) ?? 0) + 10 * limitMs)
  return inTime
}

/** Options of batches by hand: the next goes when it is full, or its oldest call has waited. */
export interface ByHand {
  readonly maxBatchSize: number
  readonly maxWaitMs: number
  readonly maxQueue: number
}

/** @returns settings to try, for batches of so many rows at most. */
export const handSettings = (maxBatchSize: number): ByHand[] =>
  [1 / 32, 1 / 8, 1 / 4, 1 / 2, 1].flatMap((part) =>
    [0, 1, 2, 5, 10].flatMap((maxWaitMs) =>
      [1 / 8, 1 / 2, 1, 2].map((queue) => ({
        maxBatchSize: part * maxBatchSize,
        maxWaitMs,
        maxQueue: queue * maxBatchSize,
      })),
    ),
  )

/** @returns how many calls batches by hand answer in time. */
export function answeredByHand(
  { times, limitMs }: Arrivals,
  { threads, cost }: { threads: number; cost: Cost },
  { maxBatchSize, maxWaitMs, maxQueue }: ByHand,
): number {
  const freeAt = new Array<number>(threads).fill(0)
  const waiting: number[] = []
  let [next, first, inTime] = [0, 0, 0]
  const admit = () => {
    if (waiting.length - first < maxQueue) waiting.push(times[next])
    next++
  }
  for (;;) {
    const thread = freeAt.indexOf(Math.min(...freeAt))
    let now = freeAt[thread]
    while (next < times.length && times[next] <= now) admit()
    while (first < waiting.length && waiting[first] + limitMs < now) first++
    if (first === waiting.length) {
      if (next === times.length) return inTime
      now = times[next]
      admit()
    }
    const goAt = Math.max(now, waiting[first] + maxWaitMs)
    while (waiting.length - first < maxBatchSize && next < times.length && times[next] <= goAt) {
      now = Math.max(now, times[next])
      admit()
    }
    if (waiting.length - first < maxBatchSize) now = goAt
    const batch = waiting.slice(first, first + maxBatchSize)
    first += batch.length
    freeAt[thread] = now + cost(batch.length)
    for (const at of batch) if (freeAt[thread] - at <= limitMs) inTime++
  }
}
