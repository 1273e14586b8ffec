import { describe, expect, it } from 'vitest'
import { findMax, parseExpectation } from '../../../../src/cli/load/summary.ts'

describe('an expectation', () => {
  it.each([
    ['p99 < 50ms at 200/s', 'p99', 50, 200],
    ['p99.9<1.5s at 10.5/s', 'p99.9', 1500, 10.5],
    [' max < 2 s at 1 /s ', 'max', 2000, 1],
  ])('reads %j', (text, quantile, boundMs, rate) => {
    expect(parseExpectation(text)).toMatchObject({ quantile, boundMs, rate })
  })

  it.each([
    ...['', 'p98 < 50ms at 200/s', 'p99 < 50 at 200/s', 'p99 < 50ms', 'p99 < 0ms at 1/s'],
    // Beyond all numbers: it would send for ever.
    `p99 < 1ms at ${'9'.repeat(400)}/s`,
  ])('refuses %j', (text) => {
    expect(() => parseExpectation(text)).toThrow(
      'expected a line as "p99 < 50ms at 200/s" for --expect',
    )
  })
})

describe('the highest rate', () => {
  it.each([11, 337, 4096, 25_000])('is found within 5 %% of %i/s', async (limit) => {
    const best = await findMax(10, async (rate) => rate <= limit)
    expect(best).toBeLessThanOrEqual(limit)
    expect(best).toBeGreaterThan(limit / 1.05)
  })

  it('is 0 if the first rate is too much', async () => {
    expect(await findMax(10, async () => false)).toBe(0)
  })
})
