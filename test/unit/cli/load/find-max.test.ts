import { describe, expect, it } from 'vitest'
import { findMax } from '../../../../src/cli/load/find-max.ts'
import type { Summary } from '../../../../src/cli/load/summary.ts'

const runAt = async (rate: number) => ({ rate }) as Summary

describe('the highest rate', () => {
  it.each([11, 337, 4096, 25_000])('is found within 5 %% of %i/s', async (limit) => {
    const best = await findMax(10, runAt, ({ rate }) => rate <= limit)
    expect(best?.rate).toBeLessThanOrEqual(limit)
    expect(best?.rate).toBeGreaterThan(limit / 1.05)
  })

  it('is unknown if the first rate is too much', async () => {
    expect(await findMax(10, runAt, () => false)).toBeUndefined()
  })
})
