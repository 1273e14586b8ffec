/** Counters of a model: how many inferences, and how long they took. @module */

/** A count and the total time. **Units**: nanoseconds. */
export interface Duration {
  count: number
  ns: number
}

const none: Readonly<Duration> = { count: 0, ns: 0 }

// Further batch sizes are counted in the sums alone.
const maxBatchSizes = 256

/**
 * **Units**: `lastMs` in milliseconds since the epoch; 0: never.
 *
 * @returns the counters of one model in this process.
 */
export function newStatistics() {
  // By the number of rows.
  const batches: Record<string, Duration> = {}
  return { success: { ...none }, fail: { ...none }, batches, rows: 0, lastMs: 0 }
}

/** The counters of one model. */
export type Statistics = ReturnType<typeof newStatistics>

/** Counts an inference; `rows` is undefined if it failed. */
export function countInference(statistics: Statistics, rows: number | undefined, ms: number): void {
  if (rows === undefined) {
    add(statistics.fail, ms)
    return
  }
  const { batches, success } = statistics
  statistics.rows += rows
  statistics.lastMs = Date.now()
  add(success, ms)
  if (batches[rows] === undefined && Object.keys(batches).length < maxBatchSizes)
    batches[rows] = { ...none }
  if (batches[rows] !== undefined) add(batches[rows], ms)
}

/** The counters of one version of a model. */
export interface ModelCounts extends Statistics {
  readonly name: string
  readonly version: string
}

/** **Units**: `last_inference` in milliseconds since the epoch. */
export type ModelStatistics = ReturnType<typeof statisticsOf>

/** Adds up the counters of several processes. */
export function joinStatistics(all: readonly ModelCounts[]): ModelStatistics[] {
  const byModel = new Map<string, ModelCounts>()
  for (const each of all) {
    const key = JSON.stringify([each.name, each.version])
    const before = byModel.get(key)
    byModel.set(key, before ? sum(before, each) : each)
  }
  return [...byModel.values()].map(statisticsOf)
}

function sum(a: ModelCounts, b: ModelCounts): ModelCounts {
  const batches = { ...a.batches }
  for (const [rows, duration] of Object.entries(b.batches))
    batches[rows] = joined(duration, batches[rows])
  return {
    ...a,
    success: joined(a.success, b.success),
    fail: joined(a.fail, b.fail),
    batches,
    rows: a.rows + b.rows,
    lastMs: Math.max(a.lastMs, b.lastMs),
  }
}

function joined(a: Duration, b = none): Duration {
  return { count: a.count + b.count, ns: a.ns + b.ns }
}

function add(duration: Duration, ms: number): void {
  duration.count++
  duration.ns += Math.round(ms * 1e6)
}

/**
 * Queues, and the reading and writing of tensors, are not measured.
 *
 * @returns counters under the protocol's names.
 */
function statisticsOf({ name, version, success, fail, batches, rows, lastMs }: ModelCounts) {
  const compute = (duration: Duration) => ({
    compute_input: none,
    compute_infer: duration,
    compute_output: none,
  })
  return {
    name,
    version,
    last_inference: lastMs,
    inference_count: rows,
    execution_count: success.count,
    inference_stats: {
      success,
      fail,
      queue: none,
      ...compute(success),
      cache_hit: none,
      cache_miss: none,
    },
    response_stats: {},
    batch_stats: Object.entries(batches).map(([size, each]) => ({
      batch_size: Number(size),
      ...compute(each),
    })),
    memory_usage: [],
  }
}
