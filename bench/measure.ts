/**
 * One job by all its contenders, taking turns.
 * @module
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BenchCase, CasePlan } from './cases/case.ts'
import { type Contender, contenders, startContender } from './contender.ts'
import type { Load, LoadResult } from './load/load.ts'

/** How long and how often. */
export interface MeasureOptions {
  /** Load on each contender in each round. **Units**: seconds. */
  readonly seconds: number
  readonly rounds: number
  /** Leave out what is not written in JavaScript. */
  readonly withoutPython: boolean
  readonly autocannon: Load
  /** The cross-check of small bodies, where it is installed. */
  readonly wrk: Load | undefined
  readonly progress: (text: string) => void
}

/** What was seen of one contender: medians of its rounds. */
export interface Row {
  readonly contender: string
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /**
   * CPU of the server's process and its children, under wrk where it measured, too: only a full server reads many requests at once, and
   * they are cheaper then. **Units**: microseconds per request.
   */
  readonly cpuMicros: number
  /** **Units**: bytes. */
  readonly peakBytes: number
  /** CPU over wall time while under load: 1 is a whole core. */
  readonly serverCores: number
  readonly loadCores: number
  /** Requests per second that wrk saw. */
  readonly wrkPerSecond?: number
}

/** One job's rows, serving's among them. */
export interface CaseResult {
  readonly name: string
  readonly bytes: number
  readonly connections: number
  readonly targets: CasePlan['targets']
  readonly rows: readonly Row[]
  /** Contenders that are not there, with the reason. */
  readonly skipped: Readonly<Record<string, string>>
}

interface Round extends LoadResult {
  readonly cpuMicros: number
  readonly wrkPerSecond?: number
  readonly wrkCpuMicros?: number
}

/** Bodies up to this size are checked with wrk, too. **Units**: bytes. */
const maxWrkBytes = 16 * 1024

const median = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]

/** Starts all contenders of a job, asserts that each is right, then measures them in turns; every other round backwards. */
export async function measureCase(plan: CasePlan, options: MeasureOptions): Promise<CaseResult> {
  const { progress } = options
  progress(`${plan.name}: making the body`)
  const job: BenchCase = { name: plan.name, ...(await plan.make()) }
  const dir = await mkdtemp(join(tmpdir(), 'bench-'))
  const started: Contender[] = []
  try {
    const bodyFile = join(dir, 'body')
    await writeFile(bodyFile, job.body)
    const { present, skipped } = whoIsThere(plan, options.withoutPython)
    for (const name of present) {
      progress(`${plan.name}: starting ${name}`)
      started.push(await startContender(name, job, bodyFile))
    }
    for (const contender of started) {
      progress(`${plan.name}: ${contender.name} answers`)
      const wrong = await wrongAnswer(contender, job)
      if (wrong === undefined) continue
      // A peer that cannot do the job as it is set up has no row; ours and those in JavaScript must be right.
      if (contenders[contender.name].python === undefined) throw new Error(`${contender.name} answers ${wrong}`)
      skipped[contender.name] = `answers ${wrong}`
    }
    const able = started.filter(({ name }) => skipped[name] === undefined)
    const rows = await measureAll(able, job, options)
    const { connections } = job
    return { name: plan.name, bytes: job.body.length, connections, targets: plan.targets, rows, skipped }
  } finally {
    await Promise.all(started.map((contender) => contender[Symbol.asyncDispose]()))
    await rm(dir, { recursive: true, force: true })
  }
}

async function measureAll(started: readonly Contender[], job: BenchCase, options: MeasureOptions): Promise<Row[]> {
  const { progress } = options
  const rounds = new Map(started.map(({ name }) => [name, [] as Round[]]))
  const amounts = new Map<string, number>()
  for (const contender of started) {
    progress(`${job.name}: ${contender.name} warms up`)
    amounts.set(contender.name, await warmUp(contender, job, options))
  }
  for (let round = 0; round < options.rounds; round++) {
    for (const contender of round % 2 === 0 ? started : started.toReversed()) {
      const { name } = contender
      progress(`${job.name}: ${name}, round ${round + 1} of ${options.rounds}`)
      rounds.get(name)?.push(await measureRound(contender, job, amounts.get(name) as number, options))
    }
  }
  const rows: Row[] = []
  for (const contender of started) {
    const { peakBytes } = await contender.usage()
    rows.push({ ...summary(contender.name, rounds.get(contender.name) as Round[]), peakBytes })
  }
  return rows
}

function whoIsThere(plan: CasePlan, withoutPython: boolean) {
  const present: string[] = []
  const skipped: Record<string, string> = {}
  for (const name of plan.contenders) {
    const { missing, python } = contenders[name]
    const why = withoutPython && python !== undefined ? 'left out by --quick' : missing?.()
    if (why === undefined) present.push(name)
    else skipped[name] = why
  }
  return { present, skipped }
}

/** What is wrong with a contender's answer; undefined when it is right. */
async function wrongAnswer(contender: Contender, job: BenchCase): Promise<string | undefined> {
  const { ok, type, body } = await contender.ask()
  const isEcho = contender.name === 'bare' && job.bare === 'echo'
  if (ok && (isEcho ? body.equals(job.body) : job.isRight(body, type))) return undefined
  return `${job.name} wrong: ${body.toString('latin1').slice(0, 200)}`
}

/** Load until the code is compiled; gives the number of requests that fill a round. */
async function warmUp(contender: Contender, job: BenchCase, { seconds, autocannon }: MeasureOptions): Promise<number> {
  const first = await contender.load(autocannon, Math.min(0.5, seconds))
  // What did not answer once in that time is slow: a few requests say it all.
  const rate = first.requests === 0 ? 0 : first.perSecond
  return Math.max(contender.url === undefined ? 1 : job.connections * 2, Math.round(rate * seconds))
}

async function measureRound(
  contender: Contender,
  job: BenchCase,
  amount: number,
  { seconds, autocannon, wrk }: MeasureOptions,
): Promise<Round> {
  const before = await contender.usage()
  const result = await contender.load(autocannon, seconds, amount)
  const after = await contender.usage()
  assert.equal(result.errors, 0, `${contender.name} failed requests of ${job.name}`)
  const round = { ...result, cpuMicros: (after.cpuMicros - before.cpuMicros) / result.requests }
  if (wrk === undefined || contender.url === undefined || job.body.length > maxWrkBytes) return round
  const start = await contender.usage()
  const checked = await contender.load(wrk, seconds)
  const end = await contender.usage()
  assert.equal(checked.errors, 0, `${contender.name} failed requests of ${job.name} under wrk`)
  const wrkCpuMicros = (end.cpuMicros - start.cpuMicros) / checked.requests
  return { ...round, wrkPerSecond: checked.perSecond, wrkCpuMicros }
}

function summary(contender: string, rounds: readonly Round[]): Omit<Row, 'peakBytes'> {
  const middle = (pick: (round: Round) => number) => median(rounds.map(pick))
  const checked = rounds.flatMap(({ wrkPerSecond }) => wrkPerSecond ?? [])
  return {
    contender,
    perSecond: middle((round) => round.perSecond),
    p50Ms: middle((round) => round.p50Ms),
    p99Ms: middle((round) => round.p99Ms),
    cpuMicros: middle((round) => round.wrkCpuMicros ?? round.cpuMicros),
    serverCores: middle((round) => (round.cpuMicros * round.requests) / round.seconds / 1e6),
    loadCores: middle((round) => round.loadCpuMicros / round.seconds / 1e6),
    ...(checked.length > 0 && { wrkPerSecond: median(checked) }),
  }
}
