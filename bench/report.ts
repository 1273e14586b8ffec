/**
 * Results become tables, and verdicts on what the project promises.
 * @module
 */
import type { CaseResult, Row } from './measure.ts'

/** serving over a contender. */
export interface Ratio {
  readonly case: string
  readonly contender: string
  /** Requests per second, as autocannon saw them. */
  readonly rate: number
  /** The same, as wrk saw them: the better figure where autocannon was the bottleneck. */
  readonly wrkRate?: number
  /** The contender's CPU per request over serving's. */
  readonly cpu: number
  /** The figure that counts: the rate where both servers had a whole core to themselves and used it, else the CPU. */
  readonly ratio: number
  readonly by: 'rate' | 'cpu'
  readonly target?: number
  readonly holds?: boolean
}

const fixed = (value: number, digits = 2) => Number(value.toFixed(digits))
const precise = (value: number, digits: number) => Number(value.toPrecision(digits))

const full = 0.9
const isFull = (row: Row) => row.serverCores >= full && row.serverCores < 1.1

/** All ratios of a job. */
export function ratiosOf({ name, rows, targets }: CaseResult): Ratio[] {
  const ours = rows.find(({ contender }) => contender === 'serving') as Row
  return rows
    .filter((row) => row !== ours)
    .map((row) => {
      const rate = ours.perSecond / row.perSecond
      const isChecked = ours.wrkPerSecond !== undefined && row.wrkPerSecond !== undefined
      const wrkRate = isChecked ? (ours.wrkPerSecond as number) / (row.wrkPerSecond as number) : undefined
      const target = targets[row.contender]
      const cpu = row.cpuMicros / ours.cpuMicros
      // A server on one core answers as many requests as its CPU per request allows, unless something else held it up.
      const by = isFull(ours) && isFull(row) ? 'rate' : 'cpu'
      const ratio = by === 'rate' ? rate : cpu
      return {
        case: name,
        contender: row.contender,
        rate,
        ...(wrkRate !== undefined && { wrkRate }),
        cpu,
        ratio,
        by,
        ...(target !== undefined && { target, holds: ratio >= target }),
      } as const
    })
}

/** Who could not have done more. Neither, when the machine was busy with something else. */
export function saturated({ serverCores, loadCores }: Row): 'server' | 'load' | 'both' | 'neither' {
  const [server, load] = [serverCores >= full, loadCores >= full]
  return server && load ? 'both' : server ? 'server' : load ? 'load' : 'neither'
}

/** Prints one job's table. */
export function printCase(result: CaseResult): void {
  const { name, bytes, connections, rows, skipped } = result
  const ratios = new Map(ratiosOf(result).map((ratio) => [ratio.contender, ratio]))
  console.log(`\n${name} (${bytes} bytes, ${connections} connections)`)
  console.table(
    Object.fromEntries(
      rows.map((row) => {
        const ratio = ratios.get(row.contender)
        const { target, holds } = ratio ?? {}
        return [
          row.contender,
          {
            'req/s': precise(row.perSecond, 4),
            ...(rows.some((other) => other.wrkPerSecond !== undefined) && {
              'by wrk': precise(row.wrkPerSecond ?? Number.NaN, 4),
            }),
            'p50 ms': precise(row.p50Ms, 3),
            'p99 ms': precise(row.p99Ms, 3),
            'CPU µs/req': precise(row.cpuMicros, 3),
            'peak MB': Math.round(row.peakBytes / 2 ** 20),
            saturated: saturated(row),
            'serving ÷ it': ratio === undefined ? '' : fixed(ratio.rate),
            'its CPU ÷ serving': ratio === undefined ? '' : fixed(ratio.cpu),
            target: target === undefined ? '' : `${target} ${holds ? 'holds' : 'missed'} by ${ratio?.by}`,
          },
        ]
      }),
    ),
  )
  for (const [contender, why] of Object.entries(skipped)) console.log(`skipped ${contender}: ${why}`)
}

/** Results become the rows of `bench/README.md`'s table. */
export function toMarkdown(results: readonly CaseResult[]): string {
  const lines = results.flatMap(ratiosOf).map((ratio) => {
    const verdict = ratio.target === undefined ? '' : `${ratio.target} ${ratio.holds ? 'holds' : '**missed**'}`
    const wrkRate = ratio.wrkRate === undefined ? '' : fixed(ratio.wrkRate)
    return `| ${ratio.case} | ${ratio.contender} | ${fixed(ratio.rate)} | ${wrkRate} | ${fixed(ratio.cpu)} | ${verdict} |`
  })
  return ['| job | against | req/s | by wrk | CPU | target |', '|---|---|--:|--:|--:|---|', ...lines].join('\n')
}
