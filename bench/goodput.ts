/**
 * Goodput: answers within 50 ms of calls that come at random (Poisson), whether or not others are answered.
 * @module
 */
import { NDArray, Overloaded } from 'serving'

/** Latest time of an answer that counts. **Units**: milliseconds. */
export const deadlineMs = 50

/** Numbers from 0 to 1, the same in each run. */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
}

/** What came of the calls of a load. */
export interface Outcome {
  readonly sent: number
  /** Answers in time, per second. */
  readonly goodput: number
  readonly refused: number
  /** Of the answers. **Units**: milliseconds. */
  readonly p50: number
  readonly p99: number
}

/** Makes a call; it rejects without an answer. */
export type Send = (deadline: { readonly deadlineMs: number }, i: number) => Promise<unknown>

/** Sends calls at random times, however long the answers take. Latency counts from when a call was due. */
export async function openLoop(
  perSecond: number,
  send: Send,
  forSeconds: number,
): Promise<Outcome> {
  const random = randomNumbers(1)
  const start = performance.now()
  const end = start + forSeconds * 1000
  const times: number[] = []
  let [sent, refused, good, open] = [0, 0, 0, 0]
  let due = start
  const next = () => {
    due -= (Math.log(1 - random()) * 1000) / perSecond
  }
  const call = async (dueAt: number) => {
    open++
    try {
      const startedLate = performance.now() - dueAt
      await send({ deadlineMs: Date.now() + deadlineMs - startedLate }, sent++)
      const took = performance.now() - dueAt
      times.push(took)
      if (took <= deadlineMs) good++
    } catch (error) {
      if (Overloaded.is(error)) refused++
    } finally {
      open--
    }
  }
  for (next(); due < end; ) {
    for (; due <= performance.now() && due < end; next()) void call(due)
    // A timer is no finer than a millisecond.
    await new Promise((resolve) =>
      due - performance.now() > 2 ? setTimeout(resolve, 1) : setImmediate(resolve),
    )
  }
  while (open > 0) await new Promise((resolve) => setTimeout(resolve, 5))
  times.sort((a, b) => a - b)
  const at = (share: number) => times[Math.floor(times.length * share)] ?? Number.NaN
  return { sent, refused, goodput: good / forSeconds, p50: at(0.5), p99: at(0.99) }
}

/** @returns an outcome as a line. */
export const shown = ({ goodput, p50, p99, refused }: Outcome) =>
  `${goodput.toFixed(0)}/s in time, p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)} ms, ${refused} refused`

// 505 lengths, the shortest the most frequent.
const lengths = Array.from({ length: 505 }, (_, i) => i + 8)
const sums: number[] = []
for (const [i] of lengths.entries()) sums.push((sums.at(-1) ?? 0) + 1 / (i + 1))

/** @returns texts of lengths by Zipf's law, from 8 to 512 tokens. */
export function texts(count: number): NDArray<'int32'>[] {
  const random = randomNumbers(2)
  return Array.from({ length: count }, () => {
    const at = random() * (sums.at(-1) as number)
    const length = lengths[sums.findIndex((sum) => sum >= at)]
    const tokens = Int32Array.from({ length }, () => 1 + Math.floor(random() * 255))
    return new NDArray(tokens, [1, length], 'int32')
  })
}

/** @returns the most calls per second of which 99 in 100 are answered in time, by loads of so many seconds. */
export async function capacity(send: Send, seconds: number): Promise<number> {
  let [low, high] = [100, 100]
  const holds = async (load: number) => {
    await new Promise((resolve) => setTimeout(resolve, 200))
    const { goodput, sent } = await openLoop(load, send, seconds)
    return goodput * seconds >= 0.99 * sent
  }
  while (await holds(high)) [low, high] = [high, high * 1.5]
  for (let i = 0; i < 4; i++) {
    const middle = (low + high) / 2
    if (await holds(middle)) low = middle
    else high = middle
  }
  return low
}
