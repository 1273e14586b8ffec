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

/** When requests go out. */
export interface Pace {
  /** Requests a second, unless `--rate` says otherwise. */
  readonly rate: number
  /** @returns the time between a request of an index and the one before, at one a second on average. */
  gapMs(index: number): number
}

/** A Poisson process. */
export const byChance: Pace = { rate: 100, gapMs: () => -Math.log(1 - Math.random()) * 1000 }

/**
 * @param times - When requests came, in order, in milliseconds.
 * @returns a pace as that of those requests, again and again. The gap between two rounds is the mean one.
 * @throws InvalidArgument for times that are the same, or not known.
 */
export function asRecorded(times: readonly number[]): Pace {
  const { length } = times
  const meanMs = (times[length - 1] - times[0]) / (length - 1)
  if (!(meanMs > 0))
    throw new InvalidArgument(
      '--arrivals recorded needs --body with a capture of calls at several times, and no other',
    )
  const gapMs = (index: number) => {
    const time = times[index % length]
    return ((time - (times[(index % length) - 1] ?? time - meanMs)) / meanMs) * 1000
  }
  return { rate: 1000 / meanMs, gapMs }
}

/**
 * Sends requests when they are due.
 *
 * @param rate requests a second, on average
 * @param send sends the request of an index; it never rejects
 * @returns a sample of each.
 */
export async function runOpenLoop(
  { gapMs }: Pick<Pace, 'gapMs'>,
  rate: number,
  seconds: number,
  send: (index: number) => Promise<Answer>,
): Promise<Sample[]> {
  const samples: Promise<Sample>[] = []
  const startMs = performance.now()
  const now = () => performance.now() - startMs
  for (let dueMs = 0; ; ) {
    dueMs += gapMs(samples.length) / rate
    if (dueMs >= seconds * 1000) return Promise.all(samples)
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
}
