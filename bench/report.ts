/**
 * Prints results as tables with verdicts on the targets.
 * @module
 */
import type { CaseResult } from './measure.ts'
import { type MemoryResult, memoryTargets } from './memory.ts'
import { type MixedResult, mixedTarget } from './mixed.ts'
import { causeOf } from './p99.ts'
import type { Row } from './rounds.ts'

/** The result of `npm run bench`, as in `bench/results.json`. */
export interface Report {
  readonly date: string
  readonly cpu: string
  readonly cores: number
  readonly node: string
  readonly isPinned: boolean
  /** Load average of the machine over the minute before the benchmark. */
  readonly loadAverage: number
  /** Length of a round, and of one of small requests. */
  readonly seconds: number
  readonly smallSeconds?: number
  readonly rounds: number
  readonly minutes: number
  /** Names of the jobs of the last run; others are from earlier runs. */
  readonly measured: number
  readonly results: readonly CaseResult[]
  readonly mixed?: MixedResult
  readonly memory?: MemoryResult
}

/** Ours over a contender; above 1 ours is better. */
export interface Ratio {
  readonly case: string
  readonly contender: string
  /** Ratio of requests per second by autocannon. */
  readonly rate: number
  /** The same by wrk, for servers that autocannon could not saturate. */
  readonly wrkRate?: number
  /** The contender's CPU per request over ours. */
  readonly cpu: number
  /**
   * The figure that counts: requests per second where both saturated a core, else the CPU time.
   */
  readonly ratio: number
  readonly by: 'rate' | 'cpu'
  readonly target?: number
  readonly holds?: boolean
  /** The contender's p99 over ours, of the same generator; not of libraries in loops. */
  readonly p99?: number
  /** Whether ours is no worse; undefined for contenders that do no work, which are the limit, and for ours. */
  readonly p99Holds?: boolean
}

const fixed = (value: number, digits = 2) => Number(value.toFixed(digits))
const precise = (value: number, digits: number) => Number(value.toPrecision(digits))
const megabytes = (bytes: number) => Math.round(bytes / 1e6)

const full = 0.9

const ways = ['model inline', 'no model', 'unbatched', 'batched']
const isOurs = (contender: string) => contender.startsWith('serving') || ways.includes(contender)

function isFull(row: Row): boolean {
  const cores = row.wrkServerCores ?? row.serverCores
  return cores >= full && cores < 1.1
}

/** Returns all ratios of a job. */
export function ratiosOf({ name, ours: oursName, rows, targets }: CaseResult): Ratio[] {
  const ours = rows.find(({ contender }) => contender === oursName) as Row
  return rows
    .filter((row) => row !== ours)
    .map((row) => ratioOf(name, ours, row, targets[row.contender]))
}

function ratioOf(name: string, ours: Row, row: Row, target: number | undefined): Ratio {
  const rate = ours.perSecond / row.perSecond
  const isChecked = ours.wrkPerSecond !== undefined || row.wrkPerSecond !== undefined
  const wrkRate = (ours.wrkPerSecond ?? ours.perSecond) / (row.wrkPerSecond ?? row.perSecond)
  const cpu = row.cpuMicros / ours.cpuMicros
  // A server on one core answers as many requests as its CPU per request allows, unless something else delayed it.
  const by = isFull(ours) && isFull(row) ? 'rate' : 'cpu'
  const ratio = by === 'cpu' ? cpu : isChecked ? wrkRate : rate
  const isLoop = row.loadCores === 0
  const isOther = !isLoop && !row.contender.startsWith('bare') && !isOurs(row.contender)
  const p99 =
    ours.wrkP99Ms !== undefined && row.wrkP99Ms !== undefined
      ? row.wrkP99Ms / ours.wrkP99Ms
      : row.p99Ms / ours.p99Ms
  return {
    case: name,
    contender: row.contender,
    rate,
    ...(isChecked && { wrkRate }),
    cpu,
    ratio,
    by,
    ...(target !== undefined && { target, holds: ratio >= target }),
    ...(!isLoop && { p99 }),
    ...(isOther && { p99Holds: fixed(p99) >= 1 }),
  }
}

/** Returns the comparisons in which another server's p99 is better than ours, the worst first. */
export function worseP99({
  results,
}: Pick<Report, 'results'>): (Ratio & { readonly p99: number })[] {
  const isWorse = (ratio: Ratio): ratio is Ratio & { p99: number } => ratio.p99Holds === false
  return results
    .flatMap(ratiosOf)
    .filter(isWorse)
    .sort((a, b) => a.p99 - b.p99)
}

/** Returns which of server and generator was saturated; neither when the machine was busy with other work. */
export function saturated({ serverCores, loadCores }: Row): 'server' | 'load' | 'both' | 'neither' {
  const [server, load] = [serverCores >= full, loadCores >= full]
  return server && load ? 'both' : server ? 'server' : load ? 'load' : 'neither'
}

