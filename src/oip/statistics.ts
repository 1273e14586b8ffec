/**
 * Counters of a model: how many inferences, and how long each of their parts took.
 * @module
 */

/** How often something happened, and how long it took together. **Units**: nanoseconds. */
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

/** The parts of one inference. **Units**: milliseconds. */
export interface Times {
  readonly input: number
  readonly infer: number
  readonly output: number
}

// Batch sizes of their own; larger numbers of different sizes are counted in the sums alone.
const maxBatchSizes = 256

/** The statistics of one model in this process. */
export class Statistics {
  readonly success = new Counter()
  readonly fail = new Counter()
  readonly input = new Counter()
  readonly infer = new Counter()
  readonly output = new Counter()
  readonly batches = new Map<number, { readonly input: Counter; readonly infer: Counter; readonly output: Counter }>()
  /** Rows of all inferences. */
  rows = 0
  /** **Units**: milliseconds since the epoch; 0 for never. */
  lastMs = 0

  succeeded(rows: number, { input, infer, output }: Times): void {
    this.rows += rows
    this.lastMs = Date.now()
    this.success.add(input + infer + output)
    this.input.add(input)
    this.infer.add(infer)
    this.output.add(output)
    let batch = this.batches.get(rows)
    if (batch === undefined && this.batches.size < maxBatchSizes) {
      batch = { input: new Counter(), infer: new Counter(), output: new Counter() }
      this.batches.set(rows, batch)
    }
    batch?.input.add(input)
    batch?.infer.add(infer)
    batch?.output.add(output)
  }

  failed(ms: number): void {
    this.fail.add(ms)
  }
}

const none: Duration = { count: 0, ns: 0 }

/** Returns the parts of {@link Statistics} under the protocol's names. */
export function inferenceStats(stats: Statistics): Readonly<Record<string, Duration>> {
  return {
    success: pair(stats.success),
    fail: pair(stats.fail),
    // Callers wait in their runner, which is counted as a part of the inference.
    queue: { count: stats.success.count, ns: 0 },
    compute_input: pair(stats.input),
    compute_infer: pair(stats.infer),
    compute_output: pair(stats.output),
    cache_hit: none,
    cache_miss: none,
  }
}

/** Returns the counters of each batch size under the protocol's names. */
export function batchStats(stats: Statistics): readonly {
  readonly batch_size: number
  readonly compute_input: Duration
  readonly compute_infer: Duration
  readonly compute_output: Duration
}[] {
  return [...stats.batches].map(([rows, { input, infer, output }]) => ({
    batch_size: rows,
    compute_input: pair(input),
    compute_infer: pair(infer),
    compute_output: pair(output),
  }))
}

function pair({ count, ns }: Duration): Duration {
  return { count, ns }
}
