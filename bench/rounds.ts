/**
 * Contenders under load, in turns: first all rounds by autocannon, then by wrk where autocannon was the bottleneck.
 * @module
 */
import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import type { BenchCase } from './cases/case.ts'
import { type Contender, contenders } from './contender.ts'
import type { Load } from './load/load.ts'

/** Duration, number of rounds, and generators. */
export interface MeasureOptions {
  /** Load on each contender in each round. **Units**: seconds. */
  readonly seconds: number
  /** The same for contenders whose requests are small, of which more are needed for a figure that holds. */
  readonly smallSeconds: number
  readonly rounds: number
  readonly autocannon: Load
  /** The cross-check where autocannon is the bottleneck; undefined where it is not installed. */
  readonly wrk: Load | undefined
  readonly progress: (text: string) => void
}

/** The result of one contender: medians of its rounds. */
export interface Row {
  readonly contender: string
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /**
   * CPU of the server's process and its children, under wrk where it measured, too: only a saturated server reads many
   * requests at once, which is cheaper. **Units**: microseconds per request.
   */
  readonly cpuMicros: number
  /** **Units**: bytes. */
  readonly peakBytes: number
  /** CPU over wall time while under load: 1 is a whole core. */
  readonly serverCores: number
  readonly loadCores: number
  /** The result of wrk, where autocannon was the bottleneck. */
  readonly wrkPerSecond?: number
  readonly wrkP99Ms?: number
  readonly wrkServerCores?: number
}

/** One round under one generator. */
type Round = Pick<
  Row,
  'perSecond' | 'p50Ms' | 'p99Ms' | 'cpuMicros' | 'serverCores' | 'loadCores'
> & {
  readonly requests: number
  readonly errors: number
}

/**
 * wrk leaves some requests unanswered at its end. Below the first number of requests for each connection the CPU per
 * request is not used, below the second not even the rate.
 */
const minRequests = { forCpu: 40, forRate: 5 }

/** A small request. **Units**: microseconds of CPU. */
const smallMicros = 100

const median = (numbers: readonly number[]) =>
  numbers.toSorted((a, b) => a - b)[numbers.length >> 1]

/** Whether the generator is nearly as busy as the server. */
const isLoadBound = (rounds: readonly Round[]) =>
  median(rounds.map(({ loadCores, serverCores }) => loadCores / serverCores)) > 0.7

/**
 * Measures all contenders of a job, every other round backwards. `ours` is the name of the one that the others are
 * compared with.
 */
export async function measureRounds(
  started: readonly Contender[],
  job: BenchCase,
  ours: string,
  options: MeasureOptions,
): Promise<Row[]> {
  const { seconds, smallSeconds, autocannon, wrk, progress } = options
  const warm = new Map<string, Round>()
  // The first one meets a cold generator, whose rate would give it shorter rounds than the others: it warms up twice.
  for (const contender of [...started.slice(0, 1), ...started]) {
    progress(`${job.name}: ${contender.name} warms up`)
    warm.set(contender.name, await measureRound(contender, autocannon, seconds))
  }
  const isSmall = (name: string) => (warm.get(name)?.cpuMicros ?? 0) < smallMicros
  const rounds = await takeTurns(started, job, options, (contender) => {
    const first = warm.get(contender.name) as Round
    const length = isSmall(contender.name) && !isLoadBound([first]) ? smallSeconds : seconds
    return measureRound(contender, autocannon, length, amountOf(contender, job, length, first))
  })
  // Where autocannon cannot saturate one of them, wrk measures all: figures of two generators do not compare. Not by
  // the warm-up: a cold server takes more. autocannon saturates every server in Python.
  const isBound = wrk !== undefined && [...rounds.values()].some(isLoadBound)
  const measured = started.filter(
    ({ name, url }) =>
      isBound && url?.startsWith('http:') === true && contenders[name].python === undefined,
  )
  const checks = await takeTurns(measured, job, options, async (contender) => {
    const round = await measureRound(contender, wrk as Load, isSmall(ours) ? smallSeconds : seconds)
    await settle(contender)
    return round
  })
  const rows: Row[] = []
  for (const contender of started) {
    const { name } = contender
    const { peakBytes } = await contender.usage()
    const enough = (least: number) =>
      (checks.get(name) ?? []).filter(({ requests }) => requests >= least * job.connections)
    const { forCpu, forRate } = minRequests
    const figures = summary(rounds.get(name) as Round[], enough(forRate), enough(forCpu))
    rows.push({ contender: name, ...figures, peakBytes })
  }
  return rows
}

async function takeTurns(
  list: readonly Contender[],
  job: BenchCase,
  { rounds, progress }: MeasureOptions,
  measure: (contender: Contender) => Promise<Round>,
): Promise<Map<string, Round[]>> {
  const results = new Map(list.map(({ name }) => [name, [] as Round[]]))
  for (let round = 0; round < rounds; round++) {
    for (const contender of round % 2 === 0 ? list : list.toReversed()) {
      progress(`${job.name}: ${contender.name}, round ${round + 1} of ${rounds}`)
      const result = await measure(contender)
      assert.equal(result.errors, 0, `${contender.name} failed requests`)
      results.get(contender.name)?.push(result)
    }
  }
  return results
}

/** Returns the number of requests that fill a round, after the one that warmed the contender up. */
function amountOf(
  { url }: Contender,
  { connections }: BenchCase,
  seconds: number,
  first: Round,
): number {
  // A contender without an answer in that time is slow: a few requests suffice.
  const rate = first.requests === 0 ? 0 : first.perSecond
  return Math.max(url === undefined ? 1 : connections, Math.round(rate * seconds))
}

async function measureRound(
  contender: Contender,
  load: Load,
  seconds: number,
  amount?: number,
): Promise<Round> {
  const before = await contender.usage()
  const result = await contender.load(load, seconds, amount)
  const after = await contender.usage()
  const spent = after.cpuMicros - before.cpuMicros
  return {
    ...result,
    cpuMicros: spent / result.requests,
    serverCores: spent / result.seconds / 1e6,
    loadCores: result.loadCpuMicros / result.seconds / 1e6,
  }
}

/** Waits until a server has finished the requests that wrk left, which would take the core from the next contender. */
async function settle(contender: Contender): Promise<void> {
  for (let last = -1, now = 0; now !== last; ) {
    last = now
    await wait(30)
    now = (await contender.usage()).cpuMicros
  }
}

/** Takes the medians. `checks` are wrk's rounds, `forCpu` those of them with enough requests for the CPU of one. */
function summary(
  rounds: readonly Round[],
  checks: readonly Round[],
  forCpu: readonly Round[],
): Omit<Row, 'contender' | 'peakBytes'> {
  const middle = (list: readonly Round[], field: keyof Round) =>
    median(list.map((round) => round[field]))
  return {
    perSecond: middle(rounds, 'perSecond'),
    p50Ms: middle(rounds, 'p50Ms'),
    p99Ms: middle(rounds, 'p99Ms'),
    cpuMicros: middle(forCpu.length > 0 ? forCpu : rounds, 'cpuMicros'),
    serverCores: middle(rounds, 'serverCores'),
    loadCores: middle(rounds, 'loadCores'),
    ...(checks.length > 0 && {
      wrkPerSecond: middle(checks, 'perSecond'),
      wrkP99Ms: middle(checks, 'p99Ms'),
      wrkServerCores: middle(checks, 'serverCores'),
    }),
  }
}
