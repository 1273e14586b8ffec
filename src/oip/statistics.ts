/** Counters of a model: how many inferences, and how long they took. @module */

/** A count and the total time. **Units**: nanoseconds. */
export interface Duration {
  readonly count: number
  readonly ns: number
}

class Counter implements Duration {
  count = 0
  ns = 0

  add(ms: number): void {
    this.count++
    this.ns += Math.round(ms * 1e6)
  }
}

// Further batch sizes are counted in the sums alone.
const maxBatchSizes = 256

/** The statistics of one model in this process. */
export class Statistics {
  readonly success = new Counter()
  readonly fail = new Counter()
  readonly batches = new Map<number, Counter>()
  rows = 0
  /** **Units**: milliseconds since the epoch; 0 for never. */
  lastMs = 0

  /** **Units**: `ms` in milliseconds. */
  succeeded(rows: number, ms: number): void {
    this.rows += rows
    this.lastMs = Date.now()
    this.success.add(ms)
    let batch = this.batches.get(rows)
    if (batch === undefined && this.batches.size < maxBatchSizes) {
      batch = new Counter()
      this.batches.set(rows, batch)
    }
    batch?.add(ms)
  }

  failed(ms: number): void {
    this.fail.add(ms)
  }
}

const none: Duration = { count: 0, ns: 0 }

/** Returns {@link Statistics} under the protocol's names. */
export function inferenceStats({ success, fail }: Statistics): Readonly<Record<string, Duration>> {
  return {
    success: pair(success),
    fail: pair(fail),
    queue: { count: success.count, ns: 0 },
    ...computeStats(success),
    cache_hit: none,
    cache_miss: none,
  }
}

/** Not told apart: reading and writing a tensor is copying it. */
function computeStats(inferences: Duration) {
  const { count } = inferences
  return { compute_input: { count, ns: 0 }, compute_infer: pair(inferences), compute_output: { count, ns: 0 } }
}

/** Returns the counters of each batch size under the protocol's names. */
export function batchStats({ batches }: Statistics): readonly BatchStatistics[] {
  return [...batches].map(([rows, batch]) => ({ batch_size: rows, ...computeStats(batch) }))
}

interface BatchStatistics {
  readonly batch_size: number
  readonly compute_input: Duration
  readonly compute_infer: Duration
  readonly compute_output: Duration
}

/** **Units**: `last_inference` in milliseconds since the epoch. */
export interface ModelStatistics {
  readonly name: string
  readonly version: string
  readonly last_inference: number
  readonly inference_count: number
  readonly execution_count: number
  readonly inference_stats: Readonly<Record<string, Duration>>
  readonly response_stats: object
  readonly batch_stats: readonly BatchStatistics[]
  readonly memory_usage: readonly unknown[]
}

/** Adds up the statistics of several processes. */
export function joinStatistics(all: readonly ModelStatistics[]): ModelStatistics[] {
  const joined = new Map<string, ModelStatistics>()
  for (const each of all) {
    const key = JSON.stringify([each.name, each.version])
    const before = joined.get(key)
    joined.set(key, before === undefined ? each : sum(before, each))
  }
  return [...joined.values()]
}

function sum(a: ModelStatistics, b: ModelStatistics): ModelStatistics {
  const durations = Object.entries(a.inference_stats).map(([name, each]) => [name, add(each, b.inference_stats[name])])
  const batches = new Map(a.batch_stats.map((batch) => [batch.batch_size, batch]))
  for (const batch of b.batch_stats) {
    const before = batches.get(batch.batch_size)
    batches.set(batch.batch_size, {
      batch_size: batch.batch_size,
      compute_input: add(batch.compute_input, before?.compute_input),
      compute_infer: add(batch.compute_infer, before?.compute_infer),
      compute_output: add(batch.compute_output, before?.compute_output),
    })
  }
  return {
    ...a,
    last_inference: Math.max(a.last_inference, b.last_inference),
    inference_count: a.inference_count + b.inference_count,
    execution_count: a.execution_count + b.execution_count,
    inference_stats: Object.fromEntries(durations),
    batch_stats: [...batches.values()],
  }
}

function add(a: Duration, b: Duration = none): Duration {
  return { count: a.count + b.count, ns: a.ns + b.ns }
}

function pair({ count, ns }: Duration): Duration {
  return { count, ns }
}