/** Prints one job's table. */
export function printCase(result: CaseResult): void {
  const { name, bytes, connections, ours, rows, skipped } = result
  const ratios = new Map(ratiosOf(result).map((ratio) => [ratio.contender, ratio]))
  const isChecked = rows.some((row) => row.wrkPerSecond !== undefined)
  console.log(
    `\n${name} (${bytes} bytes, ${connections} connections); ratios are of ${ours}: above 1 it is better`,
  )
  console.table(
    Object.fromEntries(
      rows.map((row) => {
        const ratio = ratios.get(row.contender)
        const shown = {
          'req/s': precise(row.perSecond, 4),
          ...(isChecked && {
            'by wrk': row.wrkPerSecond === undefined ? '' : precise(row.wrkPerSecond, 4),
          }),
          'p50 ms': precise(row.p50Ms, 3),
          'p99 ms': precise(row.p99Ms, 3),
          ...(isChecked && {
            'p99 wrk': row.wrkP99Ms === undefined ? '' : precise(row.wrkP99Ms, 3),
          }),
          'CPU µs': precise(row.cpuMicros, 3),
          'peak MB': megabytes(row.peakBytes),
          saturated: saturated(row),
        }
        return [row.contender, ratio === undefined ? shown : { ...shown, ...verdictsOf(ratio) }]
      }),
    ),
  )
  for (const [contender, why] of Object.entries(skipped))
    console.log(`skipped ${contender}: ${why}`)
}

function verdictsOf({ rate, wrkRate, cpu, by, target, holds, p99, p99Holds }: Ratio) {
  return {
    'req/s ×': fixed(rate),
    ...(wrkRate !== undefined && { 'wrk ×': fixed(wrkRate) }),
    'CPU ×': fixed(cpu),
    target: target === undefined ? '' : `${target} ${holds ? 'holds' : 'missed'} by ${by}`,
    'p99 ×': p99 === undefined ? '' : `${fixed(p99)}${p99Holds === false ? ' worse' : ''}`,
  }
}

/** Returns a line of the mixed load's table, with its verdict. */
export function mixedLines({ rows }: MixedResult) {
  return rows.map(({ contender, aloneP99Ms, besideP99Ms, largeP50Ms }) => {
    const ratio = besideP99Ms / aloneP99Ms
    return {
      contender,
      'p99 alone, ms': precise(aloneP99Ms, 3),
      'p99 beside, ms': precise(besideP99Ms, 3),
      ratio: precise(ratio, 3),
      'large p50, ms': precise(largeP50Ms, 3),
      target:
        contender !== 'serving'
          ? ''
          : `${mixedTarget} ${ratio <= mixedTarget ? 'holds' : 'missed'}`,
    }
  })
}

/** Returns a line of the memory's table, with its verdict. */
export function memoryLines({ bodyBytes, workerBytes, rows }: MemoryResult) {
  const servers = rows.map(({ contender, idleBytes, peakBytes }) => {
    const bodies = (peakBytes - idleBytes) / bodyBytes
    const { bodies: target } = memoryTargets
    return {
      process: contender,
      'idle, MB': megabytes(idleBytes),
      'peak, MB': megabytes(peakBytes),
      'above idle, bodies': fixed(bodies),
      target: contender !== 'serving' ? '' : `${target} ${bodies <= target ? 'holds' : 'missed'}`,
    }
  })
  const { workerBytes: maxBytes } = memoryTargets
  const target = `${megabytes(maxBytes)} MB ${workerBytes <= maxBytes ? 'holds' : 'missed'}`
  const worker = {
    'idle, MB': megabytes(workerBytes),
    'peak, MB': '',
    'above idle, bodies': '',
    target,
  }
  return [{ process: 'a worker of serving serve', ...worker }, ...servers]
}

/** Describes the mixed load. */
export function describeMixed({
  connections,
  smallPerSecond,
  largePerSecond,
  largeBytes,
}: MixedResult): string {
  const large = `${largePerSecond} of ${precise(largeBytes / 1e6, 2)} MB on others`
  return `Mixed load: ${smallPerSecond} requests a second over ${connections} connections, beside ${large}`
}

/** Describes the measurement of memory. */
export const describeMemory = ({ bodyBytes }: MemoryResult) =>
  `Memory: echoes of an array of ${precise(bodyBytes / 1e6, 2)} MB of JSON over one connection`

/** Prints the comparisons in which another server's p99 is better. */
export function printWorseP99(report: Pick<Report, 'results'>): void {
  const lines = worseP99(report).map(({ case: job, contender, p99 }) => ({
    job,
    contender,
    'p99 ×': fixed(p99),
    cause: causeOf(job, contender) ?? 'unknown: name it in bench/p99.ts',
  }))
  if (lines.length === 0) return
  console.log("\np99 worse than another server's")
  console.table(lines)
}

/** Prints the mixed load and the memory. */
export function printRest({ mixed, memory }: Pick<Report, 'mixed' | 'memory'>): void {
  if (mixed !== undefined) {
    console.log(`\n${describeMixed(mixed)}`)
    console.table(mixedLines(mixed))
  }
  if (memory !== undefined) {
    console.log(`\n${describeMemory(memory)}`)
    console.table(memoryLines(memory))
  }
}
