/** Metrics as plain data between processes, in the form of prom-client's `getMetricsAsJSON`. @module */
/** MetricLabels of one value. */
export type MetricLabels = Readonly<Record<string, string | number>>

/** One value of a metric. */
export interface MetricValue {
  readonly labels: MetricLabels
  readonly value: number
  /** Where it is not the metric's own: `NAME_bucket`. */
  readonly metricName?: string
}

/** One metric with its values. */
export interface MetricFamily {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary'
  readonly aggregator: 'sum' | 'first' | 'min' | 'max' | 'average' | 'omit'
  readonly values: readonly MetricValue[]
}

/** @returns a counter; its name ends with `_total`. */
export function counter(name: string, help: string, values: readonly MetricValue[]): MetricFamily {
  return { name, help, type: 'counter', aggregator: 'sum', values }
}

/** @returns a gauge. */
export function gauge(
  name: string,
  help: string,
  values: readonly MetricValue[],
  aggregator: MetricFamily['aggregator'] = 'sum',
): MetricFamily {
  return { name, help, type: 'gauge', aggregator, values }
}

/** **Units**: seconds. */
export const durationBuckets: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
]

/** Rows of a batch. */
export const rowBuckets: readonly number[] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]

/** The counts of one histogram. */
export class BucketCounts {
  readonly #bounds: Float64Array
  readonly #counts: Float64Array

  constructor(bounds: readonly number[]) {
    this.#bounds = Float64Array.from(bounds)
    this.#counts = new Float64Array(bounds.length + 2)
  }

  add(value: number): void {
    const bounds = this.#bounds
    const counts = this.#counts
    let i = 0
    while (i < bounds.length && value > bounds[i]) i++
    counts[i]++
    counts[bounds.length + 1] += value
  }

  values(name: string, labels: MetricLabels): MetricValue[] {
    const values: MetricValue[] = []
    let total = 0
    for (let i = 0; i <= this.#bounds.length; i++) {
      total += this.#counts[i]
      const le = i < this.#bounds.length ? this.#bounds[i] : '+Inf'
      values.push({ labels: { le, ...labels }, value: total, metricName: `${name}_bucket` })
    }
    values.push({ labels, value: this.#counts[this.#bounds.length + 1], metricName: `${name}_sum` })
    values.push({ labels, value: total, metricName: `${name}_count` })
    return values
  }
}

/** @returns a histogram; each of its series has buckets of its own. */
export function histogram(
  name: string,
  help: string,
  series: readonly { readonly labels: MetricLabels; readonly counts: BucketCounts }[],
): MetricFamily {
  const values = series.flatMap(({ labels, counts }) => counts.values(name, labels))
  return { name, help, type: 'histogram', aggregator: 'sum', values }
}
