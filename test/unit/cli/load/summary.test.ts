import { describe, expect, it } from 'vitest'
import type { Sample } from '../../../../src/cli/load/open-loop.ts'
import { quantileOf, summaryOf, summaryText } from '../../../../src/cli/load/summary.ts'

const right = (latencyMs: number): Sample => ({ fault: undefined, latencyMs, lateMs: 0 })
const failed = (fault: string): Sample => ({ fault, latencyMs: Infinity, lateMs: 0 })
const run = { rate: 50, seconds: 2, cpu: { user: 400_000, system: 100_000 } }

describe('quantiles of latencies', () => {
  // numpy.quantile(range(1, n + 1), q, method='inverted_cdf')
  it.each([
    [100, 0.5, 50],
    [100, 0.99, 99],
    [101, 0.5, 51],
    [7, 0.9, 7],
    [1, 0.5, 1],
    [1000, 0.999, 999],
  ])('of %i numbers, %f', (count, share, expected) => {
    expect(
      quantileOf(
        Array.from({ length: count }, (_, i) => i + 1),
        share,
      ),
    ).toBe(expected)
  })

  it('of nothing are 0', () => {
    expect(quantileOf([], 0.99)).toBe(0)
  })
})

describe('the summary of a run', () => {
  it('counts a request that failed as one that took forever', () => {
    const samples = [
      ...Array.from({ length: 97 }, (_, i) => right(i + 1)),
      failed('503'),
      failed('503'),
      failed('timeout'),
    ]
    const summary = summaryOf({ ...run, samples, boundMs: 10 })
    expect(summary).toMatchObject({ sent: 100, failed: 3, faults: { '503': 2, timeout: 1 } })
    expect(summary.latencyMs).toMatchObject({ p50: 50, p90: 90, p99: Number.POSITIVE_INFINITY })
    expect(summary).toMatchObject({ goodput: 5, ownCpu: 0.25 })
    const text = summaryText(summary)
    expect(text).toContain('100 sent, 3 failed (2 × 503, 1 × timeout)')
    expect(text).toContain('p99 never')
  })

  it('says when this machine sent too late', () => {
    const samples = [{ ...right(20), lateMs: 5 }]
    expect(summaryText(summaryOf({ ...run, samples }))).toContain('sends too late')
    expect(summaryText(summaryOf({ ...run, samples: [right(20)] }))).not.toContain('too late:')
    const busy = { ...run, cpu: { user: 1_900_000, system: 0 } }
    expect(summaryText(summaryOf({ ...busy, samples: [right(20)] }))).toContain('sends too late:')
  })
})
