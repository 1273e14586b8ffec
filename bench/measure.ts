/**
 * One job by all its contenders, taking turns.
 * @module
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
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
  /** The cross-check where autocannon is the bottleneck; undefined where it is not installed. */
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
  /** What wrk saw, where autocannon was the bottleneck. */
  readonly wrkPerSecond?: number
  readonly wrkP99Ms?: number
  readonly wrkServerCores?: number
}

/** One job's rows, the project's among them. */
export interface CaseResult {
  readonly name: string
  readonly bytes: number
  readonly connections: number
  /** The row that stands for the project. */
  readonly ours: string
  readonly targets: CasePlan['targets']
  readonly rows: readonly Row[]
  /** Contenders that are not there, with the reason. */
  readonly skipped: Readonly<Record<string, string>>
}

interface Round extends LoadResult {
  readonly cpuMicros: number
  readonly wrkPerSecond?: number
  readonly wrkP99Ms?: number
  readonly wrkServerCores?: number
  readonly wrkCpuMicros?: number
}

/** What a warm-up tells of a contender. */
interface WarmUp {
  /** Requests that fill a round. */
  readonly amount: number
  /** The load generator was busier than the server. */
  readonly isLoadBound: boolean
}

/**
 * Fewer requests than this say nothing about CPU: wrk leaves some unanswered at its end, whose CPU would count for the others.
 */
const minWrkRequests = 2000

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
    if (typeof job.bare === 'object' && 'body' in job.bare) await writeFile(`${bodyFile}.answer`, job.bare.body)
    const { present, skipped } = whoIsThere(plan, options.withoutPython)
    progress(`${plan.name}: starting ${present.join(', ')}`)
    const starts = await Promise.allSettled(present.map((name) => startContender(name, job, bodyFile)))
    started.push(...starts.flatMap((start) => (start.status === 'fulfilled' ? start.value : [])))
    for (const start of starts) if (start.status === 'rejected') throw start.reason
    for (const contender of started) {
      progress(`${plan.name}: ${contender.name} answers`)
      const wrong = await wrongAnswer(contender, job)
      if (wrong === undefined) continue
      // A peer that cannot do the job as it is set up has no row; ours and those in JavaScript must be right.
      if (contenders[contender.name].python === undefined) throw new Error(`${contender.name} answers ${wrong}`)
      skipped[contender.name] = `answers ${wrong}`
    }
    const able = started.filter(({ name }) => skipped[name] === undefined)
    const { name, ours = 'serving', targets } = plan
    const rows = await measureAll(able, job, ours, options)
    return { name, bytes: job.body.length, connections: job.connections, ours, targets, rows, skipped }
  } finally {
    await Promise.all(started.map((contender) => contender[Symbol.asyncDispose]()))
    await rm(dir, { recursive: true, force: true })
  }
}

async function measureAll(
  started: readonly Contender[],
  job: BenchCase,
  ours: string,
  options: MeasureOptions,
): Promise<Row[]> {
  const { progress } = options
  const rounds = new Map(started.map(({ name }) => [name, [] as Round[]]))
  const warmUps = new Map<string, WarmUp>()
  for (const contender of started) {
    progress(`${job.name}: ${contender.name} warms up`)
    warmUps.set(contender.name, await warmUp(contender, job, options))
  }
  // Where ours is load-bound wrk asks the others, too: latencies of two generators do not compare. Python never makes autocannon sweat.
  const isLoadBound = (name: string) => warmUps.get(name)?.isLoadBound === true
  const asksWrk = ({ name, url }: Contender) =>
    (isLoadBound(name) || isLoadBound(ours)) &&
    url?.startsWith('http:') === true &&
    contenders[name].python === undefined
  for (let round = 0; round < options.rounds; round++) {
    for (const contender of round % 2 === 0 ? started : started.toReversed()) {
      const { name } = contender
      progress(`${job.name}: ${name}, round ${round + 1} of ${options.rounds}`)
      const wrk = asksWrk(contender) ? options.wrk : undefined
      const { amount } = warmUps.get(name) as WarmUp
      rounds.get(name)?.push(await measureRound(contender, job, amount, { ...options, wrk }))
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
  const isEcho = contender.name.startsWith('bare') && job.bare === 'echo'
  if (ok && (isEcho ? body.equals(job.body) : job.isRight(body, type))) return undefined
  return `${job.name} wrong: ${body.toString('latin1').slice(0, 200)}`
}

/** Load until the code is compiled. */
async function warmUp(contender: Contender, job: BenchCase, { seconds, autocannon }: MeasureOptions): Promise<WarmUp> {
  const before = await contender.usage()
  const first = await contender.load(autocannon, Math.min(0.5, seconds))
  const { cpuMicros } = await contender.usage()
  // What did not answer once in that time is slow: a few requests say it all.
  const rate = first.requests === 0 ? 0 : first.perSecond
  const amount = Math.max(contender.url === undefined ? 1 : job.connections * 2, Math.round(rate * seconds))
  return { amount, isLoadBound: first.loadCpuMicros > cpuMicros - before.cpuMicros }
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
  if (wrk === undefined) return round
  const start = await contender.usage()
  const checked = await contender.load(wrk, seconds)
  const end = await contender.usage()
  assert.equal(checked.errors, 0, `${contender.name} failed requests of ${job.name} under wrk`)
  await settle(contender)
  const spent = end.cpuMicros - start.cpuMicros
  return {
    ...round,
    wrkPerSecond: checked.perSecond,
    wrkP99Ms: checked.p99Ms,
    wrkServerCores: spent / checked.seconds / 1e6,
    ...(checked.requests >= minWrkRequests && { wrkCpuMicros: spent / checked.requests }),
  }
}

/** Waits until a server is done with what wrk has left behind, which would take the core from the next contender. */
async function settle(contender: Contender): Promise<void> {
  for (let last = -1, now = 0; now !== last; ) {
    last = now
    await wait(30)
    now = (await contender.usage()).cpuMicros
  }
}

function summary(contender: string, rounds: readonly Round[]): Omit<Row, 'peakBytes'> {
  const middle = (pick: (round: Round) => number) => median(rounds.map(pick))
  const seen = (pick: (round: Round) => number | undefined) => {
    const numbers = rounds.flatMap((round) => pick(round) ?? [])
    return numbers.length > 0 ? median(numbers) : undefined
  }
  return {
    contender,
    perSecond: middle((round) => round.perSecond),
    p50Ms: middle((round) => round.p50Ms),
    p99Ms: middle((round) => round.p99Ms),
    cpuMicros: middle((round) => round.wrkCpuMicros ?? round.cpuMicros),
    serverCores: middle((round) => (round.cpuMicros * round.requests) / round.seconds / 1e6),
    loadCores: middle((round) => round.loadCpuMicros / round.seconds / 1e6),
    wrkPerSecond: seen((round) => round.wrkPerSecond),
    wrkP99Ms: seen((round) => round.wrkP99Ms),
    wrkServerCores: seen((round) => round.wrkServerCores),
  }
}
