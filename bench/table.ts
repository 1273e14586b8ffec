/**
 * Formats results as tables in Markdown.
 * @module
 */
import { describeMemory, describeMixed, memoryLines, mixedLines, type Ratio, type Report, ratiosOf } from './report.ts'

const fixed = (value: number | undefined) => (value === undefined ? '' : String(Number(value.toFixed(2))))
const row = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`

function tableOf(lines: readonly Record<string, string | number>[]): string {
  const head = Object.keys(lines[0])
  const rule = row(head.map((name) => (typeof lines[0][name] === 'number' ? '--:' : '---')))
  return [row(head), rule, ...lines.map((line) => row(Object.values(line).map(marked)))].join('\n')
}

const marked = (cell: string | number) =>
  typeof cell === 'string' ? cell.replace(/(missed|worse)(?= by |$)/, (word) => `**${word}**`) : cell

function lineOf({ case: job, contender, rate, wrkRate, cpu, by, target, holds, p99, p99Holds }: Ratio) {
  return [
    job,
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
  const others = isQuiet ? 'no other work ran' : 'other work ran, so that few of these figures count'
  return `Of ${date}: ${cores} cores, ${cpu}, Node ${node}; load average before the start ${loadAverage}: ${others}.`
}

/** Returns all tables, for `bench/README.md`. */
export function fullTables(report: Report): string {
  const { results, mixed, memory, minutes, measured } = report
  const head = ['| job | against | req/s | by wrk | CPU | target | p99 |', '|---|---|--:|--:|--:|---|---|']
  return [
    `${describeMachine(report)} The last run measured ${measured} jobs in ${minutes} minutes.`,
    [...head, ...results.flatMap(ratiosOf).map((ratio) => row(lineOf(ratio)))].join('\n'),
    ...(mixed === undefined ? [] : [`${describeMixed(mixed)}:`, tableOf(mixedLines(mixed))]),
    ...(memory === undefined ? [] : [`${describeMemory(memory)}:`, tableOf(memoryLines(memory))]),
  ].join('\n\n')
}
