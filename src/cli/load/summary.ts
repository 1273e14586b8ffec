/** The figures of a run. @module */
import type { Sample } from './open-loop.ts'

const shares = { p50: 0.5, p90: 0.9, p99: 0.99, 'p99.9': 0.999, max: 1 }

/** The name of a quantile. */
export type QuantileName = keyof typeof shares
/** The quantiles by name. */
export const quantileNames = Object.keys(shares) as QuantileName[]

/** **Units**: milliseconds; `Infinity` where so many requests failed. */
export type Quantiles = Readonly<Record<QuantileName, number>>

/** @returns the smallest number that a share of a sorted list does not pass; 0 for an empty list. */
export function quantileOf(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0
}

/** @returns the quantiles of times. */
export function quantilesOf(times: readonly number[]): Quantiles {
  const sorted = Float64Array.from(times).sort()
  return Object.fromEntries(
    Object.entries(shares).map(([name, share]) => [name, quantileOf(sorted, share)]),
  ) as Quantiles
}

/** What a summary is made of. */
export interface Run {
  /** Requests a second that were asked for. */
  readonly rate: number
  readonly seconds: number
  readonly samples: readonly Sample[]
  /** CPU time of this process meanwhile. **Units**: microseconds. */
  readonly cpuMicros: number
  /** The bound of goodput. **Units**: milliseconds. */
  readonly boundMs?: number | undefined
}

/** What a run showed. */
export type Summary = ReturnType<typeof summaryOf>

/** A request that failed counts as one that took forever. */
export function summaryOf({ rate, seconds, samples, cpuMicros, boundMs }: Run) {
  const faults: Record<string, number> = {}
  for (const { fault } of samples) if (fault !== undefined) faults[fault] = (faults[fault] ?? 0) + 1
  const within = samples.filter(({ latencyMs }) => latencyMs <= (boundMs ?? 0)).length
  return {
    rate,
    seconds,
    sent: samples.length,
    failed: samples.filter(({ fault }) => fault !== undefined).length,
    /** How often what came instead of an answer. */
    faults,
    latencyMs: quantilesOf(samples.map(({ latencyMs }) => latencyMs)),
    /** Right answers a second within the bound, if there is one. */
    goodput: boundMs === undefined ? undefined : within / seconds,
    /** p99 of how much too late requests went out. **Units**: milliseconds. */
    lateMs: quantilesOf(samples.map(({ lateMs }) => lateMs)).p99,
    /** CPU of this process, which makes the load. **Units**: cores. */
    ownCpu: cpuMicros / 1e6 / seconds,
  }
}

/** @returns milliseconds with three digits; `never` for what failed. */
export function milliseconds(value: number): string {
  if (value === Infinity) return 'never'
  return `${value >= 100 ? Math.round(value) : Number(value.toPrecision(3))} ms`
}

/** So much of the p99 may come from this process. */
const lateShare = 0.1

/** @returns the lines of a run, for people. */
export function summaryText(summary: Summary, boundMs?: number): string {
  const { rate, seconds, sent, failed, latencyMs, goodput, lateMs, ownCpu } = summary
  const faults = Object.entries(summary.faults).map(([fault, count]) => `${count} × ${fault}`)
  const why = faults.length === 0 ? '' : ` (${faults.join(', ')})`
  const quantiles = quantileNames.map((name) => `${name} ${milliseconds(latencyMs[name])}`)
  const cpu = `${(ownCpu * 100).toFixed(0)} % of a core`
  const isLate = lateMs > latencyMs.p99 * lateShare
  const lines = [
    `${Number(rate.toFixed(1))}/s for ${seconds} s: ${sent} sent, ${failed} failed${why}`,
    `  ${quantiles.join(', ')}`,
    goodput !== undefined && `  within ${boundMs} ms: ${goodput.toFixed(1)} a second`,
    `  this generator: ${cpu}, p99 of sending too late ${milliseconds(lateMs)}`,
    isLate && '  this machine sends too late: these figures are partly its own',
  ]
  return `${lines.filter(Boolean).join('\n')}\n`
}
