import { describe, expect, it, vi } from 'vitest'
import {
  poissonArrivals,
  recordedArrivals,
  recordedRate,
  runOpenLoop,
} from '../../../../src/cli/load/open-loop.ts'
import type { Answer } from '../../../../src/cli/load/senders.ts'

/** Numbers from 0 to 1, the same every run. */
function seeded(): () => number {
  let state = 1
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

describe('Poisson arrivals', () => {
  it('have the rate, and gaps of an exponential distribution', () => {
    const random = vi.spyOn(Math, 'random').mockImplementation(seeded())
    const due = [...poissonArrivals(500, 40)]
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
    expect(recordedRate(times)).toBe(4)
    expect([...recordedArrivals(times, 4, 2.5)]).toEqual([
      ...[0, 0, 500, 600, 1000],
      ...[1250, 1250, 1750, 1850, 2250],
    ])
    expect([...recordedArrivals(times, 8, 1)]).toEqual([0, 0, 250, 300, 500, 625, 625, 875, 925])
    for (const times of [[7, 7], [7], [], [Number.NaN, 7]])
      expect(() => recordedRate(times)).toThrow('calls at several times')
  })
})

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
    const due = Array.from({ length: 20 }, (_, i) => i)
    const samples = await runOpenLoop(due, send)
    expect(samples).toHaveLength(20)
    expect(samples.every(({ fault }) => fault === undefined)).toBe(true)
    expect(sent).toEqual(due)
  })

  it('counts a failure as an answer that took forever', async () => {
    const send = async (index: number) => (index === 1 ? { fault: 'timeout' } : {})
    const samples = await runOpenLoop([0, 1, 2], send)
    expect(samples.map(({ fault }) => fault)).toEqual([undefined, 'timeout', undefined])
    expect(samples.map(({ latencyMs }) => latencyMs < Infinity)).toEqual([true, false, true])
  })
})
