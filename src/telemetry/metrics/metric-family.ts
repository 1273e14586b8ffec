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

/** Returns a counter; its name ends with `_total`. */
export function counter(name: string, help: string, values: readonly MetricValue[]): MetricFamily {
  return { name, help, type: 'counter', aggregator: 'sum', values }
}

/** Returns a gauge. */
export function gauge(
  name: string,
  help: string,
  values: readonly MetricValue[],
  aggregator: MetricFamily['aggregator'] = 'sum',
): MetricFamily {
  return { name, help, type: 'gauge', aggregator, values }
}
