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

/** Returns the verdicts alone, for `README.md`. */
export function summary(report: Report): string {
  const ratios = report.results.flatMap(ratiosOf)
  const targets = ratios.filter(({ target }) => target !== undefined)
  const tails = ratios.filter(({ p99Holds }) => p99Holds !== undefined)
  const mixed = report.mixed && mixedLines(report.mixed).find(({ contender }) => contender === 'serving')
  const [worker, ...servers] = report.memory ? memoryLines(report.memory) : []
  const ours = servers.find(({ process }) => process === 'serving')
  const lines = [
    {
      'what is promised': 'requests per second on one core, against each contender with a target',
      'what was measured': `${targets.filter(({ holds }) => holds).length} of ${targets.length} targets hold`,
    },
    {
      'what is promised': 'p99 no worse than any other server’s',
      'what was measured': `${tails.filter(({ p99Holds }) => p99Holds).length} of ${tails.length} hold`,
    },
    ...(mixed === undefined
      ? []
      : [
          {
            'what is promised': 'p99 of small requests beside 1 % of 20 MB arrays, over theirs alone: 5',
            'what was measured': `${mixed.ratio}, ${mixed.target.replace(/.* /, '')}`,
          },
        ]),
    ...(worker === undefined || ours === undefined
      ? []
      : [
          {
            'what is promised': 'peak memory of a 20 MB array echo above idle: 4 bodies',
            'what was measured': `${ours['above idle, bodies']}, ${ours.target.replace(/.* /, '')}`,
          },
          {
            'what is promised': 'an idle worker: 90 MB',
            'what was measured': `${worker['idle, MB']} MB, ${worker.target.replace(/.* /, '')}`,
          },
        ]),
  ]
  return [describeMachine(report), tableOf(lines)].join('\n\n')
}
