/** Metrics of the process, and the text of metrics. The only file that imports prom-client. @module */

import { createRequire } from 'node:module'
import type { OpenMetricsContentType, PrometheusContentType, Registry } from 'prom-client'
import type { MetricFamily } from './metric-family.ts'

/** The types of the text. */
export const metricsTypes = {
  text: 'text/plain; version=0.0.4; charset=utf-8' satisfies PrometheusContentType,
  openMetrics:
    'application/openmetrics-text; version=1.0.0; charset=utf-8' satisfies OpenMetricsContentType,
} as const

const require = createRequire(import.meta.url)
/** By `require`, which tries again after a failure: `import` fails for good without a free descriptor. */
const promClient = (): typeof import('prom-client') => require('prom-client')

let processRegistry: Registry | undefined

/** How often the event loop's delay is sampled: prom-client's 10 ms wake an idle process. **Units**: milliseconds. */
const lagSampleMs = 100

/** Starts to measure the delay of the event loop and garbage collection. Idempotent. */
export function measureProcess(): void {
  if (processRegistry !== undefined) return
  const { collectDefaultMetrics, Registry } = promClient()
  processRegistry = new Registry()
  collectDefaultMetrics({ register: processRegistry, eventLoopMonitoringPrecision: lagSampleMs })
}

/** @returns the metrics of this process, and those in prom-client's default registry. */
export async function processFamilies(): Promise<MetricFamily[]> {
  measureProcess()
  const all = (await processRegistry?.getMetricsAsJSON()) as MetricFamily[] | undefined
  // Left out: gauges that are named as counters, and lists of resources.
  const own = (all ?? [])
    .filter(({ name }) => !name.startsWith('nodejs_active_'))
    .map(withOwnLag)
    .map(worstOfAll)
  const names = new Set(own.map(({ name }) => name))
  const users = (await promClient().register.getMetricsAsJSON()) as unknown as MetricFamily[]
  return [
    ...own,
    ...users.filter(({ name }) => !names.has(name) && !name.startsWith('serving_')),
  ].map(withoutNaN)
}

/** @returns the delay as how late the timer was: Node's histogram counts its interval, too. */
function withOwnLag(family: MetricFamily): MetricFamily {
  if (!/^nodejs_eventloop_lag_(?:min|max|mean|p\d+)_seconds$/.test(family.name)) return family
  const own = (value: number) =>
    value > 1e9 ? Number.NaN : Math.max(0, value - lagSampleMs / 1000)
  return {
    ...family,
    values: family.values.map((sample) => ({ ...sample, value: own(sample.value) })),
  }
}

/** Quantiles of several processes: the average would hide the one that is stuck. */
function worstOfAll(family: MetricFamily): MetricFamily {
  return /^nodejs_eventloop_lag_(?:p\d+_)?seconds$/.test(family.name)
    ? { ...family, aggregator: 'max' }
    : family
}

function withoutNaN(family: MetricFamily): MetricFamily {
  return { ...family, values: family.values.filter(({ value }) => !Number.isNaN(value)) }
}

/** Joins the metrics of processes, each as its metrics say. */
export async function joinFamilies(
  processes: readonly (readonly MetricFamily[])[],
): Promise<MetricFamily[]> {
  return (await aggregate(
    processes,
    metricsTypes.text,
  ).getMetricsAsJSON()) as unknown as MetricFamily[]
}

/** @returns the text of the metrics of processes together, of one of {@link metricsTypes}. */
export function metricsText(
  processes: readonly (readonly MetricFamily[])[],
  type: string,
): Promise<string> {
  if (type !== metricsTypes.openMetrics) return aggregate(processes, type).metrics()
  const renamed = processes.map((families) =>
    families.map((family) =>
      family.type === 'counter' ? { ...family, name: family.name.replace(/_total$/, '') } : family,
    ),
  )
  return aggregate(renamed, type).metrics()
}

function aggregate(processes: readonly (readonly MetricFamily[])[], type: string) {
  const registry = promClient().AggregatorRegistry.aggregate(processes as never)
  registry.setContentType(type as never)
  return registry
}

/** @returns the metrics of each process of the group. */
export type CollectGroup = () => Promise<readonly (readonly MetricFamily[])[]>
