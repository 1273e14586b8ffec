/** The figures of runs, and what they are to show: a line of `--expect`, or the highest rate. @module */
import { expected, InvalidArgument } from '../../core/errors.ts'
import type { Sample } from './open-loop.ts'

const shares = { p50: 0.5, p90: 0.9, p99: 0.99, 'p99.9': 0.999, max: 1 }

/** The name of a quantile. */
export type QuantileName = keyof typeof shares
/** The quantiles by name. */
export const quantileNames = Object.keys(shares) as QuantileName[]

/** @returns the smallest number that a share of a sorted list does not pass; 0 for an empty list. */
export function quantileOf(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0
}

/** @returns the quantiles of times, in milliseconds; `Infinity` where so many requests failed. */
export function quantilesOf(times: readonly number[]) {
  const sorted = Float64Array.from(times).sort()
  const entries = quantileNames.map((name) => [name, quantileOf(sorted, shares[name])])
  return Object.fromEntries(entries) as Readonly<Record<QuantileName, number>>
}

/** What a summary is made of. */
export interface Run {
  /** Requests a second that were asked for. */
  readonly rate: number
  readonly seconds: number
  readonly samples: readonly Sample[]
  /** CPU time of this process meanwhile. */
  readonly cpu: NodeJS.CpuUsage
  /** The bound of goodput. **Units**: milliseconds. */
  readonly boundMs?: number | undefined
}

/** How often what came. */
export type Counts = Record<string, number>

/** Counts one more of a name. */
export function addOne(counts: Counts, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1
}

/** What a run showed. */
export type Summary = ReturnType<typeof summaryOf>

/** A request that failed counts as one that took forever. */
export function summaryOf({ samples, cpu, ...run }: Run) {
  const { seconds, boundMs } = run
  const failures = samples.flatMap(({ fault = [] }) => fault)
  const faults: Counts = {}
  for (const fault of failures) addOne(faults, fault)
  const latencies = samples.map(({ latencyMs }) => latencyMs)
  return {
    ...run,
    sent: samples.length,
    failed: failures.length,
    /** How often what came instead of an answer. */
    faults,
    latencyMs: quantilesOf(latencies),
    /** Right answers a second within the bound, if there is one. */
    goodput: boundMs && latencies.filter((latencyMs) => latencyMs <= boundMs).length / seconds,
    /** p99 of how much too late requests went out. **Units**: milliseconds. */
    lateMs: quantilesOf(samples.map(({ lateMs }) => lateMs)).p99,
    /** CPU of this process, which makes the load. **Units**: cores. */
    ownCpu: (cpu.user + cpu.system) / 1e6 / seconds,
  }
}

/** @returns milliseconds with three digits; `never` for what failed. */
export function milliseconds(value: number): string {
  return value === Infinity ? 'never' : `${Number(value.toPrecision(3))} ms`
}

/** So much of the p99 may come from this process. */
const lateShare = 0.1
/** A generator that is that busy measures itself. */
const fullCpu = 0.9

/** @returns the lines of a run, for people. */
export function summaryText({ rate, seconds, boundMs, latencyMs, ...run }: Summary): string {
  const { sent, failed, goodput, lateMs } = run
  const faults = Object.entries(run.faults).map(([fault, count]) => `${count} × ${fault}`)
  const quantiles = quantileNames.map((name) => `${name} ${milliseconds(latencyMs[name])}`)
  const cpu = `${(run.ownCpu * 100).toFixed(0)} % of a core`
  const lines = [
    `${Number(rate.toFixed(1))}/s for ${seconds} s: ${sent} sent, ${failed} failed`,
    failed > 0 && ` (${faults.join(', ')})`,
    `\n  ${quantiles.join(', ')}`,
    goodput !== undefined && `\n  within ${boundMs} ms: ${goodput.toFixed(1)} a second`,
    `\n  this generator: ${cpu}, p99 of sending too late ${milliseconds(lateMs)}`,
    (lateMs > latencyMs.p99 * lateShare || run.ownCpu > fullCpu) &&
      '\n  this machine sends too late: these figures are partly its own',
  ]
  return `${lines.filter(Boolean).join('')}\n`
}

const form = /^\s*(p50|p90|p99|p99\.9|max)\s*<\s*([\d.]+)\s*(m?)s\s+at\s+([\d.]+)\s*\/s\s*$/

/** @throws InvalidArgument for another form. */
export function parseExpectation(text: string) {
  const [, quantile, bound, milli, per] = form.exec(text) ?? []
  const [boundMs, rate] = [Number(bound) * (milli ? 1 : 1000), Number(per)]
  if (boundMs > 0 && rate > 0 && rate < Infinity)
    return { text: text.trim(), quantile: quantile as QuantileName, boundMs, rate }
  throw new InvalidArgument(expected('a line as "p99 < 50ms at 200/s"', '--expect', text))
}

/** The rates may differ by that much at the end. */
const precision = 1.05

/**
 * Doubles the rate until a run is too slow, then halves the distance.
 *
 * @param isFine whether a run at a rate keeps the bound
 * @returns the highest rate that was fine; 0 if the first one is too much already.
 */
export async function findMax(
  first: number,
  isFine: (rate: number) => Promise<boolean>,
): Promise<number> {
  let [fine, tooMuch] = [0, Infinity]
  for (let rate = first; tooMuch / fine > precision; ) {
    if (await isFine(rate)) fine = rate
    else tooMuch = rate
    if (fine === 0) break
    rate = Math.min(fine * 2, (fine + tooMuch) / 2)
  }
  return fine
}
