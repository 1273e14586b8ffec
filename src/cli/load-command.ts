/** `serving load`: an open loop of requests, and what it shows. @module */
import { writeFileSync } from 'node:fs'
import { expected, InvalidArgument } from '../core/errors.ts'
import { bodiesOf } from './load/bodies.ts'
import { type Expectation, isKept, parseExpectation } from './load/expectation.ts'
import { findMax } from './load/find-max.ts'
import { grpcSender } from './load/grpc-sender.ts'
import { httpSender } from './load/http-sender.ts'
import { liveSender } from './load/live-sender.ts'
import {
  poissonArrivals,
  recordedArrivals,
  recordedRate,
  runOpenLoop,
  type Send,
} from './load/open-loop.ts'
import { reportPage } from './load/report-page.ts'
import type { Body, Sender, SenderOptions } from './load/sender.ts'
import { type Summary, summaryOf } from './load/summary.ts'
import { summaryText } from './load/summary-text.ts'

/** Flags of `serving load`. */
export interface LoadFlags {
  readonly rate?: readonly number[]
  readonly seconds: number
  readonly arrivals: 'poisson' | 'recorded'
  readonly body?: readonly string[]
  readonly type?: string
  readonly header?: Readonly<Record<string, string>>
  readonly connections: number
  readonly timeout: number
  /** **Units**: milliseconds. */
  readonly p99?: number
  readonly findMax?: boolean
  readonly expect?: readonly string[]
  readonly report?: string
  readonly json?: boolean
}

const defaultRate = 100
/** Before figures count, connections open and both sides compile. */
const warmUpSeconds = 1
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
  const url = parseAddress(address)
  const expectations = (flags.expect ?? []).map(parseExpectation)
  const { p99, findMax: isSearch = false } = flags
  if (isSearch && p99 === undefined)
    throw new InvalidArgument('--find-max needs --p99, the bound in milliseconds')
  const bodies = await bodiesOf(url, flags.body, flags.type)
  const times = flags.arrivals === 'recorded' ? timesOf(bodies) : undefined
  const usualRate = times === undefined ? defaultRate : recordedRate(times)
  const timeoutMs = flags.timeout * 1000
  const { connections, header: headers = {} } = flags
  const sender = senderOf(url, { headers, connections, timeoutMs })
  const measure = async (rate: number): Promise<Summary> => {
    const summary = await measureRate(sender, bodies, {
      rate,
      seconds: flags.seconds,
      timeoutMs,
      p99,
      times,
    })
    if (flags.json !== true) print(summaryText(summary, p99))
    return summary
  }
  try {
    await measureRate(sender, bodies, { rate: 20, seconds: warmUpSeconds, timeoutMs })
    const summaries: Summary[] = []
    if (isSearch && p99 !== undefined) {
      const isFine = ({ latencyMs }: Summary) => latencyMs.p99 <= p99
      const each = async (rate: number) => {
        const summary = await measure(rate)
        summaries.push(summary)
        return summary
      }
      const best = await findMax(Math.min(...(flags.rate ?? [usualRate])), each, isFine)
      if (flags.json !== true) print(`${maxText(best, p99)}\n`)
      if (best === undefined) return 1
    } else {
      for (const rate of ratesOf(flags.rate ?? [], expectations, usualRate))
        summaries.push(await measure(rate))
    }
    const verdicts = expectations.map((expectation) => verdictOf(expectation, summaries))
    if (flags.json === true)
      print(`${JSON.stringify({ url: url.href, summaries, verdicts }, printable, 2)}\n`)
    else for (const { text, isKept } of verdicts) print(`${isKept ? 'holds' : 'BROKEN'}: ${text}\n`)
    if (flags.report !== undefined)
      writeFileSync(flags.report, reportPage(url.href, summaries, p99))
    return verdicts.every(({ isKept }) => isKept) ? 0 : 1
  } finally {
    sender.close()
  }
}

/** JSON has no Infinity. */
const printable = (_key: string, value: unknown) =>
  value === Number.POSITIVE_INFINITY ? null : value

function parseAddress(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url !== undefined && url.protocol in senders) return url
  const schemes = Object.keys(senders).join(', ')
  throw new InvalidArgument(expected(`an address with one of ${schemes}`, 'URL', address))
}

const senders: Readonly<Record<string, (url: URL, options: SenderOptions) => Sender>> = {
  'http:': httpSender,
  'https:': httpSender,
  'grpc:': grpcSender,
  'grpcs:': grpcSender,
  'ws:': liveSender,
  'wss:': liveSender,
}

const senderOf = (url: URL, options: SenderOptions) => senders[url.protocol](url, options)

/** @throws InvalidArgument for bodies that are not from a capture. */
function timesOf(bodies: readonly Body[]): readonly number[] {
  return bodies.map(({ atMs }) => {
    if (atMs !== undefined) return atMs
    throw new InvalidArgument('--arrivals recorded needs --body with a capture')
  })
}

/** Those that are asked for, and those of the expectations. */
function ratesOf(
  rates: readonly number[],
  expectations: readonly Expectation[],
  usual: number,
): number[] {
  const all = new Set([...rates, ...expectations.map(({ rate }) => rate)])
  return (all.size === 0 ? [usual] : [...all]).sort((a, b) => a - b)
}

interface RateOptions {
  readonly rate: number
  readonly seconds: number
  readonly timeoutMs: number
  readonly p99?: number | undefined
  /** When requests came in the capture; undefined for a Poisson process. */
  readonly times?: readonly number[] | undefined
}

async function measureRate(
  sender: Sender,
  bodies: readonly Body[],
  { rate, seconds, timeoutMs, p99, times }: RateOptions,
): Promise<Summary> {
  let turn = 0
  const send: Send = () => sender.send(bodies[turn++ % bodies.length])
  const arrivals =
    times === undefined ? poissonArrivals(rate, seconds) : recordedArrivals(times, rate, seconds)
  const before = process.cpuUsage()
  const samples = await runOpenLoop(arrivals, send, timeoutMs)
  const { user, system } = process.cpuUsage(before)
  return summaryOf({ rate, seconds, samples, cpuMicros: user + system, boundMs: p99 })
}

function maxText(best: Summary | undefined, p99: number): string {
  if (best === undefined)
    return `the first rate has a p99 above ${p99} ms already: give a lower --rate`
  const full = best.ownCpu > fullCpu ? '; this generator was full, the server may bear more' : ''
  return `bears ${Math.floor(best.rate)}/s with a p99 of at most ${p99} ms${full}`
}

function verdictOf(expectation: Expectation, summaries: readonly Summary[]) {
  const summary = summaries.find(({ rate }) => rate === expectation.rate)
  const kept = summary !== undefined && isKept(expectation, summary)
  return { text: expectation.text, isKept: kept }
}
