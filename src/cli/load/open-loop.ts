/**
 * An open loop: a request goes out when it is due, whether or not those before it are answered. So a server that blocks
 * delays requests and does not reduce their number, and no latency is left out.
 * @module
 */
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises'
import { InvalidArgument } from '../../core/errors.ts'
import type { Answer } from './senders.ts'

/** One request of a run. **Units**: milliseconds. */
export interface Sample {
  /** What came instead of a right answer. */
  readonly fault: string | undefined
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
 * @returns when the requests of a Poisson process are due, in milliseconds from its start.
 */
export function* poissonArrivals(rate: number, seconds: number): Generator<number> {
  for (let dueMs = 0; ; ) {
    dueMs -= (Math.log(1 - Math.random()) * 1000) / rate
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
  for (let lap = 0; ; lap++) {
    for (const time of times) {
      const dueMs = (lap * times.length * 1000) / rate + (time - times[0]) * scale
      if (dueMs >= seconds * 1000) return
      yield dueMs
    }
  }
}

/**
 * @returns requests a second; the time behind the last one is that between two on average.
 * @throws InvalidArgument for times that are the same, or not known.
 */
export function recordedRate(times: readonly number[]): number {
  const spanMs = times[times.length - 1] - times[0]
  if (spanMs > 0) return ((times.length - 1) * 1000) / spanMs
  throw new InvalidArgument(
    '--arrivals recorded needs --body with a capture of calls at several times, and no other',
  )
}

/**
 * Sends requests when they are due.
 *
 * @param send sends the request of a number; it never rejects
 * @returns a sample of each.
 */
export async function runOpenLoop(
  arrivals: Iterable<number>,
  send: (index: number) => Promise<Answer>,
): Promise<Sample[]> {
  const samples: Promise<Sample>[] = []
  const startMs = performance.now()
  const now = () => performance.now() - startMs
  for (const dueMs of arrivals) {
    const aheadMs = dueMs - now()
    // A loop that is late gives others their turn, to read answers, but no timer's whole millisecond.
    await (aheadMs > 0 ? wait(aheadMs) : turn())
    const lateMs = Math.max(0, now() - dueMs)
    const answer = send(samples.length)
    // To make a request takes a while where caches are cold, and it is no time of the server.
    const fromMs = lateMs <= grainMs ? now() : dueMs
    const sample = answer.then(({ fault }) => {
      const latencyMs = fault === undefined ? now() - fromMs : Infinity
      return { fault, latencyMs, lateMs }
    })
    samples.push(sample)
  }
  return Promise.all(samples)
}
