/** `serving load`: an open loop of requests, and what it shows. @module */
import { writeFileSync } from 'node:fs'
import { expected, InvalidArgument } from '../core/errors.ts'
import { bodiesOf } from './load/bodies.ts'
import { isKept as keeps, parseExpectation } from './load/expectation.ts'
import { findMax } from './load/find-max.ts'
import { poissonArrivals, recordedArrivals, recordedRate, runOpenLoop } from './load/open-loop.ts'
import { openSender, schemes } from './load/open-sender.ts'
import type { SenderFlags } from './load/sender.ts'
import { type Summary, summaryOf, summaryText } from './load/summary.ts'
import { reportPage } from './report-page.ts'

/** Flags of `serving load`. */
export interface LoadFlags extends SenderFlags {
  readonly rate?: readonly number[]
  readonly seconds: number
  readonly arrivals: 'poisson' | 'recorded'
  readonly body?: readonly string[]
  readonly type?: string
  /** **Units**: milliseconds. */
  readonly p99?: number
  readonly findMax?: boolean
  readonly expect?: readonly string[]
  readonly report?: string
  readonly json?: boolean
}

const defaultRate = 100
/** Before figures count, connections open and both sides compile. */
const warmUp = { rate: 20, seconds: 1 }
/** A generator that is that busy measures itself. */
const fullCpu = 0.9

/**
 * Prints as it goes.
 *
 * @returns the exit code: 1 where an expectation broke, or no rate was found.
 * @throws InvalidArgument for wrong flags.
 */
export async function loadCommand(
  address: string,
  flags: LoadFlags,
  print: (text: string) => void,
): Promise<number> {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined || !schemes.includes(url.protocol))
    throw new InvalidArgument(
      expected(`an address with one of ${schemes.join(', ')}`, 'URL', address),
    )
  const { seconds, timeout, p99: boundMs, json, report } = flags
  const expectations = (flags.expect ?? []).map(parseExpectation)
  if (flags.findMax && boundMs === undefined)
    throw new InvalidArgument('--find-max needs --p99, the bound in milliseconds')
  const maxMs = boundMs ?? 0
  const bodies = (await bodiesOf(url, flags.body, flags.type)).toSorted(
    ({ atMs: a = 0 }, { atMs: b = 0 }) => a - b,
  )
  const isRecorded = flags.arrivals === 'recorded'
  const times = bodies.flatMap(({ atMs = [] }) => atMs)
  if (isRecorded && times.length < bodies.length)
    throw new InvalidArgument('--arrivals recorded needs --body with a capture, and no other')
  const rates = [...(flags.rate ?? []), ...expectations.map(({ rate }) => rate)]
  if (rates.length === 0) rates.push(isRecorded ? recordedRate(times) : defaultRate)
  const sender = openSender(url, flags)
  const tell = (text: string) => json || print(text)
  let turn = 0
  const run = (arrivals: Iterable<number>) =>
    runOpenLoop(arrivals, () => sender.send(bodies[turn++ % bodies.length]), timeout * 1000)
  const summaries: Summary[] = []
  const measure = async (rate: number): Promise<Summary> => {
    const arrivals = isRecorded
      ? recordedArrivals(times, rate, seconds)
      : poissonArrivals(rate, seconds)
    // As recorded, each body goes out at its own time.
    turn = 0
    const before = process.cpuUsage()
    const samples = await run(arrivals)
    const { user, system } = process.cpuUsage(before)
    const summary = summaryOf({ rate, seconds, samples, cpuMicros: user + system, boundMs })
    summaries.push(summary)
    tell(summaryText(summary, boundMs))
    return summary
  }
  try {
    await run(poissonArrivals(warmUp.rate, warmUp.seconds))
    let isFound = true
    if (flags.findMax) {
      const isFine = ({ latencyMs }: Summary) => latencyMs.p99 <= maxMs
      const best = await findMax(Math.min(...rates), measure, isFine)
      isFound = best !== undefined
      tell(`${maxText(best, maxMs)}\n`)
    } else for (const rate of new Set(rates)) await measure(rate)
    const verdicts = expectations.map((line) => {
      const isKept = summaries.some((each) => each.rate === line.rate && keeps(line, each))
      return { text: line.text, isKept }
    })
    for (const { text, isKept } of verdicts) tell(`${isKept ? 'holds' : 'BROKEN'}: ${text}\n`)
    if (json) print(`${JSON.stringify({ url, summaries, verdicts }, undefined, 2)}\n`)
    if (report !== undefined) writeFileSync(report, reportPage({ url, summaries, boundMs }))
    return isFound && verdicts.every(({ isKept }) => isKept) ? 0 : 1
  } finally {
    sender.close()
  }
}

function maxText(best: Summary | undefined, p99: number): string {
  if (best === undefined)
    return `the first rate has a p99 above ${p99} ms already: give a lower --rate`
  const full = best.ownCpu > fullCpu ? '; this generator was full, the server may bear more' : ''
  return `bears ${Math.floor(best.rate)}/s with a p99 of at most ${p99} ms${full}`
}
