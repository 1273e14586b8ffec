/**
 * An open loop: a request goes out when it is due, whether or not those before it are answered. So a server that blocks
 * delays requests and does not reduce their number, and no latency is left out.
 * @module
 */
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises'
import { InvalidArgument } from '../../core/errors.ts'
import type { Answer } from './sender.ts'

/** Sends one request. It never rejects. */
export type Send = () => Promise<Answer>

/** One request of a run. **Units**: milliseconds. */
export interface Sample {
  /** What came instead of a right answer. */
  readonly fault: string | undefined
  /** When it was due, from the start. */
  readonly dueMs: number
  /** How long it took: `Infinity` for one that failed. */
  readonly latencyMs: number
  /** How much later than due it went out. */
  readonly lateMs: number
}

/**
 * Timers are that exact. A request that goes out later counts from when it was due, the others from when they went out.
 */
const grainMs = 2

/**
 * @param rate requests a second, on average
 * @param random numbers from 0 to 1
 * @returns when the requests of a Poisson process are due, in milliseconds from its start.
 */
export function* poissonArrivals(
  rate: number,
  seconds: number,
  random: () => number = Math.random,
): Generator<number> {
  for (let dueMs = 0; ; ) {
    dueMs -= (Math.log(1 - random()) * 1000) / rate
    if (dueMs >= seconds * 1000) return
    yield dueMs
  }
}

/**
 * @param times - When requests came, in order, in milliseconds.
 * @param rate - Requests a second, on average.
 * @returns when requests are due that come as those did, faster or slower, again and again.
 */
export function* recordedArrivals(
  times: readonly number[],
  rate: number,
  seconds: number,
): Generator<number> {
  const scale = recordedRate(times) / rate
  const spanMs = (times.length * 1000) / recordedRate(times)
  for (let turn = 0; ; turn++) {
    for (const time of times) {
      const dueMs = (turn * spanMs + time - times[0]) * scale
      if (dueMs >= seconds * 1000) return
      yield dueMs
    }
  }
}

/**
 * @returns requests a second; the time behind the last one is that between two on average.
 * @throws InvalidArgument for times that are the same.
 */
export function recordedRate(times: readonly number[]): number {
  const spanMs = (times.at(-1) ?? 0) - times[0]
  if (spanMs > 0) return ((times.length - 1) * 1000) / spanMs
  throw new InvalidArgument('--arrivals recorded needs a capture of calls at several times')
}

/**
 * Sends requests when they are due.
 *
 * @param patienceMs what the last ones have after they went out; then they have failed
 * @returns a sample of each.
 */
export async function runOpenLoop(
  arrivals: Iterable<number>,
  send: Send,
  patienceMs: number,
): Promise<Sample[]> {
  const samples: Sample[] = []
  const open = new Set<Promise<void>>()
  const startMs = performance.now()
  let turnMs = startMs
  for (const dueMs of arrivals) {
    const nowMs = performance.now()
    const aheadMs = startMs + dueMs - nowMs
    // A loop that is late gives others their turn, to read answers, but no timer's whole millisecond.
    if (aheadMs > 0 || nowMs - turnMs > 1) {
      await (aheadMs > 0 ? wait(aheadMs) : turn())
      turnMs = performance.now()
    }
    const lateMs = Math.max(0, performance.now() - startMs - dueMs)
    const answer = send()
    // To make a request takes a while where caches are cold, and it is no time of the server.
    const fromMs = lateMs <= grainMs ? performance.now() - startMs : dueMs
    const call = answer.then(({ fault }) => {
      const tookMs = performance.now() - startMs - fromMs
      samples.push({ fault, dueMs, latencyMs: fault === undefined ? tookMs : Infinity, lateMs })
      open.delete(call)
    })
    open.add(call)
  }
  const isOver = new AbortController()
  const patience = wait(patienceMs, undefined, { signal: isOver.signal }).catch(() => {})
  await Promise.race([Promise.all(open), patience])
  isOver.abort()
  const lost = { fault: 'no answer', dueMs: 0, latencyMs: Infinity, lateMs: 0 }
  return [...samples, ...Array.from(open, () => lost)]
}
