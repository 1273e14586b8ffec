/** Counters of a model: how many inferences, and how long they took. @module */

/** A count and the total time. **Units**: nanoseconds. */
export interface Duration {
  readonly count: number
  readonly ns: number
}

const none: Duration = { count: 0, ns: 0 }

/**
 * **Units**: `lastMs` in milliseconds since the epoch; 0: never.
 *
 * @returns the counters of one model in this process.
 */
export function newStatistics() {
  return { success: none, fail: none, rows: 0, lastMs: 0 }
}

/** The counters of one model. */
export type Statistics = ReturnType<typeof newStatistics>

/** Counts an inference; `rows` is undefined if it failed. */
export function countInference(statistics: Statistics, rows: number | undefined, ms: number): void {
  const took = { count: 1, ns: Math.round(ms * 1e6) }
  if (rows === undefined) {
    statistics.fail = joined(statistics.fail, took)
    return
  }
  statistics.success = joined(statistics.success, took)
  statistics.rows += rows
  statistics.lastMs = Date.now()
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
  return {
    ...a,
    success: joined(a.success, b.success),
    fail: joined(a.fail, b.fail),
    rows: a.rows + b.rows,
    lastMs: Math.max(a.lastMs, b.lastMs),
  }
}

function joined(a: Duration, b: Duration): Duration {
  return { count: a.count + b.count, ns: a.ns + b.ns }
}

/**
 * Queues, and the reading and writing of tensors, are not measured.
 *
 * @returns counters under the protocol's names.
 */
function statisticsOf({ name, version, success, fail, rows, lastMs }: ModelCounts) {
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
      compute_input: none,
      compute_infer: success,
      compute_output: none,
      cache_hit: none,
      cache_miss: none,
    },
  }
}
