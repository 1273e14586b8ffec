/** Counters of a model: how many inferences, and how long they took. @module */

/** A count and the total time. **Units**: nanoseconds. */
export interface Duration {
  count: number
  ns: number
}

const none: Readonly<Duration> = { count: 0, ns: 0 }

// Further batch sizes are counted in the sums alone.
const maxBatchSizes = 256

/** The counters of one model in this process. */
export class Statistics {
  readonly success: Duration = { ...none }
  readonly fail: Duration = { ...none }
  /** By the number of rows. */
  readonly batches: Record<string, Duration> = {}
  rows = 0
  /** **Units**: milliseconds since the epoch; 0 for never. */
  lastMs = 0

  /** **Units**: `ms` in milliseconds. */
  succeeded(rows: number, ms: number): void {
    this.rows += rows
    this.lastMs = Date.now()
    count(this.success, ms)
    if (this.batches[rows] === undefined && Object.keys(this.batches).length < maxBatchSizes) {
      this.batches[rows] = { ...none }
    }
    if (this.batches[rows] !== undefined) count(this.batches[rows], ms)
  }

  failed(ms: number): void {
    count(this.fail, ms)
  }
}

/** The counters of one version of a model. */
export interface ModelCounts extends Omit<Statistics, 'succeeded' | 'failed'> {
  readonly name: string
  readonly version: string
}

/** **Units**: `last_inference` in milliseconds since the epoch. */
export type ModelStatistics = ReturnType<typeof statisticsOf>

/** Adds up the counters of several processes. */
export function joinStatistics(all: readonly ModelCounts[]): ModelStatistics[] {
  const joined = new Map<string, ModelCounts>()
  for (const each of all) {
    const key = JSON.stringify([each.name, each.version])
    const before = joined.get(key)
    joined.set(key, before === undefined ? each : sum(before, each))
  }
  return [...joined.values()].map(statisticsOf)
}

function sum(a: ModelCounts, b: ModelCounts): ModelCounts {
  const batches = { ...a.batches }
  for (const [rows, duration] of Object.entries(b.batches)) batches[rows] = add(duration, batches[rows])
  return {
    ...a,
    success: add(a.success, b.success),
    fail: add(a.fail, b.fail),
    batches,
    rows: a.rows + b.rows,
    lastMs: Math.max(a.lastMs, b.lastMs),
  }
}

function add(a: Duration, b = none): Duration {
  return { count: a.count + b.count, ns: a.ns + b.ns }
}

function count(duration: Duration, ms: number): void {
  duration.count++
  duration.ns += Math.round(ms * 1e6)
}

/** Returns counters under the protocol's names. Queues, and the reading and writing of tensors, are not measured. */
function statisticsOf({ name, version, success, fail, batches, rows, lastMs }: ModelCounts) {
  const compute = (duration: Duration) => ({ compute_input: none, compute_infer: duration, compute_output: none })
  return {
    name,
    version,
    last_inference: lastMs,
    inference_count: rows,
    execution_count: success.count,
    inference_stats: { success, fail, queue: none, ...compute(success), cache_hit: none, cache_miss: none },
    response_stats: {},
    batch_stats: Object.entries(batches).map(([size, each]) => ({ batch_size: Number(size), ...compute(each) })),
    memory_usage: [],
  }
}
