/**
 * Formats results as tables in Markdown.
 * @module
 */
import { causeOf } from './p99.ts'
import {
  describeMemory,
  describeMixed,
  memoryLines,
  mixedLines,
  type Ratio,
  type Report,
  ratiosOf,
  worseP99,
} from './report.ts'

const fixed = (value: number | undefined) =>
  value === undefined ? '' : String(Number(value.toFixed(2)))
const row = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`

function tableOf(lines: readonly Record<string, string | number>[]): string {
  const head = Object.keys(lines[0])
  const rule = row(head.map((name) => (typeof lines[0][name] === 'number' ? '--:' : '---')))
  return [row(head), rule, ...lines.map((line) => row(Object.values(line).map(marked)))].join('\n')
}

const marked = (cell: string | number) =>
  typeof cell === 'string'
    ? cell.replace(/(missed|worse)(?= by |$)/, (word) => `**${word}**`)
    : cell

function lineOf(ratio: Ratio, isFirst: boolean) {
  const { case: job, contender, rate, wrkRate, cpu, by, target, holds, p99, p99Holds } = ratio
  return [
    isFirst ? job : '',
    contender,
    fixed(rate),
    fixed(wrkRate),
    fixed(cpu),
    target === undefined ? '' : `${target} ${holds ? 'holds' : 'missed'} by ${by}`,
    `${fixed(p99)}${p99Holds === false ? ' worse' : ''}`,
  ].map(marked)
}

/** Returns date, machine and load average of a report. */
export function describeMachine({ date, cpu, cores, node, loadAverage }: Report): string {
  const isQuiet = loadAverage < cores / 4
  const others = isQuiet
    ? 'no other work ran'
    : 'other work ran, so that few of these figures count'
  return `Of ${date}: ${cores} cores, ${cpu}, Node ${node}; load average before the start ${loadAverage}: ${others}.`
}

/** Lists the comparisons in which another server's p99 is better, by their causes. */
function worseP99List(report: Report): string {
  const worse = worseP99(report)
  const compared = report.results.flatMap(ratiosOf).filter(({ p99Holds }) => p99Holds !== undefined)
  const text = `p99 is worse than another server's in ${worse.length} of ${compared.length} comparisons`
  if (worse.length === 0) return `${text}.`
  const byCause = new Map<string, string[]>()
  for (const { case: job, contender, p99 } of worse) {
    const cause = causeOf(job, contender) ?? '**no cause is known**'
    byCause.set(cause, [...(byCause.get(cause) ?? []), `${job} (${contender} ${fixed(p99)})`])
  }
  const lines = [...byCause].map(([cause, jobs]) => `- ${cause}: ${jobs.join(', ')}`)
  return `${text}:\n\n${lines.join('\n')}`
}

/** Names the contenders that a job lacks. */
function missing({ results }: Report): string {
  const jobs = new Map<string, string[]>()
  for (const { name, skipped } of results) {
    for (const [contender, why] of Object.entries(skipped)) {
      const reason = `${contender} (${why.split('\n')[0]})`
      jobs.set(reason, [...(jobs.get(reason) ?? []), name])
    }
  }
  const list = [...jobs].map(([reason, names]) => `${reason}: ${names.join(', ')}`)
  return list.length === 0 ? 'Every contender took part.' : `Left out: ${list.join('. ')}.`
}

/** Returns all tables, for `bench/README.md`. */
export function fullTables(report: Report): string {
  const { results, mixed, memory, minutes, measured } = report
  const head = [
    '| job | against | req/s | by wrk | CPU | target | p99 |',
    '|---|---|--:|--:|--:|---|---|',
  ]
  return [
    `${describeMachine(report)} The last run measured ${measured} jobs in ${minutes} minutes.`,
    // A job's name stands in its first line alone.
    [
      ...head,
      ...results.flatMap((job) => ratiosOf(job).map((ratio, i) => row(lineOf(ratio, i === 0)))),
    ].join('\n'),
    worseP99List(report),
    missing(report),
    ...(mixed === undefined ? [] : [`${describeMixed(mixed)}:`, tableOf(mixedLines(mixed))]),
    ...(memory === undefined ? [] : [`${describeMemory(memory)}:`, tableOf(memoryLines(memory))]),
  ].join('\n\n')
}
