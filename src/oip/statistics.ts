/** Counters of a model: how many inferences, and how long they took. @module */

/** A count and the total time. **Units**: nanoseconds. */
export interface Duration {
  readonly count: number
  readonly ns: number
}

const none: Duration = { count: 0, ns: 0 }

// Further batch sizes are counted in the sums alone.
const maxBatchSizes = 256

/** The counters of one model in this process. */
export class Statistics {
  success = none
  fail = none
  /** By the number of rows. */
  batches: Record<string, Duration> = {}
  rows = 0
  /** **Units**: milliseconds since the epoch; 0 for never. */
  lastMs = 0

  /** **Units**: `ms` in milliseconds. */
  succeeded(rows: number, ms: number): void {
    this.rows += rows
    this.lastMs = Date.now()
    this.success = add(this.success, once(ms))
    const before = this.batches[rows]
    if (before !== undefined || Object.keys(this.batches).length < maxBatchSizes) {
      this.batches[rows] = add(once(ms), before)
    }
  }

  failed(ms: number): void {
    this.fail = add(this.fail, once(ms))
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

function once(ms: number): Duration {
  return { count: 1, ns: Math.round(ms * 1e6) }
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
