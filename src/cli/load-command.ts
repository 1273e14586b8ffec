/** `serving load`: an open loop of requests, and what it shows. @module */
import { writeFileSync } from 'node:fs'
import { InvalidArgument } from '../core/errors.ts'
import { checkThat } from '../core/options.ts'
import { bodiesOf } from './load/bodies.ts'
import { asRecorded, byChance, runOpenLoop } from './load/open-loop.ts'
import { openSender, type SenderFlags, schemes } from './load/senders.ts'
import { findMax, parseExpectation, type Summary, summaryOf, summaryText } from './load/summary.ts'
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

/**
 * Prints as it goes.
 *
 * @returns the exit code: 1 where an expectation broke, or no rate was found.
 * @throws InvalidArgument for wrong flags.
 */
export async function loadCommand(address: string, flags: LoadFlags): Promise<number> {
  const { seconds, p99: boundMs, json, report, rate: rates = [], expect = [] } = flags
  const isKnown = URL.canParse(address) && schemes.includes(new URL(address).protocol)
  checkThat(isKnown, `an address with one of ${schemes.join(', ')}`, 'URL', address)
  const url = new URL(address)
  if (flags.findMax && boundMs === undefined)
    throw new InvalidArgument('--find-max needs --p99, the bound in milliseconds')
  const expectations = expect.map(parseExpectation)
  const bodies = await bodiesOf(url, flags.body, flags.type)
  // Files have no time.
  const times = bodies.map(({ atMs = Number.NaN }) => atMs)
  const pace = flags.arrivals === 'recorded' ? asRecorded(times) : byChance
  const asked = new Set([...rates, ...expectations.map(({ rate }) => rate)])
  if (asked.size === 0) asked.add(pace.rate)

  const sender = openSender(url, flags)
  const send = (index: number) => sender.send(bodies[index % bodies.length])
  const tell = (text: string) => json || process.stdout.write(`${text}\n`)
  const summaries: Summary[] = []
  const measure = async (rate: number) => {
    const before = process.cpuUsage()
    const samples = await runOpenLoop(pace, rate, seconds, send)
    const cpu = process.cpuUsage(before)
    const summary = summaryOf({ rate, seconds, boundMs, samples, cpu })
    summaries.push(summary)
    tell(summaryText(summary))
    return summary.latencyMs.p99 <= Number(boundMs)
  }
  // Before figures count, connections open and both sides compile.
  await runOpenLoop(byChance, 20, 1, send)
  const verdicts: { readonly text: string; readonly isKept: boolean }[] = []
  if (flags.findMax) {
    const best = await findMax(Math.min(...asked), measure)
    const text = `bears ${Math.floor(best)}/s with a p99 of at most ${boundMs} ms`
    verdicts.push({ text, isKept: best > 0 })
  } else for (const rate of asked) await measure(rate)
  for (const { text, quantile, ...line } of expectations) {
    const isKept = summaries.some(
      ({ rate, latencyMs }) => rate === line.rate && latencyMs[quantile] < line.boundMs,
    )
    verdicts.push({ text, isKept })
  }
  for (const { text, isKept } of verdicts) tell(`${isKept ? 'holds' : 'BROKEN'}: ${text}`)
  const figures = { url, boundMs, summaries, verdicts }
  if (json) process.stdout.write(`${JSON.stringify(figures, undefined, 2)}\n`)
  if (report !== undefined) writeFileSync(report, reportPage(figures))
  return verdicts.every(({ isKept }) => isKept) ? 0 : 1
}
