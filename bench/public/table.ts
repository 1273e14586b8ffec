/** The figures as a table, printed or written to docs/performance.md. @module */
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'

/** One contender of one benchmark: the medians of its rounds. */
export interface Row {
  readonly benchmark: string
  readonly contender: string
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly failed: number
  readonly cpuMicros: number
}

/** How the rows were measured, and where they go. */
export interface Conditions {
  readonly load: number
  readonly seconds: number
  readonly rounds: number
  /** Whether the page gets them. Rows of benchmarks that did not run stay. */
  readonly toPage: boolean
}

const page = new URL('../../docs/performance.md', import.meta.url)
const [start, end] = [
  '<!-- public: npx tsx bench/public/main.ts --publish writes it -->',
  '<!-- /public -->',
]

const number = (value: number) =>
  value >= 100 ? Math.round(value).toLocaleString('en-US') : String(Number(value.toPrecision(2)))

/** Prints the rows, and writes them if asked. */
export function publish(rows: readonly Row[], { load, seconds, rounds, toPage }: Conditions): void {
  const lines = rows.map(({ benchmark, contender, perSecond, p50Ms, p99Ms, failed, cpuMicros }) => {
    const figures = [perSecond, p50Ms, p99Ms, cpuMicros, failed].map(number)
    return `| ${[benchmark, contender, ...figures].join(' | ')} |`
  })
  const [cpu] = cpus()
  const machine = `${cpus().length} cores, ${cpu?.model.trim()}, Node ${process.version}`
  const conditions = `Of ${new Date().toISOString().slice(0, 10)}: ${machine}, load average before the start \
${load.toFixed(1)}. Medians of ${rounds} rounds of ${seconds} s, in turns.`
  const heads = ['benchmark', 'server', 'a second', 'p50 ms', 'p99 ms', 'CPU µs', 'failed']
  const head = [`| ${heads.join(' | ')} |`, '|---|---|--:|--:|--:|--:|--:|']
  console.log([conditions, '', ...head, ...lines].join('\n'))
  if (!toPage) return
  const text = readFileSync(page, 'utf8')
  const [before, after] = [text.indexOf(start) + start.length, text.indexOf(end)]
  const measured = new Set(rows.map(({ benchmark }) => benchmark))
  const others = text
    .slice(before, after)
    .split('\n')
    .filter((line) => /^\| .+:/.test(line) && !measured.has(line.split('|')[1].trim()))
  const table = [...head, ...[...others, ...lines]].join('\n')
  writeFileSync(page, `${text.slice(0, before)}\n${conditions}\n\n${table}\n${text.slice(after)}`)
}
