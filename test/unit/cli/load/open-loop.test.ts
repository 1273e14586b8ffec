import { describe, expect, it, vi } from 'vitest'
import { asRecorded, byChance, type Pace, runOpenLoop } from '../../../../src/cli/load/open-loop.ts'
import type { Answer } from '../../../../src/cli/load/senders.ts'

/** Numbers from 0 to 1, the same every run. */
function seeded(): () => number {
  let state = 1
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

/** When the first requests are due at a rate. */
function dueTimes({ gapMs }: Pace, rate: number, seconds: number): number[] {
  const due: number[] = []
  let next = gapMs(0) / rate
  for (; next < seconds * 1000; next += gapMs(due.length) / rate) due.push(next)
  return due
}

describe('Poisson arrivals', () => {
  it('have the rate, and gaps of an exponential distribution', () => {
    const random = vi.spyOn(Math, 'random').mockImplementation(seeded())
    const due = dueTimes(byChance, 500, 40)
    random.mockRestore()
    expect(due).toEqual([...due].sort((a, b) => a - b))
    expect(due.at(-1)).toBeLessThan(40_000)
    // Of 20,000 arrivals the standard deviation is 141.
    expect(Math.abs(due.length - 20_000)).toBeLessThan(500)
    const gaps = due.slice(1).map((time, i) => time - due[i])
    const mean = gaps.reduce((sum, gap) => sum + gap) / gaps.length
    const square = gaps.reduce((sum, gap) => sum + gap ** 2, 0) / gaps.length
    // The variance of an exponential distribution is the square of its mean.
    expect((square - mean ** 2) / mean ** 2).toBeCloseTo(1, 1)
  })
})

describe('recorded arrivals', () => {
  it('come as they did, at any rate, again and again', () => {
    // Five in a second and a quarter: four a second.
    const times = [5000, 5000, 5500, 5600, 6000]
    const pace = asRecorded(times)
    expect(pace.rate).toBe(4)
    expect(dueTimes(pace, 4, 2.6)).toEqual([
      ...[250, 250, 750, 850, 1250],
      ...[1500, 1500, 2000, 2100, 2500],
    ])
    expect(dueTimes(pace, 8, 1)).toEqual([125, 125, 375, 425, 625, 750, 750])
    for (const times of [[7, 7], [7], [], [Number.NaN, 7]])
      expect(() => asRecorded(times)).toThrow('calls at several times')
  })
})

const everySecond = { gapMs: () => 1000 }

describe('an open loop', () => {
  it('sends what is due while nothing is answered', async () => {
    const waiting: ((answer: Answer) => void)[] = []
    const sent: number[] = []
    const send = (index: number) =>
      new Promise<Answer>((resolve) => {
        sent.push(index)
        waiting.push(resolve)
        // A loop that waits for answers would never come here.
        if (waiting.length === 20) for (const answer of waiting) answer({})
      })
    const samples = await runOpenLoop(everySecond, 1000, 0.021, send)
    expect(samples).toHaveLength(20)
    expect(samples.every(({ fault }) => fault === undefined)).toBe(true)
    expect(sent).toEqual(Array.from({ length: 20 }, (_, i) => i))
  })

  it('counts a failure as an answer that took forever', async () => {
    const send = async (index: number) => (index === 1 ? { fault: 'timeout' } : {})
    const samples = await runOpenLoop(everySecond, 1000, 0.004, send)
    expect(samples.map(({ fault }) => fault)).toEqual([undefined, 'timeout', undefined])
    expect(samples.map(({ latencyMs }) => latencyMs < Infinity)).toEqual([true, false, true])
  })
})
