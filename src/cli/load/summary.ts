/** The figures of a run. @module */
import type { Sample } from './open-loop.ts'

/** **Units**: milliseconds; `Infinity` where so many requests failed. */
export interface Quantiles {
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly 'p99.9': number
  readonly max: number
}

/** What a run showed. */
export interface Summary {
  /** Requests a second that were asked for. */
  readonly rate: number
  readonly seconds: number
  readonly sent: number
  readonly failed: number
  /** How often what came instead of an answer. */
  readonly faults: Readonly<Record<string, number>>
  readonly latencyMs: Quantiles
  /** Right answers a second within the bound, if there is one. */
  readonly goodput?: number
  /** p99 of how much too late requests went out. **Units**: milliseconds. */
  readonly lateMs: number
  /** CPU of this process, which makes the load. **Units**: cores. */
  readonly ownCpu: number
}

/** The quantiles by name. */
export const quantileNames = ['p50', 'p90', 'p99', 'p99.9', 'max'] as const
/** The name of a quantile. */
export type QuantileName = (typeof quantileNames)[number]

const shares: Readonly<Record<QuantileName, number>> = {
  p50: 0.5,
  p90: 0.9,
  p99: 0.99,
  'p99.9': 0.999,
  max: 1,
}

/** @returns the smallest number that a share of a sorted list does not pass; 0 for an empty list. */
export function quantileOf(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0
}

/** @returns the quantiles of times. */
export function quantilesOf(times: readonly number[]): Quantiles {
  const sorted = Float64Array.from(times).sort()
  const quantiles = quantileNames.map((name) => [name, quantileOf(sorted, shares[name])])
  return Object.fromEntries(quantiles) as unknown as Quantiles
}

/** What a summary is made of. */
export interface Run {
  readonly rate: number
  readonly seconds: number
  readonly samples: readonly Sample[]
  /** CPU time of this process meanwhile. **Units**: microseconds. */
  readonly cpuMicros: number
  /** The bound of goodput. **Units**: milliseconds. */
  readonly boundMs?: number | undefined
}

/** A request that failed counts as one that took forever. */
export function summaryOf({ rate, seconds, samples, cpuMicros, boundMs }: Run): Summary {
  const late = Float64Array.from(samples, ({ lateMs }) => lateMs).sort()
  const faults: Record<string, number> = {}
  for (const { fault } of samples) {
    if (fault !== undefined) faults[fault] = (faults[fault] ?? 0) + 1
  }
  const within = samples.filter(({ latencyMs }) => latencyMs <= (boundMs ?? 0)).length
  return {
    rate,
    seconds,
    sent: samples.length,
    failed: samples.filter(({ isRight }) => !isRight).length,
    faults,
    latencyMs: quantilesOf(samples.map(({ latencyMs }) => latencyMs)),
    ...(boundMs !== undefined && { goodput: within / seconds }),
    lateMs: quantileOf(late, shares.p99),
    ownCpu: cpuMicros / 1e6 / seconds,
  }
}
