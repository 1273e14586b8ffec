import { describe, expect, it } from 'vitest'
import { isKept, parseExpectation } from '../../../../src/cli/load/expectation.ts'
import type { Summary } from '../../../../src/cli/load/summary.ts'

const summary = (p99: number) =>
  ({ latencyMs: { p50: 1, p90: 1, p99, 'p99.9': p99, max: p99 } }) as Summary

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

  it('is broken by failures, which take forever', () => {
    const line = parseExpectation('p99 < 50ms at 200/s')
    expect(isKept(line, summary(49))).toBe(true)
    expect(isKept(line, summary(50))).toBe(false)
    expect(isKept(line, summary(Number.POSITIVE_INFINITY))).toBe(false)
  })
})
